"""Plain values into pydantic models; every field that does not fit is named at once."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sluice.core.errors import BadField, Invalid

Model = TypeVar("Model", bound=BaseModel)

_PLAIN_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$-]*")
# Clearer than pydantic's own words; its words on tags would repeat the input.
_REASONS = {
    "missing": "is required",
    "extra_forbidden": "is not a known field",
    "too_short": "needs at least {min_length}",
    "too_long": "takes at most {max_length}",
    "string_too_short": "needs at least {min_length} characters",
    "string_too_long": "takes at most {max_length} characters",
    "union_tag_not_found": "needs {discriminator}",
    "union_tag_invalid": "needs {discriminator} to be one of {expected_tags}",
}
_NOISE = re.compile(r"^(?:Input |Value error, |Assertion failed, )")
_FIELDS_IN_MESSAGE = 3  # enough for one line; `fields` has them all


def parse_model(model: type[Model], value: object) -> Model:
    """The value as a model, or Invalid with the path and reason of each bad field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # Without the input: it may hold a secret, and the caller has it already.
        details = error.errors(include_url=False, include_input=False)
        raise invalid_fields([_bad_field(detail, value) for detail in details]) from None


def invalid_fields(fields: Sequence[BadField]) -> Invalid:
    """The error for these fields, its message naming the first of them."""
    told = [f"{field.path} {field.reason}".strip() for field in fields[:_FIELDS_IN_MESSAGE]]
    more = len(fields) - len(told)
    return Invalid("; ".join(told) + (f"; and {more} more" if more else ""), fields)


def _bad_field(detail: ErrorDetails, value: object) -> BadField:
    ours = _REASONS.get(detail["type"])
    reason = ours.format_map(detail.get("ctx", {})) if ours else _NOISE.sub("", detail["msg"])
    return BadField(_path(detail, value), reason)


def _path(detail: ErrorDetails, value: Any) -> str:
    """The steps that exist in the value, and the one that is missing from it.

    Pydantic also reports which branch of a union it tried; the caller never wrote that, so it is left out.
    """
    steps = detail["loc"]
    path = ""
    for position, step in enumerate(steps):
        absent = detail["type"] == "missing" and position == len(steps) - 1
        if absent or _has(value, step):
            path += _written(step, first=not path)
            value = None if absent else value[step]
    return path


def _has(value: Any, step: int | str) -> bool:
    if isinstance(value, Mapping):
        return step in value
    return isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)


def _written(step: int | str, *, first: bool) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if not _PLAIN_NAME.fullmatch(step):
        return f"[{json.dumps(step)}]"
    return step if first else f".{step}"
