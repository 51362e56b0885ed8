"""Every route of adblock-compiler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from sluice.services.compiler.settings import Settings
from sluice.web import Handler, Reply, Request, Route
from sluice.web.operations import LazyHandler, Operation, find_operation

if TYPE_CHECKING:
    from sluice.services.compiler.http.compile import CompileApi
    from sluice.services.compiler.http.hot_lists import HotListApi
    from sluice.services.compiler.http.jobs import QueueApi
    from sluice.services.compiler.http.list_addresses import ListAddresses
    from sluice.services.compiler.http.lists import ListsApi
    from sluice.services.compiler.http.metrics import MetricsApi
    from sluice.services.compiler.http.validate import ValidateApi
    from sluice.services.compiler.http.workflows import WorkflowApi
    from sluice.services.compiler.live.socket_api import SocketApi
    from sluice.services.compiler.live.stream import StreamApi
    from sluice.services.compiler.metrics.request_metrics import RequestMetrics
    from sluice.web.clients import ReadLimit


class CompilerApis(Protocol):
    """The parts that handle requests. A part is read when a request needs it, so that it can be made then."""

    @property
    def show_page(self) -> Handler: ...
    @property
    def read_limit(self) -> ReadLimit: ...
    @property
    def request_metrics(self) -> RequestMetrics: ...
    @property
    def validate_api(self) -> ValidateApi: ...
    @property
    def hot_list_api(self) -> HotListApi: ...
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
    @property
    def lists_api(self) -> ListsApi: ...
    @property
    def list_addresses(self) -> ListAddresses: ...


def compiler_routes(apis: CompilerApis, settings: Settings) -> list[Route]:
    def measure(path: str, find: Callable[[], Handler]) -> Route:
        return Route("POST", path, LazyHandler(find, lambda handler: apis.request_metrics.measure(path, handler)))

    def limit(handler: Handler) -> Handler:
        return apis.read_limit.limit(handler)

    def read(path: str, find: Callable[[], Handler]) -> Route:
        return Route("GET", path, LazyHandler(find, limit))

    return [
        _route("GET", "/", lambda: apis.show_page),
        _route("GET", "/api", _find_catalog),
        _route("POST", "/configuration/validate", lambda: apis.validate_api.validate),
        measure("/compile", lambda: apis.hot_list_api.compile),
        measure("/compile/batch", lambda: apis.compile_api.compile_batch),
        _route("POST", "/compile/stream", lambda: apis.stream_api.stream),
        _route("GET", "/ws/compile", lambda: apis.socket_api.connect),
        measure("/compile/async", lambda: apis.queue_api.submit),
        measure("/compile/batch/async", lambda: apis.queue_api.submit_batch),
        read("/queue/stats", lambda: apis.queue_api.show_stats),
        read("/queue/history", lambda: apis.queue_api.show_history),
        _route("GET", "/queue/dead-letters", lambda: apis.queue_api.show_dead_letters),
        read("/queue/results/:id", lambda: apis.queue_api.show_result),
        _route("POST", "/queue/cancel/:id", lambda: apis.queue_api.cancel),
        _route("DELETE", "/queue/cancel/:id", lambda: apis.queue_api.cancel_by_delete),
        measure("/workflow/compile", lambda: apis.workflow_api.start_compilation),
        measure("/workflow/batch", lambda: apis.workflow_api.start_batch),
        measure("/workflow/cache-warm", lambda: apis.workflow_api.start_warming),
        measure("/workflow/health-check", lambda: apis.workflow_api.start_health_check),
        read("/workflow/status/:type/:id", lambda: apis.workflow_api.show_status),
        read("/workflow/events/:id", lambda: apis.workflow_api.show_events),
        read("/workflow/metrics", lambda: apis.workflow_api.show_metrics),
        read("/health/latest", lambda: apis.workflow_api.show_latest_health),
        read("/metrics", lambda: apis.metrics_api.show_metrics),
        read("/metrics/prometheus", lambda: apis.metrics_api.show_prometheus),
        _route("GET", "/api/turnstile-config", lambda: _find_turnstile(settings)),
        read("/lists", lambda: apis.lists_api.show_all),
        Route("GET", "/lists/:name", _ListOrFacts(apis)),
        _route("PUT", "/lists/:name", lambda: apis.lists_api.put),
        _route("DELETE", "/lists/:name", lambda: apis.lists_api.delete),
        _route("POST", "/lists/:name/rebuild", lambda: apis.lists_api.rebuild),
        _route("POST", "/lists/:name/rollback", lambda: apis.lists_api.roll_back),
        read("/lists/:name/versions", lambda: apis.lists_api.show_versions),
        read("/lists/:name/diff", lambda: apis.lists_api.show_difference),
        read("/lists/:name/why", lambda: apis.lists_api.explain),
        read("/lists/:name/overlap", lambda: apis.lists_api.show_overlap),
        _route("GET", "/lists/patches/:id/:file", lambda: _find_patches(apis)),
    ]


@dataclass(frozen=True, slots=True)
class _ListOrFacts:
    """A name with a dot is an address that people subscribe to; a name alone shows the list's facts."""

    apis: CompilerApis

    @property
    def operation(self) -> Operation:
        """What the handler of the facts declares: it covers both, and its module is not needed for an address."""
        return find_operation(_route("GET", "/lists/:name", lambda: self.apis.lists_api.show))

    async def __call__(self, request: Request) -> Reply:
        name, dot, extension = request.params["name"].partition(".")
        if dot:
            reply = await self.apis.list_addresses.serve(request, name, extension)
            return reply or self.apis.lists_api.show_missing(request, name, extension)
        return await self.apis.read_limit.limit(self.apis.lists_api.show)(request)


# Rare, so their modules do not delay the start of the Worker.
def _find_catalog() -> Handler:
    from sluice.services.compiler.http.catalog import show_catalog  # noqa: PLC0415 - rare

    return show_catalog


def _find_patches(apis: CompilerApis) -> Handler:
    from sluice.services.compiler.http.list_patches import serve_patches  # noqa: PLC0415 - rare

    return serve_patches(apis.list_addresses.bucket)


def _find_turnstile(settings: Settings) -> Handler:
    from sluice.services.compiler.http.metrics import serve_turnstile  # noqa: PLC0415 - rare

    return serve_turnstile(settings)


def _route(method: str, path: str, find: Callable[[], Handler]) -> Route:
    return Route(method, path, LazyHandler(find))
