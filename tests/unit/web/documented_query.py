"""Reads a query by its documented model: what the hand-written readers are compared with."""

from collections.abc import Sequence
from typing import Any, get_args, get_origin

from pydantic import AliasChoices, BaseModel
from pydantic.fields import FieldInfo

from sluice.core.errors import BadField, Invalid
from sluice.core.models import Model, parse_model
from sluice.web import Request

_MANY = (list, tuple, set, frozenset, Sequence)


def read_documented_query(request: Request, model: type[Model]) -> Model:
    """Return the query as a model; only a field that takes a collection may be repeated."""
    fields = _fields_by_query_name(model)
    many = {name for name, field in fields.items() if _takes_many(field.annotation)}
    repeated = [
        BadField(name, "is given more than once")
        for name, values in request.query.items()
        if name in fields and len(values) > 1 and name not in many
    ]
    if repeated:
        raise Invalid.from_fields(repeated)
    plain = {name: list(values) if name in many else values[0] for name, values in request.query.items()}
    return parse_model(model, plain)


def _fields_by_query_name(model: type[BaseModel]) -> dict[str, FieldInfo]:
    fields: dict[str, FieldInfo] = {}
    for name, field in model.model_fields.items():
        match field.validation_alias:
            case str(alias):
                fields |= {alias: field} | ({name: field} if model.model_config.get("populate_by_name") else {})
            case AliasChoices(choices=choices):
                fields |= {str(choice): field for choice in choices}
            case _:
                fields[name] = field
    return fields


def _takes_many(annotation: Any) -> bool:
    """Whether the type, or a member of its union, is a collection."""
    if (get_origin(annotation) or annotation) in _MANY:
        return True
    return get_origin(annotation) not in (None, dict) and any(_takes_many(arg) for arg in get_args(annotation))
