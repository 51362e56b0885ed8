"""What every Worker needs of its environment, and how it answers a request."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import js

from sluice import __version__
from sluice.core.errors import SluiceError
from sluice.core.json_log import JsonLog
from sluice.core.variables import Variables
from sluice.platform.bindings import Binding, probe
from sluice.platform.clock import SystemClock
from sluice.platform.http.assets import read_file
from sluice.platform.http.conversion import to_request, to_response
from sluice.platform.storage.kv import KV, WritePacer
from sluice.web import App, Cors, Request, Route, build_error_reply
from sluice.web.common_routes import add_common_routes

# One pacer for each namespace, shared by all requests of the isolate.
_PACERS: Final[dict[str, WritePacer]] = {}


def open_kv(env: Any, name: str) -> KV:
    """Return the namespace bound under the name."""
    return KV(getattr(env, name), SystemClock(), _PACERS.setdefault(name, WritePacer()))


def open_log(name: str) -> JsonLog:
    """Return the Worker's log, which writes to the console."""
    writers = {"info": js.console.log, "error": js.console.error}
    return JsonLog(lambda level, line: writers[level](line), worker=name, clock=SystemClock())


def read_variables(env: Any) -> Variables:
    """Return the Worker's variables and secrets."""
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
    """Answer one request by the Worker's routes, GET /health and GET /openapi.json.

    `routes` may be a function. If it raises, because a variable cannot be read, the reply says which one and why.
    """

    def on_error(error: Exception, failed: Request) -> None:
        open_log(name).error("request.failed", error, method=failed.method, path=failed.path)

    incoming = to_request(request)
    try:
        own_routes = routes() if callable(routes) else routes
    except SluiceError as error:
        on_error(error, incoming)
        return to_response(build_error_reply(error, instance=incoming.path), worker.ctx)
    table = add_common_routes(
        own_routes,
        name=name,
        version=__version__,
        check_bindings=lambda: probe(worker.env, bindings),
        read_document=lambda: read_file(worker.env, f"/openapi/{name}.json"),
    )
    app = App(table, on_error=on_error, cors=cors)
    return to_response(await app.handle(incoming), worker.ctx)
