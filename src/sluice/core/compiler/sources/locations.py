"""The locations of sources: URLs, files, or names of content in the request."""

import re
from typing import Final
from urllib.parse import urlsplit

_MAX_SHOWN_CHARS: Final = 200  # of a name or address in a message
# The user and password, and the query, of a URL.
_SECRETS: Final = re.compile(r"(?<=://)[^/?#]*@|\?[^#]*")


def is_url(location: str) -> bool:
    return location[:8].lower().startswith(("http://", "https://"))


def remove_secrets(location: str) -> str:
    """Return the location for headers, logs and reports: without user, password and query, which may be secret."""
    return _SECRETS.sub("", location) if is_url(location) else location


def find_host(location: str) -> str:
    """Return the host of a URL in lower case; "" for a malformed one and for anything else."""
    if not is_url(location):
        return ""
    try:
        return urlsplit(location).hostname or ""
    except ValueError:
        return ""


def format_location(location: str) -> str:
    """Format a name or address for messages: without its secrets, and not too long."""
    text = remove_secrets(location)
    return text if len(text) <= _MAX_SHOWN_CHARS else f"{text[:_MAX_SHOWN_CHARS]}…"
