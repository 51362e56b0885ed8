"""The service over fake bindings, composed as the Worker does it."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.r2 import FakeR2
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.compiler.diagnostics import Notify
from sluice.core.compiler.events import Emit
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2
from sluice.services.compiler.cache.compilation_records import CompilationRecords, Trigger
from sluice.services.compiler.cache.handover import StepHandover
from sluice.services.compiler.cache.hot_replies import HotReplies
from sluice.services.compiler.cache.list_cache import ListCache
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.cache.list_provider import ListProvider
from sluice.services.compiler.cache.served_list import ListForm, ServedList
from sluice.services.compiler.cache.single_flight import SingleFlight
from sluice.services.compiler.jobs.dead_letter_store import DeadLetterStore
from sluice.services.compiler.jobs.job_store import JobStore
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.limits.metered_download import Meter
from sluice.services.compiler.limits.spent_fetches import SpentFetches
from sluice.services.compiler.limits.turns import CompilationTurns
from sluice.services.compiler.remote_calls import RemoteReply
from sluice.services.compiler.workflows.batch_items import ItemRunner
from unit.core.compiler.scripted import Script, ScriptedDownload

MIGRATIONS = sorted((Path(__file__).parents[4] / "migrations").glob("*.sql"))
URL = "https://lists.example/a"
LIST = "! comment\n||ads.example^\n||track.example^\n"


class SilentLog:
    """Collects what is logged."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def event(self, name: str, /, **fields: object) -> None:
        self.events.append((name, fields))

    def error(self, name: str, error: BaseException, /, **fields: object) -> None:
        self.events.append((name, {"error": error, **fields}))

    def names(self) -> list[str]:
        return [name for name, _ in self.events]


class Points:
    """Collects the data points."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, event: str, *, blobs: Any = (), doubles: Any = ()) -> None:
        del blobs, doubles
        self.written.append(event)


def configuration(*urls: str, name: str = "T", **more: Any) -> Configuration:
    return parse_configuration({"name": name, "sources": [{"source": url} for url in urls or (URL,)], **more})


class World:
    """All bindings, and the parts that most tests use; `start` makes them anew, as after a restart."""

    def __init__(self, script: Script | None = None, clock: ManualClock | None = None) -> None:
        self.clock = clock or ManualClock()
        self.kv_fake = FakeKV(self.clock)
        self.d1_fake = FakeD1()
        self.r2_fake = FakeR2(self.clock)
        for path in MIGRATIONS:
            self.d1_fake.migrate(path.read_text())
        self.download = ScriptedDownload(script if script is not None else {URL: LIST})
        self.sent: list[tuple[str, Mapping[str, Any]]] = []
        self.armed = 0
        self.log = SilentLog()
        self.points = Points()
        self.counts: Counter[tuple[str, str]] = Counter()
        self.start()

    def start(self) -> "World":
        """Makes everything anew that lives in memory."""
        self.database = D1(self.d1_fake)
        self.bucket = R2(self.r2_fake)
        self.hot_replies = HotReplies(self.clock)
        self.cache = ListCache(
            store=KV(self.kv_fake, self.clock),
            bucket=self.bucket,
            clock=self.clock,
            log=self.log,
            forget=self.hot_replies.forget,
        )
        self.handover = StepHandover(bucket=self.bucket, clock=self.clock)
        self.records = CompilationRecords(
            database=self.database, analytics=self.points, clock=self.clock, log=self.log, count=self.count
        )
        self.compiler = ListCompiler(
            make_compiler=self._make_compiler,
            turns=CompilationTurns(),
            cache=self.cache,
            records=self.records,
            clock=self.clock,
            log=self.log,
        )
        self.single_flights: dict[str, SingleFlight] = {}
        self.lists = ListProvider(
            compiler=self.compiler, cache=self.cache, shared_compiler=self, log=self.log, count=self.count
        )
        self.spent = SpentFetches(database=self.database, clock=self.clock)
        self.dead_letters = DeadLetterStore(database=self.database, clock=self.clock)
        self.items = ItemRunner(
            database=self.database, spent=self.spent, compile=self.lists.ensure_cached, clock=self.clock
        )
        self.jobs = JobStore(
            database=self.database,
            bucket=self.bucket,
            send=self._send,
            arm_sweeper=self._arm_sweeper,
            clock=self.clock,
            log=self.log,
        )
        return self

    def count(self, name: str, label: str) -> None:
        self.counts[name, label] += 1

    def _make_compiler(self, emit: Emit, notify: Notify, meter: Meter) -> FilterCompiler:
        async def download(location: str) -> bytes | str:
            meter.allowance.take()
            return await self.download(location)

        return FilterCompiler(download=download, clock=self.clock, draw=lambda: 0.0, emit=emit, notify=notify)

    async def serve(
        self,
        configuration: Configuration,
        *,
        form: ListForm,
        ttl_s: int,
        trigger: Trigger,
        allowance: FetchAllowance,
        fresh: bool = False,
    ) -> ServedList:
        """Stands for the single-flight objects."""
        key = configuration.model_dump_json()
        single_flight = self.single_flights.setdefault(key, SingleFlight(self.compiler))
        return await single_flight.serve(
            configuration, form=form, ttl_s=ttl_s, trigger=trigger, allowance=allowance, fresh=fresh
        )

    async def _send(self, priority: str, body: Mapping[str, Any]) -> None:
        self.sent.append((priority, body))

    async def _arm_sweeper(self) -> RemoteReply:
        self.armed += 1
        return RemoteReply(result=None, error=None)
