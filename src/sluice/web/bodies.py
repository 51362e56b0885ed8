"""Reads the body of a request: limits the size and decodes."""

import re
from typing import Any

from sluice.core.errors import Invalid, TooLarge, UnsupportedMediaType
from sluice.core.json_text import parse_json
from sluice.web.messages import Request

_LENGTH = re.compile(r"[0-9]{1,15}")
_JSON_TYPE = re.compile(r"(?:application|text)/json|[^/\s]+/[^/\s]+\+json")


async def read_bytes(request: Request, *, max_bytes: int) -> bytes:
    """Return the body; raises TooLarge without reading it if its declared length is over the limit."""
    if _declared_length(request) > max_bytes:
        raise _body_too_large(max_bytes)
    content = await request.read_body(max_bytes)
    if len(content) > max_bytes:
        raise _body_too_large(max_bytes)
    return content


async def read_json(request: Request, *, max_bytes: int) -> Any:
    """Return the body as a JSON value; raises Invalid, TooLarge or UnsupportedMediaType."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type and not _JSON_TYPE.fullmatch(media_type):
        raise UnsupportedMediaType(f"send the body as Content-Type: application/json, not {media_type}")
    return parse_json(await read_bytes(request, max_bytes=max_bytes))


def _declared_length(request: Request) -> int:
    declared = request.headers.get("content-length", "0")
    if not _LENGTH.fullmatch(declared):
        raise Invalid("Content-Length is not a number of bytes")
    return int(declared)


def _body_too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"the body is larger than the limit of {max_bytes} bytes")
