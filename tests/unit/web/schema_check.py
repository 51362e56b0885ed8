"""Holds JSON against a schema of an API document, with no member that is not described. It needs no package, so it runs in Pyodide."""

from collections.abc import Iterator, Mapping
from typing import Any

KINDS: dict[str, Any] = {"string": str, "integer": int, "number": int | float, "boolean": bool, "null": type(None)}


def list_mistakes(document: Mapping[str, Any], schema: str | Mapping[str, Any], value: object) -> list[str]:
    """Return what of a value does not fit; a schema is given itself, or by its name in the document."""
    components: dict[str, Any] = document["components"]["schemas"]
    return list(_check(components, components[schema] if isinstance(schema, str) else schema, value, "$"))


def _check(components: Mapping[str, Any], schema: Mapping[str, Any], value: object, at: str) -> Iterator[str]:
    if reference := schema.get("$ref"):
        yield from _check(components, components[reference.rpartition("/")[2]], value, at)
    elif choices := schema.get("anyOf"):
        if all(list(_check(components, each, value, at)) for each in choices):
            yield f"{at}: {value!r} is none of {choices}"
    elif schema.get("type") == "object":
        yield from _check_object(components, schema, value, at)
    elif schema.get("type") == "array":
        yield from _check_array(components, schema, value, at)
    elif not _is_simple(schema, value):
        yield f"{at}: {value!r} is not {schema}"


def _is_simple(schema: Mapping[str, Any], value: Any) -> bool:
    if ("const" in schema and value != schema["const"]) or ("enum" in schema and value not in schema["enum"]):
        return False
    kind = schema.get("type")
    if kind and (not isinstance(value, KINDS[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return False
    return not isinstance(value, int | float) or schema.get("minimum", value) <= value <= schema.get("maximum", value)


def _check_array(components: Mapping[str, Any], schema: Mapping[str, Any], value: object, at: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{at}: {value!r} is no array"
        return
    for place, item in enumerate(value):
        yield from _check(components, schema.get("items", {}), item, f"{at}[{place}]")


def _check_object(components: Mapping[str, Any], schema: Mapping[str, Any], value: object, at: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{at}: {value!r} is no object"
        return
    members = schema.get("properties", {})
    yield from (f"{at}: {name} is missing" for name in schema.get("required", ()) if name not in value)
    others = schema.get("additionalProperties", not members)
    for name, item in value.items():
        if name in members:
            yield from _check(components, members[name], item, f"{at}.{name}")
        elif isinstance(others, dict):
            yield from _check(components, others, item, f"{at}.{name}")
        elif not others:
            yield f"{at}.{name} is not described"
