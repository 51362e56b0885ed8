"""The routes that every Worker has: its health and its OpenAPI document."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from sluice.web.conditional import apply_conditions
from sluice.web.health import Check, build_health_reply
from sluice.web.messages import Reply, Request
from sluice.web.openapi.common_docs import HEALTH, OPENAPI
from sluice.web.openapi.document import build_openapi_reply
from sluice.web.router import Route

CheckBindings = Callable[[], Awaitable[Mapping[str, Check]]]


def add_common_routes(
    routes: Sequence[Route],
    *,
    name: str,
    version: str,
    about: str,
    check_bindings: CheckBindings,
    documents: dict[str, Reply],
) -> list[Route]:
    """Return the routes with GET /health and GET /openapi.json before them.

    `documents` keeps the document from one request to the next, by the Worker's name: it takes long to build.
    """

    async def show_health(_request: Request) -> Reply:
        return build_health_reply(name, version, await check_bindings())

    async def show_document(request: Request) -> Reply:
        if name not in documents:
            documents[name] = build_openapi_reply(name, version, table, about=about)
        return apply_conditions(request, documents[name])

    table = [
        Route("GET", "/health", show_health, doc=HEALTH),
        Route("GET", "/openapi.json", show_document, doc=OPENAPI),
        *routes,
    ]
    return table
