"""JSON Schemas of the models in an OpenAPI document."""

from collections.abc import Iterable
from typing import Any, Final

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaMode, models_json_schema
from pydantic_core.core_schema import WithDefaultSchema

from sluice.web.openapi.docs import Content, Doc, Media
from sluice.web.openapi.problem_replies import Problem

JSON: Final = "application/json"
_REF: Final = "#/components/schemas/{model}"

Json = dict[str, Any]


class _Generator(GenerateJsonSchema):
    """Leaves out what says nothing: titles made of names, and nothing as a default, which need not fit its schema."""

    def field_title_should_be_set(self, schema: object) -> bool:
        del schema
        return False

    def default_schema(self, schema: WithDefaultSchema) -> Json:
        told = super().default_schema(schema)
        if told.get("default") in (None, ""):
            told.pop("default", None)
        return told


class Schemas:
    """The models of all operations at once, so that each has one name in the whole document."""

    def __init__(self, docs: Iterable[Doc]) -> None:
        wanted: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(Problem, "serialization"): None}
        for doc in docs:
            wanted |= dict.fromkeys(_models(doc))
        # What goes out is described as it is written, what comes in as it is read.
        made, defined = models_json_schema(list(wanted), ref_template=_REF, schema_generator=_Generator)
        self._made = made
        self.components: Json = defined.get("$defs", {})
        self.problem = made[Problem, "serialization"]

    def body(self, model: type[BaseModel], example: Any) -> Json:
        """The media type object of what comes in."""
        told = {"schema": self._made[model, "validation"]}
        return told if example is None else {**told, "example": example}

    def content(self, content: Content) -> Json:
        """The media type object of what goes out."""
        if not isinstance(content, Media):
            return {"schema": self._made[content, "serialization"]}
        schema = {"type": "object" if content.type.endswith("json") else "string"}
        return {"schema": schema | ({"description": content.description} if content.description else {})}

    def query_parameters(self, model: type[BaseModel] | None) -> list[Json]:
        """The fields of a query, each a parameter of its own."""
        if model is None:
            return []
        told = model.model_json_schema(ref_template=_REF, schema_generator=_Generator)
        self.components |= told.get("$defs", {})
        required = told.get("required", ())
        return [_parameter(name, field, name in required) for name, field in told.get("properties", {}).items()]


def _models(doc: Doc) -> Iterable[tuple[type[BaseModel], JsonSchemaMode]]:
    if doc.body:
        yield doc.body, "validation"
    for answer in doc.replies.values():
        yield from ((content, "serialization") for content in answer.contents if not isinstance(content, Media))


def _parameter(name: str, field: Json, required: bool) -> Json:
    schema = _not_null(field)
    description, examples = schema.pop("description", ""), schema.pop("examples", ())
    told: Json = {"name": name, "in": "query", "required": required, "schema": schema}
    if description:
        told["description"] = description
    if examples:
        told["example"] = examples[0]
    return told


def _not_null(schema: Json) -> Json:
    """A query has no null: a parameter that may be null is one that may be missing."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    if not kinds:
        return rest
    return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds})
