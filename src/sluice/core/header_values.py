"""Header fields as pairs of name and value, read without regard to case."""

from sluice.core.ports import HeaderPairs


def header_value(headers: HeaderPairs, name: str) -> str:
    """The values of a header joined as HTTP joins them; "" when it is not there."""
    return ", ".join(value for key, value in headers if key.lower() == name)
