"""Every route of adblock-compiler."""

from functools import partial

from sluice.platform.clock import SystemClock
from sluice.platform.http.assets import serve_page
from sluice.platform.http.sockets import open_socket
from sluice.services.compiler.http import metrics as metrics_api
from sluice.services.compiler.http.catalog import catalog
from sluice.services.compiler.http.docs import endpoints as docs
from sluice.services.compiler.http.validate import validate
from sluice.services.compiler.live.socket import socket_handler
from sluice.web import Doc, Handler, Route
from sluice.web.openapi.common_docs import describe_page
from sluice.workers.compiler import CompilerService
from sluice.workers.compiler_workflows import CompilerWorkflows


def compiler_routes(service: CompilerService) -> list[Route]:
    compiling, queue, workflow = service.compile_api, service.queue_api, CompilerWorkflows(service).api
    talking = socket_handler(partial(open_socket, ctx=service.ctx), service.converse)
    return [
        Route("GET", "/", serve_page(service.env, "compiler"), doc=describe_page("The compiler in a browser")),
        Route("GET", "/api", catalog, doc=docs.CATALOG),
        Route("POST", "/configuration/validate", validate, doc=docs.VALIDATE),
        _measured(service, "/compile", compiling.compile, docs.COMPILE_NOW),
        _measured(service, "/compile/batch", compiling.batch, docs.COMPILE_BATCH),
        _measured(service, "/compile/stream", service.stream_api.stream, docs.COMPILE_STREAM),
        Route("GET", "/ws/compile", talking, doc=docs.SOCKET),
        _measured(service, "/compile/async", queue.compile, docs.COMPILE_LATER),
        _measured(service, "/compile/batch/async", queue.batch, docs.COMPILE_BATCH_LATER),
        Route("GET", "/queue/stats", queue.counts, doc=docs.QUEUE_COUNTS),
        Route("GET", "/queue/history", queue.history, doc=docs.QUEUE_HISTORY),
        Route("GET", "/queue/results/:id", queue.results, doc=docs.QUEUE_RESULTS),
        Route("POST", "/queue/cancel/:id", queue.cancel, doc=docs.QUEUE_CANCEL),
        Route("DELETE", "/queue/cancel/:id", queue.cancel, doc=docs.QUEUE_CANCEL),
        _measured(service, "/workflow/compile", workflow.compile, docs.WORKFLOW_COMPILE),
        _measured(service, "/workflow/batch", workflow.batch, docs.WORKFLOW_BATCH),
        _measured(service, "/workflow/cache-warm", workflow.warm, docs.WORKFLOW_WARM),
        _measured(service, "/workflow/health-check", workflow.check, docs.WORKFLOW_CHECK),
        Route("GET", "/workflow/status/:type/:id", workflow.status, doc=docs.WORKFLOW_STATUS),
        Route("GET", "/workflow/events/:id", workflow.events, doc=docs.WORKFLOW_EVENTS),
        Route("GET", "/workflow/metrics", workflow.metrics, doc=docs.WORKFLOW_METRICS),
        Route("GET", "/health/latest", workflow.latest, doc=docs.LATEST_HEALTH),
        *metrics_api.routes(
            service.metrics,
            SystemClock(),
            site_key=service.settings.turnstile_site_key,
            turnstile_enabled=service.turnstile.enabled,
        ),
    ]


def _measured(service: CompilerService, path: str, handler: Handler, doc: Doc) -> Route:
    return Route("POST", path, service.metrics.measured(path, handler), doc=doc)
