"""Every route of adblock-compiler."""

from collections.abc import Callable
from functools import partial
from typing import Protocol

from sluice.services.compiler.http.catalog import show_catalog
from sluice.services.compiler.http.compile import CompileApi
from sluice.services.compiler.http.docs import endpoints as docs
from sluice.services.compiler.http.jobs import QueueApi
from sluice.services.compiler.http.metrics import MetricsApi, show_turnstile
from sluice.services.compiler.http.validate import validate_configuration
from sluice.services.compiler.http.workflows import WorkflowApi
from sluice.services.compiler.live.socket_api import SocketApi
from sluice.services.compiler.live.stream import StreamApi
from sluice.services.compiler.metrics.request_metrics import RequestMetrics
from sluice.services.compiler.settings import Settings
from sluice.web import Doc, Handler, Reply, Request, Route
from sluice.web.openapi.common_docs import describe_page


class CompilerApis(Protocol):
    """The parts that handle requests. A part is read when a request needs it, so that it can be made then."""

    @property
    def show_page(self) -> Handler: ...
    @property
    def request_metrics(self) -> RequestMetrics: ...
    @property
    def compile_api(self) -> CompileApi: ...
    @property
    def stream_api(self) -> StreamApi: ...
    @property
    def socket_api(self) -> SocketApi: ...
    @property
    def queue_api(self) -> QueueApi: ...
    @property
    def workflow_api(self) -> WorkflowApi: ...
    @property
    def metrics_api(self) -> MetricsApi: ...


def compiler_routes(apis: CompilerApis, settings: Settings) -> list[Route]:
    def measure(path: str, find_handler: Callable[[], Handler], doc: Doc) -> Route:
        return _route("POST", path, lambda: apis.request_metrics.measure(path, find_handler()), doc)

    return [
        _route("GET", "/", lambda: apis.show_page, describe_page("The compiler in a browser")),
        Route("GET", "/api", show_catalog, doc=docs.CATALOG),
        Route("POST", "/configuration/validate", validate_configuration, doc=docs.VALIDATE),
        measure("/compile", lambda: apis.compile_api.compile, docs.COMPILE_NOW),
        measure("/compile/batch", lambda: apis.compile_api.compile_batch, docs.COMPILE_BATCH),
        measure("/compile/stream", lambda: apis.stream_api.stream, docs.COMPILE_STREAM),
        _route("GET", "/ws/compile", lambda: apis.socket_api.connect, docs.SOCKET),
        measure("/compile/async", lambda: apis.queue_api.submit, docs.COMPILE_ASYNC),
        measure("/compile/batch/async", lambda: apis.queue_api.submit_batch, docs.COMPILE_BATCH_ASYNC),
        _route("GET", "/queue/stats", lambda: apis.queue_api.show_stats, docs.QUEUE_STATS),
        _route("GET", "/queue/history", lambda: apis.queue_api.show_history, docs.QUEUE_HISTORY),
        _route("GET", "/queue/results/:id", lambda: apis.queue_api.show_result, docs.QUEUE_RESULTS),
        _route("POST", "/queue/cancel/:id", lambda: apis.queue_api.cancel, docs.QUEUE_CANCEL),
        _route("DELETE", "/queue/cancel/:id", lambda: apis.queue_api.cancel, docs.QUEUE_CANCEL),
        measure("/workflow/compile", lambda: apis.workflow_api.start_compilation, docs.WORKFLOW_COMPILE),
        measure("/workflow/batch", lambda: apis.workflow_api.start_batch, docs.WORKFLOW_BATCH),
        measure("/workflow/cache-warm", lambda: apis.workflow_api.start_warming, docs.WORKFLOW_WARM),
        measure("/workflow/health-check", lambda: apis.workflow_api.start_health_check, docs.WORKFLOW_CHECK),
        _route("GET", "/workflow/status/:type/:id", lambda: apis.workflow_api.show_status, docs.WORKFLOW_STATUS),
        _route("GET", "/workflow/events/:id", lambda: apis.workflow_api.show_events, docs.WORKFLOW_EVENTS),
        _route("GET", "/workflow/metrics", lambda: apis.workflow_api.show_metrics, docs.WORKFLOW_METRICS),
        _route("GET", "/health/latest", lambda: apis.workflow_api.show_latest_health, docs.LATEST_HEALTH),
        _route("GET", "/metrics", lambda: apis.metrics_api.show_metrics, docs.METRICS),
        _route("GET", "/metrics/prometheus", lambda: apis.metrics_api.show_prometheus, docs.PROMETHEUS),
        Route("GET", "/api/turnstile-config", partial(show_turnstile, settings), doc=docs.TURNSTILE),
    ]


def _route(method: str, path: str, find_handler: Callable[[], Handler], doc: Doc) -> Route:
    async def handle(request: Request) -> Reply:
        return await find_handler()(request)

    return Route(method, path, handle, doc=doc)
