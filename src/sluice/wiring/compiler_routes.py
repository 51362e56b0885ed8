"""Every route of adblock-compiler."""

from functools import partial

from sluice.compiler.service import metrics_api
from sluice.compiler.service.catalog import catalog
from sluice.compiler.service.socket import socket_handler
from sluice.platform.clock import SystemClock
from sluice.platform.sockets import open_socket
from sluice.web import Handler, Route
from sluice.wiring.compiler import CompilerService
from sluice.wiring.compiler_workflows import CompilerWorkflows


def compiler_routes(service: CompilerService) -> list[Route]:
    compiling, queue, workflow = service.compile_api, service.queue_api, CompilerWorkflows(service).api
    return [
        Route("GET", "/api", catalog),
        _measured(service, "/compile", compiling.compile),
        _measured(service, "/compile/batch", compiling.batch),
        _measured(service, "/compile/stream", service.stream_api.stream),
        Route("GET", "/ws/compile", socket_handler(partial(open_socket, ctx=service.ctx), service.converse)),
        _measured(service, "/compile/async", queue.compile),
        _measured(service, "/compile/batch/async", queue.batch),
        Route("GET", "/queue/stats", queue.counts),
        Route("GET", "/queue/history", queue.history),
        Route("GET", "/queue/results/:id", queue.results),
        Route("POST", "/queue/cancel/:id", queue.cancel),
        Route("DELETE", "/queue/cancel/:id", queue.cancel),
        _measured(service, "/workflow/compile", workflow.compile),
        _measured(service, "/workflow/batch", workflow.batch),
        _measured(service, "/workflow/cache-warm", workflow.warm),
        _measured(service, "/workflow/health-check", workflow.check),
        Route("GET", "/workflow/status/:type/:id", workflow.status),
        Route("GET", "/workflow/events/:id", workflow.events),
        Route("GET", "/workflow/metrics", workflow.metrics),
        Route("GET", "/health/latest", workflow.latest),
        *metrics_api.routes(
            service.metrics,
            SystemClock(),
            site_key=service.settings.turnstile_site_key,
            turnstile_enabled=service.turnstile.enabled,
        ),
    ]


def _measured(service: CompilerService, path: str, handler: Handler) -> Route:
    return Route("POST", path, service.metrics.measured(path, handler))
