"""The service over fake bindings, put together as the wiring does it."""

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
from sluice.services.compiler.cache.cache import Handover, ResultCache
from sluice.services.compiler.cache.compilations import Compilations
from sluice.services.compiler.cache.provider import Desk
from sluice.services.compiler.cache.records import Records
from sluice.services.compiler.cache.single_flight import Flown, Form, SingleFlight
from sluice.services.compiler.jobs.jobs import Jobs
from sluice.services.compiler.workflows.items import Items
from unit.core.compiler.scripted import Script, ScriptedDownload

MIGRATIONS = sorted((Path(__file__).parents[4] / "migrations").glob("*.sql"))
URL = "https://lists.example/a"
LIST = "! comment\n||ads.example^\n||track.example^\n"


class SilentLog:
    """Keeps what was told."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, object]]] = []

    def event(self, name: str, /, **fields: object) -> None:
        self.events.append((name, fields))

    def error(self, name: str, error: BaseException, /, **fields: object) -> None:
        self.events.append((name, {"error": error, **fields}))

    def names(self) -> list[str]:
        return [name for name, _ in self.events]


class Points:
    """Keeps the data points."""

    def __init__(self) -> None:
        self.written: list[str] = []

    def write(self, event: str, *, blobs: Any = (), doubles: Any = ()) -> None:
        del blobs, doubles
        self.written.append(event)


def configuration(*urls: str, name: str = "T", **more: Any) -> Configuration:
    return parse_configuration({"name": name, "sources": [{"source": url} for url in urls or (URL,)], **more})


class World:
    """All bindings, and the parts that most tests use; `again` is the same world after a restart."""

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
        """Everything that lives in memory begins anew."""
        self.database = D1(self.d1_fake)
        self.bucket = R2(self.r2_fake)
        self.cache = ResultCache(store=KV(self.kv_fake, self.clock), bucket=self.bucket, clock=self.clock, log=self.log)
        self.handover = Handover(bucket=self.bucket, clock=self.clock)
        self.records = Records(
            database=self.database, analytics=self.points, clock=self.clock, log=self.log, count=self.count
        )
        self.compilations = Compilations(
            make_compiler=self._compiler, cache=self.cache, records=self.records, clock=self.clock, log=self.log
        )
        self.flights: dict[str, SingleFlight] = {}
        self.desk = Desk(
            compilations=self.compilations, cache=self.cache, flights=self._fly, log=self.log, count=self.count
        )
        self.items = Items(database=self.database, compile=self.desk.one, clock=self.clock)
        self.jobs = Jobs(
            database=self.database,
            bucket=self.bucket,
            send=self._send,
            arm=self._arm,
            clock=self.clock,
            log=self.log,
        )
        return self

    def count(self, name: str, label: str) -> None:
        self.counts[name, label] += 1

    def _compiler(self, emit: Emit, notify: Notify) -> FilterCompiler:
        return FilterCompiler(download=self.download, clock=self.clock, draw=lambda: 0.0, emit=emit, notify=notify)

    async def _fly(self, configuration: Configuration, *, form: Form, ttl_s: int, path: str) -> Flown:
        flight = self.flights.setdefault(configuration.model_dump_json(), SingleFlight(self.compilations))
        return await flight.take(configuration, form=form, ttl_s=ttl_s, path=path)

    async def _send(self, priority: str, body: Mapping[str, Any]) -> None:
        self.sent.append((priority, body))

    async def _arm(self) -> None:
        self.armed += 1
