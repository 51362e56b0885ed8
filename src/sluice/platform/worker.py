"""What every Worker needs of its environment, and how it answers a request."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import js

from sluice import __version__
from sluice.core.errors import SluiceError
from sluice.core.json_log import JsonLog
from sluice.core.json_text import encode_json
from sluice.core.variables import Variables
from sluice.platform.bindings import Binding, LazyBinding, probe
from sluice.platform.clock import SystemClock
from sluice.platform.http.assets import Assets
from sluice.platform.http.conversion import discard_body, to_request, to_response
from sluice.platform.invocation import CurrentInvocation, enter_invocation
from sluice.platform.storage.kv import KV, WritePacer
from sluice.web import App, Cors, Request, Route, build_error_reply
from sluice.web.app import forbid_caching
from sluice.web.common_routes import Check, add_common_routes, check_secrets

if TYPE_CHECKING:
    from sluice.web.clients import ReadLimit

# One pacer for each namespace, shared by all requests of the isolate.
_PACERS: Final[dict[str, WritePacer]] = {}
_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})


def open_kv(env: Any, name: str) -> KV:
    """Return the namespace bound under the name."""
    return KV(LazyBinding(env, name), SystemClock(), _PACERS.setdefault(name, WritePacer()))


def open_log(name: str) -> JsonLog:
    """Return the Worker's log, which writes to the console."""
    writers = {"info": "log", "error": "error"}
    return JsonLog(lambda level, line: getattr(js.console, writers[level])(line), worker=name, clock=SystemClock())


def to_js_object(value: object) -> Any:
    """Return plain values as an object of JavaScript, in one step instead of one for each value."""
    return js.JSON.parse(encode_json(value))


def read_variables(env: Any) -> Variables:
    """Return the Worker's variables and secrets."""
    return Variables(lambda name: getattr(env, name, None))


class RoutedService(Protocol):
    """What a Worker answers requests with."""

    @property
    def routes(self) -> Sequence[Route]: ...
    @property
    def cors(self) -> Cors | None: ...
    @property
    def read_limit(self) -> "ReadLimit": ...


# Takes `env` and `ctx`; may raise SluiceError, because a variable cannot be read.
Compose = Callable[[Any, Any], RoutedService]
CheckMore = Callable[[], Mapping[str, Check]]

# Bindings and variables are the same for all requests of an isolate, so the first one makes what answers them all.
_APPS: Final[dict[Compose, App]] = {}


async def handle_request(
    worker: Any,
    request: Any,
    name: str,
    bindings: Sequence[Binding],
    compose: Compose,
    *,
    check_more: CheckMore = dict,
) -> Any:
    """Answer one request by the Worker's routes, GET /health and GET /openapi.json.

    If the Worker cannot be composed, the reply says which variable is wrong and why. `check_more` returns what /health
    reports besides the bindings and the secrets.
    """
    incoming = to_request(request)
    enter_invocation(worker.ctx)
    try:
        app = _APPS.get(compose) or _build_app(worker.env, name, bindings, compose, check_more)
    except SluiceError as error:
        from sluice.web.problem_pages import negotiate_problem  # noqa: PLC0415 - rare

        _log_failure(name, error, incoming)
        reply = negotiate_problem(build_error_reply(error, instance=incoming.path), incoming, has_home=False)
        return to_response(forbid_caching(reply), worker.ctx)
    reply = await app.handle(incoming)
    if incoming.method not in _WITHOUT_BODY:
        await discard_body(request)
    return to_response(reply, worker.ctx)


def _build_app(env: Any, name: str, bindings: Sequence[Binding], compose: Compose, check_more: CheckMore) -> App:
    async def check_all() -> Mapping[str, Check]:
        return {**await probe(env, bindings), **check_secrets(read_variables(env)), **check_more()}

    site = compose(env, CurrentInvocation())
    table = add_common_routes(
        site.routes,
        name=name,
        version=__version__,
        check_bindings=check_all,
        limit_reads=site.read_limit.limit,
        read_document=lambda: Assets(env).read(f"/openapi/{name}.json"),
    )
    return _APPS.setdefault(compose, App(table, on_error=partial(_log_failure, name), cors=site.cors))


def _log_failure(name: str, error: Exception, request: Request) -> None:
    open_log(name).error("request.failed", error, method=request.method, path=request.path)
