"""The OpenAPI 3.1 document of a Worker: every route, with the types of what it takes and of what it replies."""

from collections.abc import Iterable
from typing import Any, Final

from sluice.web.api_document.problem_replies import build_problem_responses, list_problem_statuses, response_name
from sluice.web.api_document.schemas import JSON, Schemas, build_path_parameter, build_query_parameter
from sluice.web.operations import (
    IDEMPOTENCY_KEY,
    MAX_KEY_CHARS,
    REPLAYED,
    SERVICE,
    Media,
    Operation,
    ReplyDoc,
    Security,
    find_operation,
)
from sluice.web.router import Route, Shape, get_shape

Json = dict[str, Any]

_SCHEMES: Final[dict[str, Json]] = {
    "admin": {"type": "http", "scheme": "bearer", "description": "The operator's token: the variable ADMIN_TOKEN."},
    "signature": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Signature",
        "description": "HMAC-SHA256, in hexadecimal digits, over method, path, time, nonce and the hash of the body.",
    },
    "timestamp": {"type": "apiKey", "in": "header", "name": "X-Timestamp", "description": "Seconds since 1970."},
    "nonce": {"type": "apiKey", "in": "header", "name": "X-Nonce", "description": "A new value for each request."},
}
_REQUIRED: Final[dict[Security, Json]] = {
    "admin": {"admin": []},
    "signed": {"signature": [], "timestamp": [], "nonce": []},
}
_KEY: Final[Json] = {
    "name": IDEMPOTENCY_KEY,
    "in": "header",
    "required": False,
    "description": "A value of your own, new for each thing that you want. For 24 hours an equal request with it, from the same "
    "address or with the operator's token, gets the first reply again and starts nothing more; another body is 409.",
    "schema": {"type": "string", "pattern": f"^[!-~]{{1,{MAX_KEY_CHARS}}}$"},
    "example": "0d4f5c1e-8a7b-4c6d-9e2f-1a2b3c4d5e6f",
}
_REPLAYED: Final = {REPLAYED: "true when this is the stored reply to the same request before."}


def build_document(name: str, version: str, routes: Iterable[Route], *, about: str = "") -> Json:
    """Return the document as plain values."""
    table = [(route, find_operation(route)) for route in routes]
    operations = [operation for _, operation in table]
    _check_names(operations)
    schemas = Schemas(operations)
    paths: dict[str, Json] = {}
    templates: dict[Shape, str] = {}
    for route, operation in table:
        # Two routes of one shape are one path, even if the names of their parameters differ.
        template = templates.setdefault(get_shape(route.pattern), _build_template(route.pattern))
        paths.setdefault(template, {})[route.method.lower()] = _build_operation(route, operation, template, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": name, "version": version} | ({"description": about} if about else {}),
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in _list_tags(operations)],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": build_problem_responses(
                schemas.problem, {status for operation in operations for status in list_problem_statuses(operation)}
            ),
            "securitySchemes": _build_schemes(operations),
        },
    }


def _check_names(operations: Iterable[Operation]) -> None:
    """Raise ValueError for a name that two operations have: clients in other languages call them by it."""
    names: set[str] = set()
    for operation in operations:
        if operation.name in names:
            raise ValueError(f"two operations are called {operation.name}")
        names.add(operation.name)


def _list_tags(operations: Iterable[Operation]) -> list[str]:
    """Return each tag once, in the order of the table."""
    tags = dict.fromkeys(operation.tag for operation in operations if operation.tag)
    return sorted(tags, key=lambda tag: tag == SERVICE)


def _build_operation(route: Route, operation: Operation, template: str, schemas: Schemas) -> Json:
    built: Json = {"operationId": operation.name, "summary": operation.summary}
    if operation.description:
        built["description"] = operation.description
    if operation.tag:
        built["tags"] = [operation.tag]
    queries = operation.query.parameters if operation.query else ()
    parameters = [*_build_path_parameters(route, operation, template), *map(build_query_parameter, queries)]
    if operation.is_repeatable:
        parameters.append(_KEY)
    if parameters:
        built["parameters"] = parameters
    if operation.body:
        content = {JSON: schemas.body(operation.body, operation.example)}
        built["requestBody"] = {"required": operation.body_required, "content": content}
    built["responses"] = _build_responses(operation, schemas)
    if operation.security:
        built["security"] = [_REQUIRED[way] for way in operation.security]
    return built


def _build_path_parameters(route: Route, operation: Operation, template: str) -> Iterable[Json]:
    declared = {parameter.name: parameter for parameter in operation.path}
    names = _list_parameters(route.pattern)
    if set(names) != declared.keys():
        raise ValueError(f"{route.method} {route.pattern} has the parameters {names}, and declares {[*declared]}")
    shown = [part[1:-1] for part in template.split("/") if part.startswith("{")]
    return [build_path_parameter(declared[own], name) for name, own in zip(shown, names, strict=True)]


def _build_responses(operation: Operation, schemas: Schemas) -> Json:
    about = _REPLAYED if operation.is_repeatable else {}
    responses = {
        str(status): _build_response(answer._replace(headers={**answer.headers, **about}), schemas)
        for status, answer in operation.replies.items()
    }
    for status in list_problem_statuses(operation):
        responses.setdefault(str(status), {"$ref": f"#/components/responses/{response_name(status)}"})
    responses["default"] = {"$ref": f"#/components/responses/{response_name(None)}"}
    return responses


def _build_response(answer: ReplyDoc, schemas: Schemas) -> Json:
    response: Json = {"description": answer.description}
    if answer.headers:
        response["headers"] = {
            name: {"description": about, "schema": {"type": "string"}} for name, about in answer.headers.items()
        }
    found: dict[str, list[Json]] = {}
    for each in answer.contents:
        found.setdefault(each.type if isinstance(each, Media) else JSON, []).append(schemas.content(each)["schema"])
    if found:
        response["content"] = {media: {"schema": _build_choice(choices)} for media, choices in found.items()}
    return response


def _build_choice(schemas: list[Json]) -> Json:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _build_schemes(operations: Iterable[Operation]) -> Json:
    used = {scheme for operation in operations for way in operation.security for scheme in _REQUIRED[way]}
    return {scheme: description for scheme, description in _SCHEMES.items() if scheme in used}


def _build_template(pattern: str) -> str:
    return "/".join(f"{{{part[1:]}}}" if part.startswith(":") else part for part in pattern.split("/"))


def _list_parameters(pattern: str) -> list[str]:
    return [part[1:] for part in pattern.split("/") if part.startswith(":")]
