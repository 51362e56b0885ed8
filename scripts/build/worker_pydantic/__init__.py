"""Pydantic as a Worker runs it: pydantic_core validates with schemas that were built together with the Worker.

Pydantic turns each model into a schema while the model is imported. That takes half of the time in which a Worker must start.
`scripts/build/models.py` lets pydantic do it at build time, stores the schemas beside this file, and puts this package in
pydantic's place. It offers what this project's models use; the import of anything else fails.
"""

import json
import sys
from collections.abc import Callable, Mapping
from functools import reduce
from pkgutil import get_data
from typing import Any, Final, Self, TypeVar

from pydantic_core import InitErrorDetails, SchemaSerializer, SchemaValidator, ValidationError

__all__ = [
    "AfterValidator",
    "BaseModel",
    "ConfigDict",
    "Field",
    "RootModel",
    "ValidationError",
    "field_validator",
    "model_validator",
]

Method = TypeVar("Method")

_SCHEMAS: Final = json.loads(get_data(__name__, "schemas.json") or b"")
_REFERENCE: Final = "$reference"  # stands for a class or function: "module:name.name"

ConfigDict = dict[str, Any]


def Field(default: Any = None, **_facts: Any) -> Any:  # noqa: N802 - pydantic's name
    """Stand for pydantic's own: what is said about a field is in the schema, built before."""
    return default


def AfterValidator(check: Any) -> Any:  # noqa: N802 - pydantic's name
    """Stand for pydantic's own: the schema, built before, calls the function by itself."""
    return check


def field_validator(*_fields: str, **_options: Any) -> Callable[[Method], Method]:
    """Return the method as it is: the schema, built before, calls it by itself."""
    return lambda method: method


def model_validator(**_options: Any) -> Callable[[Method], Method]:
    """Return the method as it is: the schema, built before, calls it by itself."""
    return lambda method: method


class BaseModel:
    """A model whose schema was built before. Its fields are attributes that cannot be assigned."""

    __slots__ = ("__dict__", "__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")
    __pydantic_validator__: SchemaValidator
    __pydantic_serializer__: SchemaSerializer
    __pydantic_fields_set__: set[str]

    def __init_subclass__(cls, *, has_schema: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        if has_schema:
            schema = _resolve(_SCHEMAS[_name_of(cls)], cls)
            cls.__pydantic_validator__ = SchemaValidator(schema)
            cls.__pydantic_serializer__ = SchemaSerializer(schema)

    def __init__(self, **values: Any) -> None:
        self.__pydantic_validator__.validate_python(values, self_instance=self)

    @classmethod
    def model_validate(cls, value: object) -> Self:
        model: Self = cls.__pydantic_validator__.validate_python(value)
        return model

    def model_dump(self, *, mode: str = "python", **options: Any) -> Any:
        return self.__pydantic_serializer__.to_python(self, mode=mode, **options)

    def model_dump_json(self, **options: Any) -> str:
        return self.__pydantic_serializer__.to_json(self, **options).decode()

    def model_copy(self, *, update: Mapping[str, Any]) -> Self:
        copy = object.__new__(type(self))
        object.__setattr__(copy, "__dict__", {**self.__dict__, **update})
        object.__setattr__(copy, "__pydantic_fields_set__", self.__pydantic_fields_set__ | update.keys())
        object.__setattr__(copy, "__pydantic_extra__", None)
        object.__setattr__(copy, "__pydantic_private__", None)
        return copy

    @property
    def model_fields_set(self) -> set[str]:
        return self.__pydantic_fields_set__

    def __setattr__(self, name: str, value: object) -> None:
        mistake = InitErrorDetails(type="frozen_instance", loc=(name,), input=value)
        raise ValidationError.from_exception_data(type(self).__name__, [mistake])

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.__dict__ == self.__dict__

    def __hash__(self) -> int:
        return hash((type(self), *self.__dict__.values()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__name__}({fields})"


class RootModel(BaseModel, has_schema=False):
    """A model of one value, `root`."""

    root: Any

    def __class_getitem__(cls, _root: object) -> type[Self]:
        return cls

    def __init__(self, root: object) -> None:
        self.__pydantic_validator__.validate_python(root, self_instance=self)


def _name_of(model: type) -> str:
    return f"{model.__module__}:{model.__qualname__}"


def _resolve(schema: Any, model: type) -> Any:
    """Put classes and functions back where the stored schema names them."""
    if isinstance(schema, list):
        return [_resolve(part, model) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if _REFERENCE in schema:
        return _find(schema[_REFERENCE], model)
    return {key: _resolve(part, model) for key, part in schema.items()}


def _find(reference: str, model: type) -> Any:
    """Find a class or function by its name; the model itself is not in its module yet."""
    module, _, path = reference.partition(":")
    own = model.__qualname__
    if module == model.__module__ and (path == own or path.startswith(f"{own}.")):
        return reduce(getattr, path.split(".")[own.count(".") + 1 :], model)
    return reduce(getattr, path.split("."), sys.modules[module])
