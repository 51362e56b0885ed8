"""adblock-compiler, composed from its bindings."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

from sluice import __version__
from sluice.platform.background import run_in_background
from sluice.platform.durable_objects import DurableObjects
from sluice.platform.http.assets import serve_page
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv
from sluice.services.compiler.guard.guard import Guard
from sluice.services.compiler.guard.rate_limit import KvRateLimit, RateLimiter, RecentCounts
from sluice.services.compiler.guard.turnstile import Turnstile
from sluice.services.compiler.http.compile import CompileApi
from sluice.services.compiler.http.hot_lists import HotListApi
from sluice.services.compiler.http.routes import compiler_routes
from sluice.web import Cors, Handler, Route
from sluice.workers.compiler_parts import CLOCK, HOT_REPLIES, CompilerParts

if TYPE_CHECKING:
    from sluice.services.compiler.http.jobs import QueueApi
    from sluice.services.compiler.http.lists import ListsApi
    from sluice.services.compiler.http.metrics import MetricsApi
    from sluice.services.compiler.http.validate import ValidateApi
    from sluice.services.compiler.http.workflows import WorkflowApi
    from sluice.services.compiler.jobs.queue_handler import QueueHandler
    from sluice.services.compiler.live.socket_api import SocketApi
    from sluice.services.compiler.live.stream import StreamApi
    from sluice.services.compiler.metrics.gauges import Gauges
    from sluice.services.compiler.schedule import Schedule
    from sluice.workers.compiler_lists import CompilerLists

# One for all requests of an isolate.
_RECENT_COUNTS: Final = RecentCounts()
# For each compilation that a client may ask for: an editor validates while one types, and sockets are opened again.
CHEAP_REQUESTS: Final = 3


# Pages of other sites may call it.
PUBLIC_API: Final = Cors(
    origins=("*",),
    allow_headers=("Authorization", "Cache-Control", "Content-Type"),
    expose_headers=("Location", "Retry-After", "X-Cache", "X-Request-Deduplication"),
)


class CompilerWorker(CompilerParts):
    """What handles requests, queue messages and crons."""

    cors = PUBLIC_API

    @cached_property
    def turnstile(self) -> Turnstile:
        return Turnstile(
            secret=self.settings.turnstile_secret,
            fetch=self.fetcher.fetch,
            log=self.log,
            verify_url=self.settings.turnstile_verify_url,
        )

    @cached_property
    def rate_limiter(self) -> RateLimiter:
        background = partial(run_in_background, self.ctx)
        return RateLimiter(
            object_named=lambda client: DurableObjects(self.env.RATE_LIMITER).get(client),
            open_fallback=lambda: KvRateLimit(open_kv(self.env, "RATE_LIMIT"), CLOCK, background),
            clock=CLOCK,
            log=self.log,
            background=background,
            recent=_RECENT_COUNTS,
            max_requests=self.settings.rate_limit_max_requests,
            window_s=self.settings.rate_limit_window_s,
        )

    @cached_property
    def guard(self) -> Guard:
        return Guard(
            limiter=self.rate_limiter,
            turnstile=self.turnstile,
            analytics=self.analytics,
            pepper=self.settings.turnstile_secret,
        )

    @cached_property
    def validate_api(self) -> ValidateApi:
        from sluice.services.compiler.http.validate import ValidateApi

        return ValidateApi(self._open_guard("validate:"))

    def _open_guard(self, scope: str) -> Guard:
        """Returns a guard for what costs less than a compilation, with a limit of its own."""
        from sluice.services.compiler.guard.turnstile import NO_TURNSTILE

        limiter = replace(self.rate_limiter, max_requests=self.settings.rate_limit_max_requests * CHEAP_REQUESTS)
        return Guard(
            limiter=limiter,
            turnstile=NO_TURNSTILE,
            analytics=self.analytics,
            pepper=self.settings.turnstile_secret,
            scope=scope,
        )

    @cached_property
    def queue_handler(self) -> QueueHandler:
        from sluice.services.compiler.jobs.consumer import QueueConsumer
        from sluice.services.compiler.jobs.dead_letters import DeadLetters
        from sluice.services.compiler.jobs.queue_handler import QueueHandler
        from sluice.services.compiler.jobs.queue_stats import ISOLATE_TURN, QueueStatsPublisher

        count = self.request_metrics.count
        dead_letters = DeadLetters(jobs=self.jobs, store=self.dead_letter_store, log=self.log, count=count)
        return QueueHandler(
            consumer=QueueConsumer(
                jobs=self.jobs,
                items=self.items,
                spent=self.spent_fetches,
                dead_letters=dead_letters,
                compile=self.lists.ensure_cached,
                clock=CLOCK,
                log=self.log,
                count=count,
            ),
            dead_letters=dead_letters,
            publisher=QueueStatsPublisher(
                stats=self.queue_stats, published=open_kv(self.env, "METRICS"), log=self.log, turn=ISOLATE_TURN
            ),
        )

    @cached_property
    def schedule(self) -> Schedule:
        from sluice.services.compiler.schedule import Schedule
        from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations

        return Schedule(
            starter=self.starter,
            jobs=self.jobs,
            configurations=partial(warm_configurations, self.settings.warm_configurations),
            sources=partial(health_sources, self.settings.health_sources),
            stores=(
                self.jobs,
                self.dead_letter_store,
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
            log=self.log,
        )

    @cached_property
    def published_lists(self) -> CompilerLists:
        from sluice.workers.compiler_lists import CompilerLists

        return CompilerLists(self.env, self.ctx)

    @cached_property
    def lists_api(self) -> ListsApi:
        return self.published_lists.api

    @cached_property
    def show_page(self) -> Handler:
        return serve_page(self.env, "compiler")

    @cached_property
    def compile_api(self) -> CompileApi:
        return CompileApi(guard=self.guard, lists=self.lists)

    @cached_property
    def hot_list_api(self) -> HotListApi:
        return HotListApi(
            guard=self.guard,
            hot_replies=HOT_REPLIES,
            count=self.request_metrics.count,
            find_compiler=lambda: self.compile_api.compile,
        )

    @cached_property
    def stream_api(self) -> StreamApi:
        from sluice.services.compiler.live.stream import StreamApi

        return StreamApi(
            guard=self.guard, compiler=self.list_compiler, log=self.log, record=self.request_metrics.record
        )

    @cached_property
    def socket_api(self) -> SocketApi:
        from sluice.platform.http.sockets import open_socket
        from sluice.services.compiler.live.socket_api import SocketApi

        return SocketApi(
            open_socket=partial(open_socket, ctx=self.ctx),
            guard=self.guard,
            connections=self._open_guard("socket:"),
            compiler=self.list_compiler,
            clock=CLOCK,
            log=self.log,
            new_id=generate_id,
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
            admin_token=self.settings.admin_token,
            cache=self.list_cache,
            find_workflow_job=partial(find_workflow_job, self.starter),
            clock=CLOCK,
            new_id=generate_id,
            count=self.request_metrics.count,
        )

    @cached_property
    def workflow_api(self) -> WorkflowApi:
        from sluice.platform.workflows import Workflows
        from sluice.services.compiler.http.workflows import WorkflowApi
        from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations

        return WorkflowApi(
            guard=self.guard,
            starter=self.starter,
            builds=Workflows(self.env.PUBLISHED_LIST_WORKFLOW),
            event_log=self.event_log,
            health=self.health_store,
            configurations=partial(warm_configurations, self.settings.warm_configurations),
            sources=partial(health_sources, self.settings.health_sources),
            admin_token=self.settings.admin_token,
            clock=CLOCK,
        )

    @cached_property
    def metrics_api(self) -> MetricsApi:
        from sluice.services.compiler.http.metrics import MetricsApi

        return MetricsApi(metrics=self.request_metrics, load_gauges=self.gauges.load, clock=CLOCK)

    @cached_property
    def gauges(self) -> Gauges:
        from sluice.services.compiler.metrics.gauges import Gauges
        from sluice.services.compiler.workflows.defaults import warm_configurations

        return Gauges(
            database=self.database,
            clock=CLOCK,
            configurations=partial(warm_configurations, self.settings.warm_configurations),
        )

    @cached_property
    def routes(self) -> list[Route]:
        return compiler_routes(self, self.settings)
