"""Reads the body of a request as JSON."""

import re
from typing import Any

from sluice.core.errors import UnsupportedMediaType
from sluice.core.json_text import parse_json
from sluice.web.messages import Request, read_bytes

_JSON_TYPE = re.compile(r"(?:application|text)/json|[^/\s]+/[^/\s]+\+json")


async def read_json(request: Request, *, max_bytes: int) -> Any:
    """Return the body as a JSON value; raises Invalid, TooLarge or UnsupportedMediaType."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type and not _JSON_TYPE.fullmatch(media_type):
        raise UnsupportedMediaType(f"send the body as Content-Type: application/json, not {media_type}")
    return parse_json(await read_bytes(request, max_bytes=max_bytes))
