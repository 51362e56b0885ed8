"""The OpenAPI 3.1 document of a Worker: every route, with the models of what it takes and of what it replies."""

from collections.abc import Iterable
from typing import Any, Final

from sluice.web.openapi.docs import SERVICE, Doc, Documentation, Media, Param, ReplyDoc, Security
from sluice.web.openapi.problem_replies import build_problem_responses, list_problem_statuses, response_name
from sluice.web.openapi.schemas import JSON, Schemas
from sluice.web.router import Shape, get_shape

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


def build_document(name: str, version: str, documentation: Documentation, *, about: str = "") -> Json:
    """Return the document as plain values."""
    docs = documentation.values()
    schemas = Schemas(docs)
    paths: dict[str, Json] = {}
    templates: dict[Shape, str] = {}
    for (method, pattern), doc in documentation.items():
        # Two routes of one shape are one path, even if the names of their parameters differ.
        template = templates.setdefault(get_shape(pattern), _build_template(pattern))
        operation = {"operationId": _operation_id(method, pattern), **_build_operation(pattern, doc, template, schemas)}
        paths.setdefault(template, {})[method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": name, "version": version} | ({"description": about} if about else {}),
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in _list_tags(docs)],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": build_problem_responses(
                schemas.problem,
                {status for row in documentation.items() for status in list_problem_statuses(row[0][1], row[1])},
            ),
            "securitySchemes": _build_schemes(docs),
        },
    }


def _list_tags(docs: Iterable[Doc]) -> list[str]:
    """Return each tag once, in the order of the table."""
    return sorted(dict.fromkeys(doc.tag for doc in docs if doc.tag), key=lambda tag: tag == SERVICE)


def _build_operation(pattern: str, doc: Doc, template: str, schemas: Schemas) -> Json:
    operation: Json = {}
    if doc.summary:
        operation["summary"] = doc.summary
    if doc.description:
        operation["description"] = doc.description
    if doc.tag:
        operation["tags"] = [doc.tag]
    if parameters := [*_build_path_parameters(pattern, doc, template), *schemas.query_parameters(doc.query)]:
        operation["parameters"] = parameters
    if doc.body:
        content = {JSON: schemas.body(doc.body, doc.example)}
        operation["requestBody"] = {"required": doc.body_required, "content": content}
    operation["responses"] = _build_responses(pattern, doc, schemas)
    if doc.security:
        operation["security"] = [_REQUIRED[way] for way in doc.security]
    return operation


def _build_path_parameters(pattern: str, doc: Doc, template: str) -> Iterable[Json]:
    names = [part[1:-1] for part in template.split("/") if part.startswith("{")]
    for name, own in zip(names, _parameter_names(pattern), strict=True):
        param = doc.params.get(own, Param(""))
        parameter: Json = {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        if param.choices:
            parameter["schema"] = {"type": "string", "enum": list(param.choices)}
        if param.description:
            parameter["description"] = param.description
        if param.example:
            parameter["example"] = param.example
        yield parameter


def _build_responses(pattern: str, doc: Doc, schemas: Schemas) -> Json:
    responses = {str(status): _build_response(answer, schemas) for status, answer in doc.replies.items()}
    for status in list_problem_statuses(pattern, doc):
        responses.setdefault(str(status), {"$ref": f"#/components/responses/{response_name(status)}"})
    responses["default"] = {"$ref": f"#/components/responses/{response_name(None)}"}
    return responses


def _build_response(answer: ReplyDoc, schemas: Schemas) -> Json:
    response: Json = {"description": answer.description}
    if answer.headers:
        response["headers"] = {
            name: {"description": about, "schema": {"type": "string"}} for name, about in answer.headers.items()
        }
    content: Json = {}
    for each in answer.contents:
        content[each.type if isinstance(each, Media) else JSON] = schemas.content(each)
    return response | ({"content": content} if content else {})


def _build_schemes(docs: Iterable[Doc]) -> Json:
    used = {scheme for doc in docs for way in doc.security for scheme in _REQUIRED[way]}
    return {scheme: description for scheme, description in _SCHEMES.items() if scheme in used}


def _build_template(pattern: str) -> str:
    return "/".join(f"{{{part[1:]}}}" if part.startswith(":") else part for part in pattern.split("/"))


def _parameter_names(pattern: str) -> list[str]:
    return [part[1:] for part in pattern.split("/") if part.startswith(":")]


def _operation_id(method: str, pattern: str) -> str:
    """Return a name such as `getQueueResultsById` for GET /queue/results/:id."""
    words = (f"by-{part[1:]}" if part.startswith(":") else part for part in pattern.split("/"))
    letters = "".join(char if char.isalnum() else "-" for char in "-".join(words))
    return method.lower() + ("".join(word[0].upper() + word[1:] for word in letters.split("-") if word) or "Root")
