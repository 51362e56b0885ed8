"""The OpenAPI 3.1 document of a route table: every route is in it, and its models are those that serve."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from sluice.web.conditional import ETag
from sluice.web.messages import Reply
from sluice.web.openapi.docs import SERVICE, Doc, Media, Param, ReplyDoc, Security
from sluice.web.openapi.problem_replies import build_problem_responses, list_problem_statuses, response_name
from sluice.web.openapi.schemas import JSON, Schemas
from sluice.web.router import Route, Shape

Json = dict[str, Any]

_UNDESCRIBED: Final = Doc(summary="", replies={})
_SCHEMES: Final[dict[str, Json]] = {
    "admin": {"type": "http", "scheme": "bearer", "description": "The operator's token: the variable ADMIN_TOKEN."},
    "signature": {
        "type": "apiKey",
        "in": "header",
        "name": "X-Signature",
        "description": "HMAC-SHA256, in hexadecimal digits, over method, path, time, nonce and the hash of the body.",
    },
    "timestamp": {"type": "apiKey", "in": "header", "name": "X-Timestamp", "description": "Seconds since 1970."},
    "nonce": {"type": "apiKey", "in": "header", "name": "X-Nonce", "description": "Another one for each request."},
}
_REQUIRED: Final[dict[Security, Json]] = {
    "admin": {"admin": []},
    "signed": {"signature": [], "timestamp": [], "nonce": []},
}


def build_openapi_reply(name: str, version: str, routes: Sequence[Route], *, about: str = "") -> Reply:
    """The document as a reply that can be asked for conditionally."""
    reply = Reply.json(build_document(name, version, routes, about=about), headers={"Cache-Control": "no-cache"})
    assert isinstance(reply.body, bytes)  # noqa: S101 - JSON is
    return reply.with_header("ETag", str(ETag.of(reply.body)))


def build_document(name: str, version: str, routes: Sequence[Route], *, about: str = "") -> Json:
    """The whole document, as plain values."""
    schemas = Schemas(doc for route in routes if (doc := route.doc))
    table = [(route, route.doc or _UNDESCRIBED) for route in routes]
    paths: dict[str, Json] = {}
    templates: dict[Shape, str] = {}
    for route, doc in table:
        # Two routes of one shape are one path here, whatever each of them calls its parameters.
        template = templates.setdefault(route.shape, _template(route.pattern))
        paths.setdefault(template, {})[route.method.lower()] = _operation(route, doc, template, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": name, "version": version} | ({"description": about} if about else {}),
        "servers": [{"url": "/"}],
        "tags": [{"name": tag} for tag in _tags(doc for _, doc in table)],
        "paths": paths,
        "components": {
            "schemas": schemas.components,
            "responses": build_problem_responses(
                schemas.problem, {status for row in table for status in list_problem_statuses(*row)}
            ),
            "securitySchemes": _schemes(doc for _, doc in table),
        },
    }


def _tags(docs: Iterable[Doc]) -> list[str]:
    """Each once, in the order of the table."""
    return sorted(dict.fromkeys(doc.tag for doc in docs if doc.tag), key=lambda tag: tag == SERVICE)


def _operation(route: Route, doc: Doc, template: str, schemas: Schemas) -> Json:
    told: Json = {"operationId": _operation_id(route)}
    if doc.summary:
        told["summary"] = doc.summary
    if doc.description:
        told["description"] = doc.description
    if doc.tag:
        told["tags"] = [doc.tag]
    if parameters := [*_path_parameters(route, doc, template), *schemas.query_parameters(doc.query)]:
        told["parameters"] = parameters
    if doc.body:
        content = {JSON: schemas.body(doc.body, doc.example)}
        told["requestBody"] = {"required": doc.body_required, "content": content}
    told["responses"] = _responses(route, doc, schemas)
    if doc.security:
        told["security"] = [_REQUIRED[way] for way in doc.security]
    return told


def _path_parameters(route: Route, doc: Doc, template: str) -> Iterable[Json]:
    names = [part[1:-1] for part in template.split("/") if part.startswith("{")]
    for name, own in zip(names, _parameters(route.pattern), strict=True):
        param = doc.params.get(own, Param(""))
        told: Json = {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        if param.choices:
            told["schema"] = {"type": "string", "enum": list(param.choices)}
        if param.description:
            told["description"] = param.description
        if param.example:
            told["example"] = param.example
        yield told


def _responses(route: Route, doc: Doc, schemas: Schemas) -> Json:
    told = {str(status): _response(answer, schemas) for status, answer in doc.replies.items()}
    for status in list_problem_statuses(route, doc):
        told.setdefault(str(status), {"$ref": f"#/components/responses/{response_name(status)}"})
    told["default"] = {"$ref": f"#/components/responses/{response_name(None)}"}
    return told


def _response(answer: ReplyDoc, schemas: Schemas) -> Json:
    told: Json = {"description": answer.description}
    if answer.headers:
        told["headers"] = {
            name: {"description": about, "schema": {"type": "string"}} for name, about in answer.headers.items()
        }
    content: Json = {}
    for each in answer.contents:
        content[each.type if isinstance(each, Media) else JSON] = schemas.content(each)
    return told | ({"content": content} if content else {})


def _schemes(docs: Iterable[Doc]) -> Json:
    used = {scheme for doc in docs for way in doc.security for scheme in _REQUIRED[way]}
    return {scheme: told for scheme, told in _SCHEMES.items() if scheme in used}


def _template(pattern: str) -> str:
    return "/".join(f"{{{part[1:]}}}" if part.startswith(":") else part for part in pattern.split("/"))


def _parameters(pattern: str) -> list[str]:
    return [part[1:] for part in pattern.split("/") if part.startswith(":")]


def _operation_id(route: Route) -> str:
    """`getQueueResultsById` for GET /queue/results/:id."""
    words = (f"by-{part[1:]}" if part.startswith(":") else part for part in route.pattern.split("/"))
    letters = "".join(char if char.isalnum() else "-" for char in "-".join(words))
    return route.method.lower() + ("".join(word[0].upper() + word[1:] for word in letters.split("-") if word) or "Root")
