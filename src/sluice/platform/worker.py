"""What every entry module does with a request: wire the routes, answer, log what went wrong."""

import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

import js

from sluice import __version__
from sluice.core.errors import SluiceError
from sluice.core.variables import Variables
from sluice.platform.bindings import Binding, probe
from sluice.platform.clock import SystemClock
from sluice.platform.http.conversion import to_request, to_response
from sluice.platform.log import Log
from sluice.platform.storage.kv import KV, WritePacer
from sluice.web import (
    App,
    Cors,
    Reply,
    Request,
    Route,
    apply_conditions,
    build_error_reply,
    build_health_reply,
    build_openapi_reply,
)
from sluice.web.openapi.common_docs import HEALTH, OPENAPI

# All requests of an isolate keep the same pace.
_PACES: Final[dict[str, WritePacer]] = {}
# The document of the isolate's Worker, once somebody has asked for it.
_DOCUMENTS: Final[dict[str, Reply]] = {}


def open_kv(env: Any, name: str) -> KV:
    """The namespace bound under a name."""
    return KV(getattr(env, name), SystemClock(), _PACES.setdefault(name, WritePacer()))


def open_log(name: str) -> Log:
    """The Worker's log, written where `wrangler tail` reads."""
    writers = {"info": js.console.log, "error": js.console.error}
    return Log(lambda level, line: writers[level](line), worker=name, clock=SystemClock())


def read_variables(env: Any) -> Variables:
    """The Worker's variables and secrets."""
    return Variables(lambda name: getattr(env, name, None))


async def handle_request(
    worker: Any,
    request: Any,
    name: str,
    bindings: Sequence[Binding],
    routes: Sequence[Route] | Callable[[], Sequence[Route]] = (),
    *,
    cors: Cors | None = None,
) -> Any:
    """Answer one request by the Worker's routes; every Worker has GET /health and GET /openapi.json besides.

    Routes that are made by a function may fail to be made: what is wrong with the Worker's variables is then the answer.
    """

    async def health(_request: Request) -> Reply:
        return build_health_reply(name, __version__, await probe(worker.env, bindings))

    async def described(given: Request) -> Reply:
        if name not in _DOCUMENTS:
            _DOCUMENTS[name] = build_openapi_reply(name, __version__, table, about=_about(worker))
        return apply_conditions(given, _DOCUMENTS[name])

    def on_error(error: Exception, failed: Request) -> None:
        open_log(name).error("request.failed", error, method=failed.method, path=failed.path)

    common = [Route("GET", "/health", health, doc=HEALTH), Route("GET", "/openapi.json", described, doc=OPENAPI)]
    given = to_request(request)
    try:
        table = [*common, *(routes() if callable(routes) else routes)]
    except SluiceError as error:  # a variable that cannot be read
        on_error(error, given)
        return to_response(build_error_reply(error, instance=given.path), worker.ctx)
    app = App(table, on_error=on_error, cors=cors)
    return to_response(await app.handle(given), worker.ctx)


def _about(worker: Any) -> str:
    """What the entry module says of itself after the Worker's name."""
    said = (sys.modules[type(worker).__module__].__doc__ or "").partition(": ")[2]
    return said[:1].upper() + said[1:]
