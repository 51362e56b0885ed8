"""Static pages that lie beside the Worker."""

from typing import Any

from sluice.core.errors import NotFound
from sluice.platform.failures import translate_errors
from sluice.web.messages import Reply, Request
from sluice.web.router import Handler

# The binding looks at the path alone.
_HOST = "https://assets.invalid"


def serve_page(env: Any, name: str) -> Handler:
    """Answers with the page of that name, as the platform serves it."""

    async def show(_request: Request) -> Reply:
        with translate_errors(f"page {name!r}"):
            return Reply.passthrough(await env.ASSETS.fetch(f"{_HOST}/{name}"))

    return show


def serve_file(env: Any) -> Handler:
    """Answers with the file of the path asked for: for a Worker that stands before its assets."""

    async def show(request: Request) -> Reply:
        with translate_errors(f"file {request.path!r}"):
            found = await env.ASSETS.fetch(f"{_HOST}{request.path}")
        if found.status == 404:
            raise NotFound(f"nothing is served at {request.path}")
        return Reply.passthrough(found)

    return show
