"""The cursor of a paged list: a position in the order of the articles, so that new articles do not move it."""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode

from sluice.core.errors import BadField, Invalid
from sluice.core.json_text import parse_bounded_json


def encode_cursor(order: tuple[str, str]) -> str:
    return urlsafe_b64encode(json.dumps(order).encode()).decode().rstrip("=")


def decode_cursor(cursor: str) -> tuple[str, str]:
    """Raise Invalid for a text that `encode_cursor` did not make."""
    try:
        time, article_id = parse_bounded_json(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode())
        if isinstance(time, str) and isinstance(article_id, str):
            return time, article_id
    except (ValueError, TypeError):
        pass
    reason = "is not a cursor of this list; leave it out to start at the newest"
    raise Invalid(f"cursor {reason}", [BadField("cursor", reason)])
