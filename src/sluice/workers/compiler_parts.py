"""The parts that the requests, objects and workflows of adblock-compiler share."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Final

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.ports import Log
from sluice.platform.analytics import Analytics
from sluice.platform.background import run_in_background
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import DurableObjects
from sluice.platform.http.streams import discard_stream, inflate_stream
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.r2 import R2
from sluice.platform.worker import open_kv, open_log, read_variables, to_js_object
from sluice.services.compiler.cache.compilation_records import CompilationRecords
from sluice.services.compiler.cache.hot_replies import HotReplies
from sluice.services.compiler.cache.list_cache import ListCache
from sluice.services.compiler.cache.list_compiler import ListCompiler, compiler_factory
from sluice.services.compiler.cache.list_provider import ListProvider
from sluice.services.compiler.cache.remote_single_flight import RemoteSingleFlight
from sluice.services.compiler.http.list_addresses import ListAddresses
from sluice.services.compiler.limits.turns import CompilationTurns
from sluice.services.compiler.metrics.request_metrics import PendingMetrics, RequestMetrics
from sluice.services.compiler.settings import Settings
from sluice.web import Check, Cors

if TYPE_CHECKING:
    from sluice.services.compiler.health.store import HealthStore
    from sluice.services.compiler.jobs.dead_letter_store import DeadLetterStore
    from sluice.services.compiler.jobs.job_store import JobStore
    from sluice.services.compiler.jobs.queue_stats import QueueStats
    from sluice.services.compiler.jobs.sweeper import SweeperStub
    from sluice.services.compiler.limits.spent_fetches import SpentFetches
    from sluice.services.compiler.workflows.batch_items import ItemRunner
    from sluice.services.compiler.workflows.event_log import WorkflowEventLog
    from sluice.services.compiler.workflows.params_store import ParamsStore
    from sluice.services.compiler.workflows.starter import WorkflowStarter

NAME: Final = "adblock-compiler"
CLOCK: Final = SystemClock()
# One of each for all requests of an isolate.
_PENDING: Final = PendingMetrics()
TURNS: Final = CompilationTurns()
HOT_REPLIES: Final = HotReplies(CLOCK)


class CompilerParts:
    """Every part is made when it is first used, so that an invocation makes only what it needs."""

    cors: Cors | None = None

    def __init__(self, env: Any, ctx: Any) -> None:
        self.env = env
        self.ctx = ctx

    @cached_property
    def log(self) -> Log:
        return open_log(NAME)

    @cached_property
    def settings(self) -> Settings:
        return Settings.read(read_variables(self.env))

    @cached_property
    def database(self) -> D1:
        return D1(self.env.DB)

    @cached_property
    def bucket(self) -> R2:
        return R2(self.env.FILTER_STORAGE)

    @cached_property
    def fetcher(self) -> Fetcher:
        return Fetcher(send_request, self.allowed_hosts)

    @cached_property
    def allowed_hosts(self) -> AllowedHosts:
        return AllowedHosts.parse(self.settings.allow_private_hosts)

    @cached_property
    def analytics(self) -> Analytics:
        return Analytics(self.env.ANALYTICS_ENGINE, self.log, to_js_object)

    @cached_property
    def request_metrics(self) -> RequestMetrics:
        return RequestMetrics(
            database=self.database,
            clock=CLOCK,
            pending=_PENDING,
            background=partial(run_in_background, self.ctx),
            analytics=self.analytics,
            log=self.log,
        )

    @cached_property
    def list_cache(self) -> ListCache:
        store = open_kv(self.env, "COMPILATION_CACHE")
        return ListCache(store=store, bucket=self.bucket, clock=CLOCK, log=self.log, forget=HOT_REPLIES.forget)

    @cached_property
    def list_addresses(self) -> ListAddresses:
        return ListAddresses(bucket=self.bucket, inflate=inflate_stream, discard=discard_stream)

    @cached_property
    def records(self) -> CompilationRecords:
        return CompilationRecords(
            database=self.database,
            analytics=self.analytics,
            clock=CLOCK,
            log=self.log,
            count=self.request_metrics.count,
        )

    @cached_property
    def list_compiler(self) -> ListCompiler:
        return ListCompiler(
            make_compiler=compiler_factory(send_request, self.allowed_hosts, CLOCK, random.random),
            turns=TURNS,
            cache=self.list_cache,
            records=self.records,
            clock=CLOCK,
            log=self.log,
        )

    @cached_property
    def lists(self) -> ListProvider:
        return ListProvider(
            compiler=self.list_compiler,
            cache=self.list_cache,
            shared_compiler=RemoteSingleFlight(
                object_named=DurableObjects(self.env.COMPILATIONS).get, compiler=self.list_compiler, log=self.log
            ),
            log=self.log,
            count=self.request_metrics.count,
        )

    @cached_property
    def sweeper(self) -> SweeperStub:
        from sluice.services.compiler.jobs.sweeper import OBJECT_NAME

        return DurableObjects(self.env.JOB_SWEEPER).get(OBJECT_NAME)

    @cached_property
    def jobs(self) -> JobStore:
        from sluice.platform.queues import Producer
        from sluice.services.compiler.jobs.job_store import JobStore
        from sluice.services.compiler.jobs.queue_handler import PriorityQueues

        queues = PriorityQueues(
            high=Producer(self.env.ADBLOCK_COMPILER_QUEUE_HIGH_PRIORITY),
            standard=Producer(self.env.ADBLOCK_COMPILER_QUEUE),
        )
        return JobStore(
            database=self.database,
            bucket=self.bucket,
            send=queues.send,
            arm_sweeper=self.sweeper.arm,
            clock=CLOCK,
            log=self.log,
        )

    @cached_property
    def items(self) -> ItemRunner:
        from sluice.services.compiler.workflows.batch_items import ItemRunner

        return ItemRunner(
            database=self.database, spent=self.spent_fetches, compile=self.lists.ensure_cached, clock=CLOCK
        )

    @cached_property
    def spent_fetches(self) -> SpentFetches:
        from sluice.services.compiler.limits.spent_fetches import SpentFetches

        return SpentFetches(database=self.database, clock=CLOCK)

    @cached_property
    def event_log(self) -> WorkflowEventLog:
        from sluice.services.compiler.workflows.event_log import WorkflowEventLog

        return WorkflowEventLog(database=self.database, clock=CLOCK)

    @cached_property
    def health_store(self) -> HealthStore:
        from sluice.services.compiler.health.store import HealthStore

        return HealthStore(database=self.database, clock=CLOCK)

    @cached_property
    def params_store(self) -> ParamsStore:
        from sluice.services.compiler.workflows.params_store import ParamsStore

        return ParamsStore(bucket=self.bucket, clock=CLOCK)

    @cached_property
    def dead_letter_store(self) -> DeadLetterStore:
        from sluice.services.compiler.jobs.dead_letter_store import DeadLetterStore

        return DeadLetterStore(database=self.database, clock=CLOCK)

    @cached_property
    def queue_stats(self) -> QueueStats:
        from sluice.services.compiler.jobs.queue_stats import QueueStats

        return QueueStats(database=self.database, clock=CLOCK)

    async def purge_copies(self, tags: Sequence[str]) -> bool:
        """Called by the build of a list: only the entry point can purge the cache before it."""
        from sluice.platform.public_cache import open_public_cache

        await open_public_cache(self.ctx).purge(tags)
        return True

    @cached_property
    def starter(self) -> WorkflowStarter:
        from sluice.platform.workflows import Workflows
        from sluice.services.compiler.workflows.starter import WorkflowStarter

        return WorkflowStarter(
            instances={
                "compilation": Workflows(self.env.COMPILATION_WORKFLOW),
                "batch-compilation": Workflows(self.env.BATCH_COMPILATION_WORKFLOW),
                "cache-warming": Workflows(self.env.CACHE_WARMING_WORKFLOW),
                "health-monitoring": Workflows(self.env.HEALTH_MONITORING_WORKFLOW),
            },
            params_store=self.params_store,
            clock=CLOCK,
            new_id=generate_id,
        )

    @cached_property
    def variable_checks(self) -> dict[str, Check]:
        from sluice.services.compiler.workflows.defaults import check_variables

        settings = self.settings
        return check_variables(settings.warm_configurations, settings.health_sources, settings.published_lists)
