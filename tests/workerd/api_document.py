"""An OpenAPI document as a test uses it: requests made from it, and replies held against it."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

JSON = "application/json"
PROBLEM = "application/problem+json"


@dataclass(frozen=True)
class Operation:
    method: str
    path: str
    told: Mapping[str, Any] = field(compare=False)

    def __str__(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def body(self) -> Mapping[str, Any] | None:
        """The media type object of its JSON body."""
        found: Mapping[str, Any] | None = self.told.get("requestBody", {}).get("content", {}).get(JSON)
        return found

    def parameters(self, where: str) -> list[Mapping[str, Any]]:
        return [each for each in self.told.get("parameters", ()) if each["in"] == where]

    @property
    def is_for_admins(self) -> bool:
        return {"admin": []} in self.told.get("security", ())

    @property
    def is_signed(self) -> bool:
        """Whether only a signed request is let in."""
        return bool(self.told.get("security")) and not self.is_for_admins


class ApiDocument:
    """Remembers which of the documented replies were seen."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.told = told
        self.seen: set[tuple[Operation, str, str]] = set()
        self.shared: set[str] = set()  # operations with a reply that caches may keep
        self._closed = _closed(told["components"]["schemas"])

    def operations(self) -> Iterator[Operation]:
        for path, methods in self.told["paths"].items():
            for method, told in methods.items():
                yield Operation(method.upper(), path, told)

    def operation(self, method: str, path: str) -> Operation:
        return next(found for found in self.operations() if (found.method, found.path) == (method, path))

    def successes(self) -> set[tuple[Operation, str, str]]:
        """Return every reply below 300 that is documented, with each of its media types."""
        return {
            (operation, status, media)
            for operation in self.operations()
            for status, reply in operation.told["responses"].items()
            if status.startswith("2")
            for media in reply.get("content", {"": None})
        }

    def request(self, operation: Operation, **values: str) -> dict[str, Any]:
        """Return the documented example, or the least that fits; `values` are of the path's parameters."""
        path = operation.path
        for each in operation.parameters("path"):
            value = values.get(each["name"]) or str(each.get("example") or self.least(each["schema"]))
            path = path.replace(f"{{{each['name']}}}", quote(value, safe=""))
        needed = [each for each in operation.parameters("query") if each["required"]]
        query = {each["name"]: each.get("example") or self.least(each["schema"]) for each in needed}
        made: dict[str, Any] = {"method": operation.method, "url": path, "params": query}
        if body := operation.body:
            made["json"] = body.get("example", self.least(body["schema"]))
        return made

    def mistakes(self, schema: Mapping[str, Any], value: Any, *, closed: bool = False) -> list[str]:
        """Return why a value does not fit; `closed` takes every member for a mistake that is not documented."""
        schemas = self._closed if closed else self.told["components"]["schemas"]
        validator = Draft202012Validator({**schema, "components": {"schemas": schemas}})
        return [f"{error.json_path}: {error.message[:300]}" for error in validator.iter_errors(value)]

    def check(self, operation: Operation, reply: httpx.Response) -> None:
        """Status, media type and body are as the document says; what it says of any other status does not count."""
        about = f"{operation} answered {reply.status_code}: {reply.text[:500]}"
        documented = operation.told["responses"].get(str(reply.status_code))
        assert documented, about
        content = self.resolved(documented).get("content", {})
        media = reply.headers.get("Content-Type", "").partition(";")[0]
        media = media if media in content or "*/*" not in content else "*/*"
        assert media in content if content else not reply.content, about
        if content and media.endswith("json"):
            mistakes = self.mistakes(content[media]["schema"], reply.json(), closed=True)
            assert not mistakes, f"{about}\n{mistakes}"
        self.seen.add((operation, str(reply.status_code), media))
        if is_shared(reply):
            self.shared.add(f"{operation.method} {operation.path}")

    def resolved(self, told: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in told:
            found: Any = self.told
            for step in told["$ref"].removeprefix("#/").split("/"):
                found = found[step]
            told = found
        return told

    def least(self, schema: Mapping[str, Any]) -> Any:
        """Return the least value that fits a schema, or one of its examples."""
        schema = self.resolved(schema)
        if "const" in schema:
            return schema["const"]
        for name in ("examples", "enum"):
            if name in schema:
                return schema[name][0]
        if alternatives := schema.get("anyOf"):
            return self.least(alternatives[0])
        kind = schema.get("type", "string")
        if kind == "object":
            return {name: self.least(schema["properties"][name]) for name in schema.get("required", ())}
        if kind == "array":
            return [self.least(schema["items"]) for _ in range(schema.get("minItems", 0))]
        if kind in {"integer", "number"}:
            return schema.get("minimum", 0)
        return {"string": "x" * schema.get("minLength", 1), "boolean": False, "null": None}[kind]


def is_shared(reply: httpx.Response) -> bool:
    """Return whether caches may keep the reply; it says either for how long and with which tags, or that none may."""
    control, tags = reply.headers["Cache-Control"], reply.headers.get("Cache-Tag")
    if tags is None:
        assert control == "private, no-store", (reply.url, reply.status_code, control)
        return False
    assert control.startswith("public, max-age="), (reply.url, control)
    assert reply.status_code in {200, 304}, reply.url
    assert "Set-Cookie" not in reply.headers, reply.url
    return True


def _closed(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the same schemas, of which none takes a member that it does not name."""
    made = copy.deepcopy(schemas)
    for schema in made.values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return made
