"""Header fields as pairs of name and value, read case-insensitively."""

from sluice.core.ports import HeaderPairs


def header_value(headers: HeaderPairs, name: str) -> str:
    """Return the values of a header, joined by commas as in HTTP; "" if it is missing."""
    return ", ".join(value for key, value in headers if key.lower() == name)
