"""The routes that every Worker has: its health and its OpenAPI document."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from sluice.web.caching import Sharing, share_reply
from sluice.web.conditional import ETag, apply_conditions
from sluice.web.health import Check, build_health_reply
from sluice.web.messages import Reply, Request
from sluice.web.router import Route

CheckBindings = Callable[[], Awaitable[Mapping[str, Check]]]
# Reads the document that was built for the Worker.
ReadDocument = Callable[[], Awaitable[bytes]]

_DOCUMENT: Final = Sharing(max_age_s=60, tags=("document",))


def add_common_routes(
    routes: Sequence[Route], *, name: str, version: str, check_bindings: CheckBindings, read_document: ReadDocument
) -> list[Route]:
    """Return the routes with GET /health and GET /openapi.json before them."""

    async def show_health(_request: Request) -> Reply:
        return build_health_reply(name, version, await check_bindings())

    async def show_document(request: Request) -> Reply:
        return apply_conditions(request, build_document_reply(await read_document()))

    return [Route("GET", "/health", show_health), Route("GET", "/openapi.json", show_document), *routes]


def build_document_reply(document: bytes) -> Reply:
    """Return the document with its ETag; it changes only with the Worker, whose versions share no copies."""
    headers = (("Content-Type", "application/json"), ("ETag", str(ETag.of(document))))
    return share_reply(Reply(200, headers, document), _DOCUMENT)
