"""The static files that are deployed with a Worker."""

from typing import Any, Final

from sluice.core.errors import NotFound
from sluice.platform.failures import translate_errors
from sluice.web.caching import Sharing, share_reply
from sluice.web.messages import Reply, Request
from sluice.web.router import Handler

# The binding reads only the path of the URL.
_HOST = "https://assets.invalid"
# A page and its scripts change together, with the next deployment; a browser keeps them for a minute only.
_FILE: Final = Sharing(max_age_s=60, tags=("file",))


def serve_page(env: Any, name: str) -> Handler:
    """Return a handler that replies with the page of this name."""

    async def show(_request: Request) -> Reply:
        with translate_errors(f"page {name!r}"):
            return share_reply(Reply.passthrough(await env.ASSETS.fetch(f"{_HOST}/{name}")), _FILE)

    return show


def serve_file(env: Any) -> Handler:
    """Return a handler that replies with the file at the request's path; for a Worker that runs before its assets."""

    async def show(request: Request) -> Reply:
        with translate_errors(f"file {request.path!r}"):
            response = await env.ASSETS.fetch(f"{_HOST}{request.path}")
        if response.status == 404:
            raise NotFound(f"nothing is served at {request.path}")
        return share_reply(Reply.passthrough(response), _FILE)

    return show


async def read_file(env: Any, path: str) -> bytes:
    """Return the content of a file."""
    with translate_errors(f"file {path!r}"):
        response = await env.ASSETS.fetch(f"{_HOST}{path}")
        if response.status == 404:
            raise NotFound(f"the file {path} was not built: run ./scripts/setup and deploy again")
        content: bytes = await response.bytes()
    return content
