"""The JSON schemas of the models in an OpenAPI document."""

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
    """The schemas of all operations, so that each model has one name in the document."""

    def __init__(self, docs: Iterable[Doc]) -> None:
        models: dict[tuple[type[BaseModel], JsonSchemaMode], None] = {(Problem, "serialization"): None}
        for doc in docs:
            models |= dict.fromkeys(_list_models(doc))
        # Replies are described as they are serialized, bodies as they are validated.
        schemas, definitions = models_json_schema(list(models), ref_template=_REF, schema_generator=_Generator)
        self._schemas = schemas
        self.components: Json = definitions.get("$defs", {})
        self.problem = schemas[Problem, "serialization"]

    def body(self, model: type[BaseModel], example: Any) -> Json:
        """Return the media type object of a request body."""
        media = {"schema": self._schemas[model, "validation"]}
        return media if example is None else {**media, "example": example}

    def content(self, content: Content) -> Json:
        """Return the media type object of a reply."""
        if not isinstance(content, Media):
            return {"schema": self._schemas[content, "serialization"]}
        schema = {"type": "object" if content.type.endswith("json") else "string"}
        return {"schema": schema | ({"description": content.description} if content.description else {})}

    def query_parameters(self, model: type[BaseModel] | None) -> list[Json]:
        """Return a parameter for each field of a query."""
        if model is None:
            return []
        query = model.model_json_schema(ref_template=_REF, schema_generator=_Generator)
        self.components |= query.get("$defs", {})
        required = query.get("required", ())
        return [_build_parameter(name, field, name in required) for name, field in query.get("properties", {}).items()]


def _list_models(doc: Doc) -> Iterable[tuple[type[BaseModel], JsonSchemaMode]]:
    if doc.body:
        yield doc.body, "validation"
    for answer in doc.replies.values():
        yield from ((content, "serialization") for content in answer.contents if not isinstance(content, Media))


def _build_parameter(name: str, field: Json, required: bool) -> Json:
    schema = _without_null(field)
    description, examples = schema.pop("description", ""), schema.pop("examples", ())
    parameter: Json = {"name": name, "in": "query", "required": required, "schema": schema}
    if description:
        parameter["description"] = description
    if examples:
        parameter["example"] = examples[0]
    return parameter


def _without_null(schema: Json) -> Json:
    """Return the schema without null: in a query, a parameter that may be null may be missing."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    rest = {name: value for name, value in schema.items() if name != "anyOf"}
    if not kinds:
        return rest
    return rest | (kinds[0] if len(kinds) == 1 else {"anyOf": kinds})
