"""Plain values parsed into pydantic models; the error names every bad field at once."""

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from sluice.core.errors import BadField, Invalid
from sluice.core.field_paths import format_step
from sluice.core.json_text import parse_json

Model = TypeVar("Model", bound=BaseModel)

# Clearer than pydantic's own texts, whose text about tags would repeat the input.
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


def parse_model(model: type[Model], value: object) -> Model:
    """Parse the value into the model; raise Invalid with the place and reason of each bad field."""
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # Leave the input out: it may hold a secret, and the caller has it already.
        details = error.errors(include_url=False, include_input=False)
        raise Invalid.from_fields([_describe_error(detail, value) for detail in details]) from None


def parse_text(model: type[Model], text: str) -> Model:
    """Parse JSON text into the model; raise Invalid as `parse_model` does, and for what is not JSON."""
    return parse_model(model, parse_json(text.encode()))


def _describe_error(detail: ErrorDetails, value: object) -> BadField:
    template = _REASONS.get(detail["type"])
    reason = template.format_map(detail.get("ctx", {})) if template else _NOISE.sub("", detail["msg"])
    return BadField(_locate_field(detail, value), reason)


def _locate_field(detail: ErrorDetails, value: Any) -> str:
    """Join the steps that exist in the value, and the one that is missing from it.

    Pydantic also reports which branch of a union it tried. The caller did not write that, so it is left out.
    """
    steps = detail["loc"]
    field = ""
    for position, step in enumerate(steps):
        absent = detail["type"] == "missing" and position == len(steps) - 1
        if absent or _has_step(value, step):
            field += format_step(step, first=not field)
            value = None if absent else value[step]
    return field


def _has_step(value: Any, step: int | str) -> bool:
    if isinstance(value, Mapping):
        return step in value
    return isinstance(value, list | tuple) and isinstance(step, int) and step < len(value)
