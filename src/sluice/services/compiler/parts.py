"""The parts that the requests, objects, crons and workflows of adblock-compiler share, made of its ports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.ports import Clock
from sluice.core.remote import connect
from sluice.services.compiler.cache.compilation_records import CompilationRecords
from sluice.services.compiler.cache.hot_replies import HotReplies
from sluice.services.compiler.cache.list_cache import ListCache
from sluice.services.compiler.cache.list_compiler import ListCompiler, compiler_factory
from sluice.services.compiler.cache.list_provider import ListProvider
from sluice.services.compiler.cache.remote_single_flight import CompilationCalls, CompilationServer, RemoteSingleFlight
from sluice.services.compiler.cache.single_flight import SingleFlight
from sluice.services.compiler.guard.rate_limit import RecentCounts
from sluice.services.compiler.guard.rate_limit_window import ClientRateLimit, RateLimitWindow
from sluice.services.compiler.limits.turns import CompilationTurns
from sluice.services.compiler.metrics.request_metrics import PendingMetrics, RequestMetrics
from sluice.services.compiler.ports import CompilerPorts, Instances, InstanceStatus, ObjectPorts
from sluice.services.compiler.settings import Settings

if TYPE_CHECKING:
    from sluice.services.compiler.guard.idempotency import IdempotencyKeys
    from sluice.services.compiler.health.store import HealthStore
    from sluice.services.compiler.jobs.dead_letter_store import DeadLetterStore
    from sluice.services.compiler.jobs.job_store import JobStore
    from sluice.services.compiler.jobs.queue_stats import QueueStats
    from sluice.services.compiler.jobs.sweeper import Sweeper
    from sluice.services.compiler.limits.spent_fetches import SpentFetches
    from sluice.services.compiler.published.published_lists import PublishedListParts
    from sluice.services.compiler.workflows.batch_items import ItemRunner
    from sluice.services.compiler.workflows.event_log import WorkflowEventLog
    from sluice.services.compiler.workflows.params_store import ParamsStore
    from sluice.services.compiler.workflows.starter import WorkflowStarter
    from sluice.web.admin import OperatorGate


@dataclass(frozen=True, slots=True)
class IsolateMemory:
    """What all requests of an isolate share."""

    hot_replies: HotReplies
    pending_metrics: PendingMetrics
    turns: CompilationTurns
    recent_counts: RecentCounts

    @classmethod
    def begin(cls, clock: Clock) -> Self:
        return cls(HotReplies(clock), PendingMetrics(), CompilationTurns(), RecentCounts())


@dataclass(frozen=True, slots=True)
class _InstancesOf:
    ports: CompilerPorts
    workflow: str

    async def create(self, instance_id: str, params: object) -> None:
        await self.ports.open_instances(self.workflow).create(instance_id, params)

    async def status(self, instance_id: str) -> InstanceStatus:
        return await self.ports.open_instances(self.workflow).status(instance_id)


class CompilerParts:
    """The shared parts; each is made when it is first used, so that an invocation makes only what it needs."""

    def __init__(self, ports: CompilerPorts, memory: IsolateMemory | None = None) -> None:
        self.ports = ports
        self.memory = memory or IsolateMemory.begin(ports.clock)

    @cached_property
    def settings(self) -> Settings:
        return Settings.read(self.ports.variables)

    @cached_property
    def allowed_hosts(self) -> AllowedHosts:
        return AllowedHosts.parse(self.settings.allow_private_hosts)

    @cached_property
    def operators(self) -> OperatorGate:
        from sluice.web.admin import OperatorGate

        return OperatorGate(self.settings.admin_token, self.ports.clock)

    @cached_property
    def fetcher(self) -> Fetcher:
        return Fetcher(self.ports.transport, self.allowed_hosts)

    @cached_property
    def request_metrics(self) -> RequestMetrics:
        ports = self.ports
        return RequestMetrics(
            database=ports.database,
            clock=ports.clock,
            pending=self.memory.pending_metrics,
            background=ports.background,
            analytics=ports.analytics,
            log=ports.log,
        )

    @cached_property
    def list_cache(self) -> ListCache:
        ports = self.ports
        return ListCache(
            store=ports.compilation_cache,
            bucket=ports.bucket,
            clock=ports.clock,
            log=ports.log,
            forget=self.memory.hot_replies.forget,
        )

    @cached_property
    def records(self) -> CompilationRecords:
        ports = self.ports
        return CompilationRecords(
            database=ports.database,
            analytics=ports.analytics,
            clock=ports.clock,
            log=ports.log,
            count=self.request_metrics.count,
        )

    @cached_property
    def list_compiler(self) -> ListCompiler:
        ports = self.ports
        return ListCompiler(
            make_compiler=compiler_factory(ports.transport, self.allowed_hosts, ports.clock, ports.draw),
            turns=self.memory.turns,
            cache=self.list_cache,
            records=self.records,
            clock=ports.clock,
            log=ports.log,
        )

    @cached_property
    def lists(self) -> ListProvider:
        return ListProvider(
            compiler=self.list_compiler,
            cache=self.list_cache,
            shared_compiler=RemoteSingleFlight(
                object_named=lambda key: connect(CompilationCalls, self.ports.send_to_compilation(key)),
                compiler=self.list_compiler,
                log=self.ports.log,
            ),
            log=self.ports.log,
            count=self.request_metrics.count,
        )

    async def _arm_sweeper(self) -> None:
        from sluice.services.compiler.jobs.sweeper import OBJECT_NAME, SweeperCalls

        await connect(SweeperCalls, self.ports.send_to_sweeper(OBJECT_NAME)).arm()

    @cached_property
    def jobs(self) -> JobStore:
        from sluice.services.compiler.jobs.job_store import JobStore
        from sluice.services.compiler.jobs.queue_handler import PriorityQueues

        ports = self.ports
        return JobStore(
            database=ports.database,
            bucket=ports.bucket,
            send=PriorityQueues(ports.open_queue).send,
            arm_sweeper=self._arm_sweeper,
            clock=ports.clock,
            log=ports.log,
        )

    @cached_property
    def items(self) -> ItemRunner:
        from sluice.services.compiler.workflows.batch_items import ItemRunner

        return ItemRunner(
            database=self.ports.database,
            spent=self.spent_fetches,
            compile=self.lists.ensure_cached,
            clock=self.ports.clock,
        )

    @cached_property
    def spent_fetches(self) -> SpentFetches:
        from sluice.services.compiler.limits.spent_fetches import SpentFetches

        return SpentFetches(database=self.ports.database, clock=self.ports.clock)

    @cached_property
    def event_log(self) -> WorkflowEventLog:
        from sluice.services.compiler.workflows.event_log import WorkflowEventLog

        return WorkflowEventLog(database=self.ports.database, clock=self.ports.clock)

    @cached_property
    def health_store(self) -> HealthStore:
        from sluice.services.compiler.health.store import HealthStore

        return HealthStore(database=self.ports.database, clock=self.ports.clock)

    @cached_property
    def params_store(self) -> ParamsStore:
        from sluice.services.compiler.workflows.params_store import ParamsStore

        return ParamsStore(bucket=self.ports.bucket, clock=self.ports.clock)

    @cached_property
    def dead_letter_store(self) -> DeadLetterStore:
        from sluice.services.compiler.jobs.dead_letter_store import DeadLetterStore

        return DeadLetterStore(database=self.ports.database, clock=self.ports.clock)

    @cached_property
    def queue_stats(self) -> QueueStats:
        from sluice.services.compiler.jobs.queue_stats import QueueStats

        return QueueStats(database=self.ports.database, clock=self.ports.clock)

    @cached_property
    def published_lists(self) -> PublishedListParts:
        from sluice.services.compiler.published.published_lists import PublishedListParts

        return PublishedListParts(self)

    def find_instances(self, workflow: str) -> Instances:
        """Return the instances of a workflow; the binding is opened when it is used."""
        return _InstancesOf(self.ports, workflow)

    @cached_property
    def starter(self) -> WorkflowStarter:
        from sluice.services.compiler.workflows.starter import PREFIXES, WorkflowStarter

        return WorkflowStarter(
            instances={kind: self.find_instances(kind) for kind in PREFIXES},
            params_store=self.params_store,
            clock=self.ports.clock,
        )

    @cached_property
    def keys(self) -> IdempotencyKeys:
        from sluice.services.compiler.guard.idempotency import IdempotencyKeys

        ports = self.ports
        return IdempotencyKeys(database=ports.database, clock=ports.clock, new_id=ports.new_id, log=ports.log)


class CompilerObject(CompilerParts):
    """What the Durable Objects do: each kind uses one of these parts."""

    def __init__(self, ports: CompilerPorts, memory: IsolateMemory, own: ObjectPorts) -> None:
        super().__init__(ports, memory)
        self._own = own

    @cached_property
    def compilation_server(self) -> CompilationServer:
        return CompilationServer(SingleFlight(self.list_compiler))

    @cached_property
    def client_rate_limit(self) -> ClientRateLimit:
        return ClientRateLimit(RateLimitWindow(self._own.sql, self.ports.clock), self._own.alarm, self._own.erase)

    @cached_property
    def job_sweeper(self) -> Sweeper:
        from sluice.services.compiler.jobs.sweeper import THIS_ISOLATE, Sweeper

        return Sweeper(self.jobs, self._own.alarm, self.ports.clock, THIS_ISOLATE)
