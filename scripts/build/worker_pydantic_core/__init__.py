"""The compiled part of pydantic_core, without the Python part, which describes schemas to whoever writes them."""

from typing import Any

from ._pydantic_core import (  # type: ignore[import-not-found]  # it is there in the Worker's packages
    PydanticCustomError,
    SchemaSerializer,
    SchemaValidator,
    ValidationError,
)

__all__ = [
    "MISSING",
    "ErrorDetails",
    "InitErrorDetails",
    "PydanticCustomError",
    "SchemaSerializer",
    "SchemaValidator",
    "ValidationError",
]

ErrorDetails = InitErrorDetails = dict[str, Any]
MISSING = object()  # the compiled part asks for it: a value that is left out
