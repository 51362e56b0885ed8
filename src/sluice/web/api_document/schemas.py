"""The JSON schemas of an OpenAPI document: of pydantic models for bodies, of typed dictionaries for replies."""

from collections.abc import Collection, Iterable, Mapping
from enum import Enum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    NotRequired,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema
from pydantic_core.core_schema import WithDefaultSchema

from sluice.core.doc import OTHER_MEMBERS, Doc
from sluice.web.operations import Content, Media, Operation
from sluice.web.parameters import Parameter, PathParameter
from sluice.web.problems import Problem

JSON: Final = "application/json"
_REF: Final = "#/components/schemas/{model}"
_SIMPLE: Final[Mapping[Any, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    NoneType: {"type": "null"},
    Any: {},
    object: {},
}

Json = dict[str, Any]


class _Generator(GenerateJsonSchema):
    """Leaves out titles that repeat names, and empty defaults, which may not match their schema."""

    def field_title_should_be_set(self, schema: object) -> bool:
        del schema
        return False

    def default_schema(self, schema: WithDefaultSchema) -> Json:
        json_schema = super().default_schema(schema)
        if json_schema.get("default") in (None, ""):
            json_schema.pop("default", None)
        return json_schema


class Schemas:
    """The schemas of all operations, so that each type has one name in the document."""

    def __init__(self, operations: Collection[Operation]) -> None:
        contents = {content: None for operation in operations for content in _list_contents(operation)}
        replies: dict[Any, None] = {}
        models: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {}
        for kind, mode in [(Problem, "serialization"), *contents]:
            if is_typeddict(kind):
                replies[kind] = None
                models |= dict.fromkeys((model, "serialization") for model in _list_models(kind, set()))
            elif issubclass(kind, BaseModel):
                models[kind, mode] = None
        # Replies are described as they are serialized, bodies as they are validated.
        schemas, definitions = models_json_schema(list(models), ref_template=_REF, schema_generator=_Generator)
        self._models = schemas
        self.components: Json = definitions.get("$defs", {})
        self._add_extras(operations)
        self._typed: dict[str, type] = {}
        for reply in replies:
            self._describe(reply)
        self.problem = self.content(Problem)["schema"]

    def _add_extras(self, operations: Iterable[Operation]) -> None:
        for operation in operations:
            if operation.body and operation.body_extras:
                component = self.body(operation.body, None)["schema"]["$ref"].rpartition("/")[2]
                self.components[component]["properties"] |= operation.body_extras

    def body(self, model: type, example: Any) -> Json:
        """Return the media type object of a request body."""
        media = {"schema": self._describe(model) if is_typeddict(model) else self._models[model, "validation"]}
        return media if example is None else {**media, "example": example}

    def content(self, content: Content) -> Json:
        """Return the media type object of a reply."""
        if not isinstance(content, Media):
            return {"schema": self._describe(content)}
        schema = {"type": "object" if content.type.endswith("json") else "string"}
        return {"schema": schema | ({"description": content.description} if content.description else {})}

    def _describe(self, hint: Any) -> Json:
        """Return the schema of a type of JSON values; a typed dictionary becomes a component."""
        if hint in _SIMPLE:
            return dict(_SIMPLE[hint])
        origin, arguments = get_origin(hint), get_args(hint)
        if origin is NotRequired:
            return self._describe(arguments[0])
        if origin is Annotated:
            return self._describe_annotated(arguments)
        if origin is Literal:
            return _describe_choices(arguments)
        if origin in (Union, UnionType):
            kinds = [self._describe(argument) for argument in arguments]
            return {"anyOf": kinds}
        if isinstance(origin, type) and issubclass(origin, Mapping):
            values = self._describe(arguments[1])
            return {"type": "object", "additionalProperties": values or True}
        if isinstance(origin, type) and issubclass(origin, Iterable):
            return {"type": "array", "items": self._describe(arguments[0])}
        return self._describe_class(hint)

    def _describe_class(self, kind: Any) -> Json:
        if is_typeddict(kind) or (isinstance(kind, type) and issubclass(kind, Enum)):
            return self._refer(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            return self._models[kind, "serialization"]
        raise TypeError(f"{kind} cannot stand in a reply")

    def _describe_annotated(self, arguments: tuple[Any, ...]) -> Json:
        schema = self._describe(arguments[0])
        for doc in arguments[1:]:
            if not isinstance(doc, Doc):
                continue
            if doc.model is not None:
                schema = self._models[doc.model, "serialization"]
            # Limits belong to the value, not to its absence.
            target = schema["anyOf"][0] if "anyOf" in schema else schema
            noun = "Items" if target.get("type") == "array" else "imum"
            target |= {} if doc.minimum is None else {f"min{noun}": doc.minimum}
            target |= {} if doc.maximum is None else {f"max{noun}": doc.maximum}
            target |= dict(doc.more)
            if doc.text:
                schema = {**schema, "description": doc.text}
        return schema

    def _refer(self, kind: type) -> Json:
        name = kind.__name__
        known = self._typed.setdefault(name, kind)
        if known is not kind:
            raise TypeError(f"two replies are called {name}: {known.__module__} and {kind.__module__}")
        if name not in self.components:
            self.components[name] = {}  # for those that refer to themselves
            self.components[name] |= self._describe_members(kind)
        return {"$ref": _REF.format(model=name)}

    def _describe_members(self, kind: Any) -> Json:
        schema = self._describe_object(kind) if is_typeddict(kind) else _describe_choices(tuple(kind))
        if about := _find_docstring(kind):
            schema = {"description": about, **schema}
        return schema | {"title": kind.__name__}

    def _describe_object(self, kind: Any) -> Json:
        hints = get_type_hints(kind, include_extras=True)
        schema: Json = {"type": "object", "properties": {name: self._describe(hint) for name, hint in hints.items()}}
        if OTHER_MEMBERS in kind.__dict__:
            schema["additionalProperties"] = kind.__dict__[OTHER_MEMBERS]
        # Of an annotation in quotes, the class itself does not know that it says NotRequired.
        may_be_missing = {name for name, hint in hints.items() if get_origin(hint) is NotRequired}
        if required := [name for name in hints if name in kind.__required_keys__ - may_be_missing]:
            schema["required"] = required
        return schema


def build_query_parameter(parameter: Parameter[Any]) -> Json:
    """Return a parameter of the query."""
    return _build_parameter(parameter, "query", is_required=parameter.is_required)


def build_path_parameter(parameter: PathParameter[Any], name: str) -> Json:
    """Return a parameter of the path, under the name that it has there."""
    return {**_build_parameter(parameter, "path", is_required=True), "name": name}


def _build_parameter(parameter: Parameter[Any] | PathParameter[Any], where: str, *, is_required: bool) -> Json:
    built: Json = {"name": parameter.name, "in": where, "required": is_required, "schema": dict(parameter.schema)}
    if parameter.about:
        built["description"] = parameter.about
    if parameter.example:
        built["example"] = int(parameter.example) if parameter.schema.get("type") == "integer" else parameter.example
    return built


def _describe_choices(values: tuple[Any, ...]) -> Json:
    values = tuple(value.value if isinstance(value, Enum) else value for value in values)
    kinds = {type(value) for value in values}
    kind = _SIMPLE[kinds.pop()] if len(kinds) == 1 else {}
    return {**kind, "const": values[0]} if len(values) == 1 else {**kind, "enum": list(values)}


def _find_docstring(kind: type) -> str:
    """Return the docstring of the class itself; a typed dictionary inherits none."""
    return " ".join((kind.__dict__.get("__doc__") or "").split())


def _list_contents(operation: Operation) -> Iterable[tuple[Any, JsonSchemaMode]]:
    if operation.body:
        yield operation.body, "validation"
    for reply in operation.replies.values():
        yield from ((content, "serialization") for content in reply.contents if not isinstance(content, Media))


def _list_models(hint: Any, seen: set[Any]) -> Iterable[type[BaseModel]]:
    """Yield the pydantic models within a typed dictionary, which are described in one step with all others."""
    if isinstance(hint, Doc):
        if hint.model is not None:
            yield hint.model
    elif isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    elif is_typeddict(hint):
        if hint not in seen:
            seen.add(hint)
            for member in get_type_hints(hint, include_extras=True).values():
                yield from _list_models(member, seen)
    elif get_origin(hint) is not Literal:
        for argument in get_args(hint):
            yield from _list_models(argument, seen)
