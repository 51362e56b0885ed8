"""Everything a workflow needs, on the strict fakes; it can crash at any operation and continue afterwards."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fakes.binding import Crash, Fake
from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.r2 import FakeR2
from fakes.workflows import FakeStep, FakeWorkflows, NonRetryableError
from sluice.core.errors import SluiceError
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2
from sluice.platform.workflows import Steps, Workflows
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import ListSummary
from sluice.services.compiler.ports import CompilerPorts
from sluice.services.compiler.service import CompilerService
from sluice.services.compiler.workflows.batch_items import ItemRunner
from sluice.services.compiler.workflows.event_log import WorkflowEvent
from unit.services.compiler.listeners import ListAnalytics, ListLog
from unit.services.compiler.service_ports import make_ports

MIGRATIONS = sorted((Path(__file__).parents[4] / "migrations").glob("*.sql"))

Run = Callable[[Steps], Awaitable[dict[str, Any]]]


def make_database() -> FakeD1:
    database = FakeD1()
    for path in MIGRATIONS:
        database.migrate(path.read_text())
    return database


def configuration(name: str) -> dict[str, Any]:
    return {"name": name, "sources": [{"source": f"https://lists.example/{name}.txt"}]}


class FakeCompiler:
    """Compiles by name: counts compilations and their concurrency, and fails for the names in `failures`."""

    def __init__(self, failures: Mapping[str, SluiceError] | None = None) -> None:
        self.failures = dict(failures or {})
        self.compilations: Counter[str] = Counter()
        self.orders: list[CompileOrder] = []
        self.most_at_once = 0
        self.on_compiled: Callable[[], None] = lambda: None
        self._at_once = 0

    async def __call__(self, order: CompileOrder) -> ListSummary:
        configuration = order.configuration
        self.orders.append(order)
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await ManualClock().sleep(0)
            if failure := self.failures.get(configuration.name):
                raise failure
            self.compilations[configuration.name] += 1
            self.on_compiled()
        finally:
            self._at_once -= 1
        return ListSummary(
            cache_key=f"cache:{configuration.name}",
            name=configuration.name,
            rule_count=7,
            source_count=1,
            compiled_at="2027-01-15T08:00:00.000Z",
            duration_ms=3,
        )


class Service(CompilerService):
    """The service, whose items are compiled by name."""

    def __init__(self, ports: CompilerPorts, compiler: FakeCompiler) -> None:
        super().__init__(ports)
        self._compiler = compiler

    @cached_property
    def items(self) -> ItemRunner:
        return replace(super().items, compile=self._compiler)


@dataclass
class Bench:
    compiler: FakeCompiler = field(default_factory=FakeCompiler)

    def __post_init__(self) -> None:
        self.clock = ManualClock()
        self.d1 = make_database()
        self.kv = FakeKV(self.clock)
        self.r2 = FakeR2(self.clock)
        self.engine = FakeWorkflows()
        self.step = FakeStep()
        self.log, self.analytics = ListLog(), ListAnalytics()
        self.instances = Workflows(self.engine)
        ports = make_ports(
            database=D1(self.d1),
            bucket=R2(self.r2),
            metrics=KV(self.kv, self.clock),
            open_instances=lambda _kind: self.instances,
            analytics=self.analytics,
            clock=self.clock,
            log=self.log,
        )
        self.database, self.metrics, self.bucket = ports.database, ports.metrics, ports.bucket
        self.service = service = Service(ports, self.compiler)
        self.event_log, self.params_store = service.event_log, service.params_store
        self.spent, self.items, self.reporter = service.spent_fetches, service.items, service.workflows.reporter

    @property
    def fakes(self) -> dict[str, Fake]:
        return {"d1": self.d1, "kv": self.kv, "r2": self.r2, "engine": self.engine, "step": self.step}

    async def finish(self, run: Run) -> dict[str, Any]:
        """Run, and after each crash run again with the results of finished steps, as the engine does."""
        while True:
            try:
                return await run(Steps(self.step, NonRetryableError))
            except Crash:
                self.step = FakeStep(self.step.stored)
                await self.on_crash()

    async def on_crash(self) -> None:
        """For tests that look at the state after a crash."""

    async def events(self, workflow_id: str) -> list[WorkflowEvent]:
        log = await self.event_log.read(workflow_id)
        assert log is not None
        return list(log["events"])

    async def types(self, workflow_id: str) -> list[str]:
        return [event["type"] for event in await self.events(workflow_id)]

    async def rows(self, table: str) -> list[dict[str, Any]]:
        return await self.database.all(f"select * from {table}")  # noqa: S608 - a test names it

    async def read_published(self, key: str) -> Any:
        text = await self.metrics.get_text(key)
        return None if text is None else json.loads(text)


def crash_points(operations: Mapping[str, int]) -> Iterator[tuple[str, int, bool]]:
    """Return points before and after every operation of every fake."""
    for name, count in operations.items():
        for number in range(1, count + 1):
            yield name, number, True
            yield name, number, False


def find_repeated(events: list[WorkflowEvent]) -> list[tuple[str, str | None]]:
    """Return events of steps and of the whole run that were stored twice."""
    counts = Counter((event["type"], event.get("step")) for event in events)
    lasting = ("workflow:st", "workflow:completed", "workflow:failed", "cache:", "health:")
    return [what for what, times in counts.items() if times > 1 and what[0].startswith(lasting)]
