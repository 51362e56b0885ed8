"""Reads the body and the query of a request: limits the size, decodes, and validates against a model."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from sluice.core.errors import BadField, Invalid, TooLarge, UnsupportedMediaType
from sluice.core.json_text import parse_json
from sluice.core.models import Model, parse_model
from sluice.web.messages import Request

_LENGTH = re.compile(r"[0-9]{1,15}")
_JSON_TYPE = re.compile(r"(?:application|text)/json|[^/\s]+/[^/\s]+\+json")
_MANY = (list, tuple, set, frozenset, Sequence)


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


async def read_model(request: Request, model: type[Model], *, max_bytes: int) -> Model:
    """Return the JSON body as a model."""
    return parse_model(model, await read_json(request, max_bytes=max_bytes))


def read_query(request: Request, model: type[Model]) -> Model:
    """Return the query as a model; only a field that takes a collection may be repeated."""
    fields = _fields_by_query_name(model)
    repeated = [
        BadField(name, "is given more than once")
        for name, values in request.query.items()
        if name in fields and len(values) > 1 and not _takes_many(fields[name].annotation)
    ]
    if repeated:
        raise Invalid.from_fields(repeated)
    many = {name for name, field in fields.items() if _takes_many(field.annotation)}
    return parse_model(model, _plain_query(request.query, many))


def _plain_query(query: Mapping[str, tuple[str, ...]], many: Iterable[str]) -> dict[str, object]:
    return {name: list(values) if name in many else values[0] for name, values in query.items()}


def _fields_by_query_name(model: type[BaseModel]) -> dict[str, FieldInfo]:
    fields = ((field.validation_alias, name, field) for name, field in model.model_fields.items())
    return {alias if isinstance(alias, str) else name: field for alias, name, field in fields}


def _takes_many(annotation: Any) -> bool:
    """Whether the type, or a member of its union, is a collection."""
    if (get_origin(annotation) or annotation) in _MANY:
        return True
    return get_origin(annotation) not in (None, dict) and any(_takes_many(arg) for arg in get_args(annotation))


def _declared_length(request: Request) -> int:
    declared = request.headers.get("content-length", "0")
    if not _LENGTH.fullmatch(declared):
        raise Invalid("Content-Length is not a number of bytes")
    return int(declared)


def _body_too_large(max_bytes: int) -> TooLarge:
    return TooLarge(f"the body is larger than the limit of {max_bytes} bytes")
