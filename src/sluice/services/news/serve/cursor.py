"""Where a page of a list ended: a place in the order of the articles, so that new ones do not move it."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from sluice.core.bounded_json import parse_bounded_json
from sluice.core.errors import BadField, Invalid


def encoded(order: tuple[str, str]) -> str:
    return urlsafe_b64encode(json.dumps(order).encode()).decode().rstrip("=")


def decoded(cursor: str) -> tuple[str, str]:
    """Invalid for what no list has given out."""
    try:
        time, name = parse_bounded_json(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode())
        if isinstance(time, str) and isinstance(name, str):
            return time, name
    except (ValueError, TypeError):
        pass
    reason = "is not a cursor that a list has given out; leave it out to begin at the newest"
    raise Invalid(f"cursor {reason}", [BadField("cursor", reason)])
