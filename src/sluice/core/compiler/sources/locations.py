"""The locations of sources: URLs, files, or names of content in the request."""

from typing import Final
from urllib.parse import urlsplit

_MAX_SHOWN_CHARS: Final = 200  # of a name or address in a message


def is_url(location: str) -> bool:
    return location[:8].lower().startswith(("http://", "https://"))


def format_location(location: str) -> str:
    """Format a name or address for messages: without the query, which may hold a secret, and not too long."""
    try:
        text = location.partition("?")[0] if urlsplit(location).query else location
    except ValueError:
        text = location
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
