"""adblock-compiler, put together from its ports: what handles requests, queue messages, crons and workflows."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from sluice import __version__
from sluice.core.remote import connect
from sluice.services.compiler.guard.guard import Guard
from sluice.services.compiler.guard.rate_limit import KvRateLimit, RequestRateLimiter
from sluice.services.compiler.guard.rate_limit_window import RateLimitCalls
from sluice.services.compiler.guard.turnstile import Turnstile
from sluice.services.compiler.http.compile import CompileApi
from sluice.services.compiler.http.hot_lists import HotListApi
from sluice.services.compiler.http.list_addresses import ListAddresses
from sluice.services.compiler.http.routes import compiler_routes
from sluice.services.compiler.parts import CompilerParts
from sluice.web import Check, Cors, Handler, Route
from sluice.web.clients import ReadLimit
from sluice.web.common_routes import serve_page

if TYPE_CHECKING:
    from sluice.services.compiler.cron import CompilerCron
    from sluice.services.compiler.http.jobs import QueueApi
    from sluice.services.compiler.http.lists import ListsApi
    from sluice.services.compiler.http.metrics import MetricsApi
    from sluice.services.compiler.http.validate import ValidateApi
    from sluice.services.compiler.http.workflows import WorkflowApi
    from sluice.services.compiler.jobs.queue_handler import QueueHandler
    from sluice.services.compiler.live.socket_api import SocketApi
    from sluice.services.compiler.live.stream import StreamApi
    from sluice.services.compiler.metrics.gauges import Gauges
    from sluice.services.compiler.workflows.workflow_assembly import CompilerWorkflows

# For each compilation that a client may ask for: an editor validates while one types, and sockets are opened again.
CHEAP_REQUESTS: Final = 3


# Pages of other sites may call it.
PUBLIC_API: Final = Cors(
    origins=("*",),
    allow_headers=("Authorization", "Cache-Control", "Content-Type", "Idempotency-Key"),
    expose_headers=("Location", "Retry-After", "X-Cache", "X-Idempotent-Replayed", "X-Request-Deduplication"),
)


class CompilerService(CompilerParts):
    """Requests, queue messages, crons and workflows, each made of the same parts."""

    cors: Cors | None = PUBLIC_API

    @cached_property
    def turnstile(self) -> Turnstile:
        return Turnstile(
            secret=self.settings.turnstile_secret,
            fetch=self.fetcher.fetch,
            log=self.ports.log,
            verify_url=self.settings.turnstile_verify_url,
        )

    @cached_property
    def rate_limiter(self) -> RequestRateLimiter:
        ports = self.ports
        return RequestRateLimiter(
            object_named=lambda client: connect(RateLimitCalls, ports.send_to_rate_limit(client)),
            open_fallback=lambda: KvRateLimit(ports.rate_limit, ports.clock, ports.background),
            clock=self.ports.clock,
            log=self.ports.log,
            background=ports.background,
            recent=self.memory.recent_counts,
            max_requests=self.settings.rate_limit_max_requests,
            window_s=self.settings.rate_limit_window_s,
        )

    @cached_property
    def read_limit(self) -> ReadLimit:
        return ReadLimit(self.ports.clock)

    @cached_property
    def guard(self) -> Guard:
        return Guard(
            limiter=self.rate_limiter,
            turnstile=self.turnstile,
            analytics=self.ports.analytics,
            pepper=self.settings.turnstile_secret,
        )

    @cached_property
    def validate_api(self) -> ValidateApi:
        from sluice.services.compiler.http.validate import ValidateApi

        return ValidateApi(self._open_guard("validate:"))

    def _open_guard(self, scope: str) -> Guard:
        """Return a guard for what costs less than a compilation, with a limit of its own."""
        from sluice.services.compiler.guard.turnstile import NO_TURNSTILE

        limiter = replace(self.rate_limiter, max_requests=self.settings.rate_limit_max_requests * CHEAP_REQUESTS)
        return Guard(
            limiter=limiter,
            turnstile=NO_TURNSTILE,
            analytics=self.ports.analytics,
            pepper=self.settings.turnstile_secret,
            scope=scope,
        )

    @cached_property
    def queue_handler(self) -> QueueHandler:
        from sluice.services.compiler.jobs.consumer import QueueConsumer
        from sluice.services.compiler.jobs.dead_letters import DeadLetterRecorder
        from sluice.services.compiler.jobs.queue_handler import QueueHandler
        from sluice.services.compiler.jobs.queue_stats import ISOLATE_TURN, QueueStatsPublisher

        count = self.request_metrics.count
        dead_letters = DeadLetterRecorder(jobs=self.jobs, store=self.dead_letter_store, log=self.ports.log, count=count)
        return QueueHandler(
            consumer=QueueConsumer(
                jobs=self.jobs,
                items=self.items,
                spent=self.spent_fetches,
                dead_letters=dead_letters,
                compile=self.lists.ensure_cached,
                clock=self.ports.clock,
                log=self.ports.log,
                count=count,
            ),
            dead_letters=dead_letters,
            publisher=QueueStatsPublisher(
                stats=self.queue_stats, published=self.ports.metrics, log=self.ports.log, turn=ISOLATE_TURN
            ),
        )

    @cached_property
    def schedule(self) -> CompilerCron:
        from sluice.services.compiler.cron import CompilerCron
        from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations

        return CompilerCron(
            starter=self.starter,
            jobs=self.jobs,
            configurations=partial(warm_configurations, self.settings.warm_configurations),
            sources=partial(health_sources, self.settings.health_sources),
            stores=(
                self.jobs,
                self.dead_letter_store,
                self.keys,
                self.spent_fetches,
                self.records,
                self.items,
                self.list_cache,
                self.event_log,
                self.health_store,
                self.request_metrics,
                self.published_lists.list_store,
            ),
            run_due_lists=self.published_lists.operator.run_due,
            log=self.ports.log,
        )

    @cached_property
    def workflows(self) -> CompilerWorkflows:
        from sluice.services.compiler.workflows.workflow_assembly import CompilerWorkflows

        return CompilerWorkflows(self)

    @cached_property
    def lists_api(self) -> ListsApi:
        return self.published_lists.api

    @cached_property
    def show_page(self) -> Handler:
        return serve_page(self.ports.files, "compiler", "The compiler in a browser")

    @cached_property
    def compile_api(self) -> CompileApi:
        return CompileApi(guard=self.guard, lists=self.lists)

    @cached_property
    def hot_list_api(self) -> HotListApi:
        return HotListApi(
            guard=self.guard,
            hot_replies=self.memory.hot_replies,
            count=self.request_metrics.count,
            find_compiler=lambda: self.compile_api.compile,
        )

    @cached_property
    def stream_api(self) -> StreamApi:
        from sluice.services.compiler.live.stream import StreamApi

        return StreamApi(
            guard=self.guard, compiler=self.list_compiler, log=self.ports.log, record=self.request_metrics.record
        )

    @cached_property
    def socket_api(self) -> SocketApi:
        from sluice.services.compiler.live.open_sockets import THIS_ISOLATE
        from sluice.services.compiler.live.socket_api import SocketApi

        return SocketApi(
            open_socket=self.ports.open_socket,
            open_sockets=THIS_ISOLATE,
            guard=self.guard,
            connections=self._open_guard("socket:"),
            compiler=self.list_compiler,
            clock=self.ports.clock,
            log=self.ports.log,
            new_id=self.ports.new_id,
            version=__version__,
        )

    @cached_property
    def queue_api(self) -> QueueApi:
        from sluice.services.compiler.http.jobs import QueueApi
        from sluice.services.compiler.workflows.workflow_jobs import find_workflow_job

        return QueueApi(
            guard=self.guard,
            jobs=self.jobs,
            items=self.items,
            stats=self.queue_stats,
            dead_letters=self.dead_letter_store,
            operators=self.operators,
            cache=self.list_cache,
            find_workflow_job=partial(find_workflow_job, self.starter),
            keys=self.keys,
            clock=self.ports.clock,
            count=self.request_metrics.count,
        )

    @cached_property
    def workflow_api(self) -> WorkflowApi:
        from sluice.services.compiler.http.workflows import WorkflowApi
        from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations
        from sluice.services.compiler.workflows.starter import PUBLISHED_LIST

        return WorkflowApi(
            guard=self.guard,
            starter=self.starter,
            builds=self.find_instances(PUBLISHED_LIST),
            event_log=self.event_log,
            health=self.health_store,
            configurations=partial(warm_configurations, self.settings.warm_configurations),
            sources=partial(health_sources, self.settings.health_sources),
            keys=self.keys,
            operators=self.operators,
            clock=self.ports.clock,
        )

    @cached_property
    def metrics_api(self) -> MetricsApi:
        from sluice.services.compiler.http.metrics import MetricsApi

        return MetricsApi(metrics=self.request_metrics, load_gauges=self.gauges.load, clock=self.ports.clock)

    @cached_property
    def gauges(self) -> Gauges:
        from sluice.services.compiler.metrics.gauges import Gauges
        from sluice.services.compiler.workflows.defaults import warm_configurations

        return Gauges(
            database=self.ports.database,
            clock=self.ports.clock,
            configurations=partial(warm_configurations, self.settings.warm_configurations),
        )

    @cached_property
    def list_addresses(self) -> ListAddresses:
        return ListAddresses(bucket=self.ports.bucket, inflate=self.ports.inflate, discard=self.ports.discard)

    @cached_property
    def variable_checks(self) -> dict[str, Check]:
        from sluice.services.compiler.workflows.defaults import check_variables

        settings = self.settings
        return check_variables(settings.warm_configurations, settings.health_sources, settings.published_lists)

    @cached_property
    def routes(self) -> list[Route]:
        return compiler_routes(self, self.settings)
