"""The version of a stored value. It is in the metadata, because the shape of the values is fixed."""

from sluice.core.ports import KvText


def read_version(stored: KvText | None) -> int | None:
    """Return None for a missing key, and 0 for a value without a version, which only a person writes."""
    if stored is None:
        return None
    version = stored.metadata.get("version") if isinstance(stored.metadata, dict) else 0
    return version if isinstance(version, int) else 0
