"""Everything a workflow needs, on the strict fakes; it can crash at any operation and continue afterwards."""

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes.binding import Crash, Fake
from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.r2 import FakeR2
from fakes.workflows import FakeStep, FakeWorkflows, NonRetryableError
from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import SluiceError
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2
from sluice.platform.workflows import Steps, Workflows
from sluice.services.compiler.cache.compilation_records import Trigger
from sluice.services.compiler.cache.compiled_list import ListSummary
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.limits.spent_fetches import SpentFetches
from sluice.services.compiler.workflows.batch_items import ItemRunner
from sluice.services.compiler.workflows.event_log import WorkflowEventLog
from sluice.services.compiler.workflows.params_store import ParamsStore
from sluice.services.compiler.workflows.run_reporter import RunReporter
from unit.services.compiler.listeners import ListAnalytics, ListLog

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
        self.calls: list[dict[str, Any]] = []
        self.fetches: list[int] = []
        self.benchmarks: list[str] = []
        self.most_at_once = 0
        self.on_compiled: Callable[[], None] = lambda: None
        self._at_once = 0

    async def __call__(
        self,
        configuration: Configuration,
        *,
        content: Mapping[str, str],
        ttl_s: int,
        trigger: Trigger,
        benchmark: bool = False,
        allowance: FetchAllowance | None = None,
    ) -> ListSummary:
        self.fetches.append(allowance.left if allowance else 0)
        if benchmark:
            self.benchmarks.append(configuration.name)
        self.calls.append({"name": configuration.name, "content": dict(content), "ttl_s": ttl_s, "trigger": trigger})
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
        self.database = D1(self.d1)
        self.metrics = KV(self.kv, self.clock)
        self.bucket = R2(self.r2)
        self.instances = Workflows(self.engine)
        self.event_log = WorkflowEventLog(database=self.database, clock=self.clock)
        self.params_store = ParamsStore(bucket=self.bucket, clock=self.clock)
        self.reporter = RunReporter(
            event_log=self.event_log, published=self.metrics, analytics=self.analytics, log=self.log
        )
        self.spent = SpentFetches(database=self.database, clock=self.clock)
        self.items = ItemRunner(database=self.database, spent=self.spent, compile=self.compiler, clock=self.clock)

    @property
    def fakes(self) -> dict[str, Fake]:
        return {"d1": self.d1, "kv": self.kv, "r2": self.r2, "engine": self.engine, "step": self.step}

    async def finish(self, run: Run) -> dict[str, Any]:
        """Runs, and after each crash runs again with the results of finish steps, as the engine does."""
        while True:
            try:
                return await run(Steps(self.step, NonRetryableError))
            except Crash:
                self.step = FakeStep(self.step.stored)
                await self.on_crash()

    async def on_crash(self) -> None:
        """For tests that look at the state after a crash."""

    async def events(self, workflow_id: str) -> list[dict[str, Any]]:
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
    """Returns points before and after every operation of every fake."""
    for name, count in operations.items():
        for number in range(1, count + 1):
            yield name, number, True
            yield name, number, False


def find_repeated(events: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    """Returns events of steps and of the whole run that were stored twice."""
    counts = Counter((event["type"], event.get("step")) for event in events)
    lasting = ("workflow:st", "workflow:completed", "workflow:failed", "cache:", "health:")
    return [what for what, times in counts.items() if times > 1 and what[0].startswith(lasting)]
