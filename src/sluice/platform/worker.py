"""What every entry module does with a request: wire the routes, answer, log what went wrong."""

from collections.abc import Sequence
from typing import Any, Final

import js

from sluice import __version__
from sluice.platform.bindings import Binding, probe
from sluice.platform.clock import SystemClock
from sluice.platform.kv import KV, Pace
from sluice.platform.log import Log
from sluice.platform.shell import to_request, to_response
from sluice.variables import Variables
from sluice.web import App, Reply, Request, Route, health_reply

# All requests of an isolate keep the same pace.
_PACES: Final[dict[str, Pace]] = {}


def kv_of(env: Any, name: str) -> KV:
    """The namespace bound under a name."""
    return KV(getattr(env, name), SystemClock(), _PACES.setdefault(name, Pace()))


def log_of(name: str) -> Log:
    """The Worker's log, written where `wrangler tail` reads."""
    writers = {"info": js.console.log, "error": js.console.error}
    return Log(lambda level, line: writers[level](line), worker=name, clock=SystemClock())


def variables_of(env: Any) -> Variables:
    """The Worker's variables and secrets."""
    return Variables(lambda name: getattr(env, name, None))


async def answer(
    worker: Any, request: Any, name: str, bindings: Sequence[Binding], routes: Sequence[Route] = ()
) -> Any:
    """Answer one request by the Worker's routes; every Worker has GET /health besides."""

    async def health(_request: Request) -> Reply:
        return health_reply(name, __version__, await probe(worker.env, bindings))

    def on_error(error: Exception, failed: Request) -> None:
        log_of(name).error("request.failed", error, method=failed.method, path=failed.path)

    app = App([Route("GET", "/health", health), *routes], on_error=on_error)
    return to_response(await app.handle(to_request(request)), worker.ctx)
