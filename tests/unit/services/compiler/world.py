"""The service over fake bindings, composed as the Worker does it."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.objects import FakeObjects
from fakes.r2 import FakeR2
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.compiler.diagnostics import Notify
from sluice.core.compiler.events import Emit
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.hot_replies import HotReplies
from sluice.services.compiler.cache.list_compiler import ListCompiler, MakeCompiler
from sluice.services.compiler.cache.remote_single_flight import CompilationCalls, CompilationServer
from sluice.services.compiler.cache.single_flight import SingleFlight
from sluice.services.compiler.guard.rate_limit import RecentCounts
from sluice.services.compiler.jobs.sweeper import SweeperCalls
from sluice.services.compiler.limits.metered_download import CompilationMeter
from sluice.services.compiler.limits.turns import CompilationTurns
from sluice.services.compiler.metrics.request_metrics import PendingMetrics
from sluice.services.compiler.parts import IsolateMemory
from sluice.services.compiler.ports import CompilerPorts
from sluice.services.compiler.service import CompilerService
from unit.core.compiler.scripted import Script, ScriptedDownload
from unit.services.compiler.remote_objects import Answering
from unit.services.compiler.service_ports import make_ports, send_to

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


def order(wanted: Configuration | None = None, **more: Any) -> CompileOrder:
    return CompileOrder(**{"configuration": wanted or configuration(), "trigger": "sync", **more})


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
        self.pending_metrics = PendingMetrics()
        self.start()

    def start(self) -> "World":
        """Make everything anew that lives in memory."""
        self.database = D1(self.d1_fake)
        self.bucket = R2(self.r2_fake)
        self.hot_replies = HotReplies(self.clock)
        memory = IsolateMemory(self.hot_replies, self.pending_metrics, CompilationTurns(), RecentCounts())
        self.service = service = Service(self._make_ports(), memory, self._make_compiler)
        self.cache, self.compiler, self.lists = service.list_cache, service.list_compiler, service.lists
        self.spent, self.items, self.jobs = service.spent_fetches, service.items, service.jobs
        self.dead_letters = service.dead_letter_store
        self.count = service.request_metrics.count
        return self

    @property
    def counts(self) -> Counter[tuple[str, str]]:
        """What was counted, by the name of the counter and its label."""
        counters = self.pending_metrics.counters.items()
        return Counter({(name, json.loads(labels)[0]): round(value) for (name, labels), value in counters})

    def _make_ports(self) -> CompilerPorts:
        return make_ports(
            database=self.database,
            bucket=self.bucket,
            compilation_cache=KV(self.kv_fake, self.clock),
            metrics=KV(FakeKV(self.clock), self.clock),
            analytics=self.points,
            send_to_compilation=send_to(FakeObjects(self._make_object)),
            send_to_sweeper=send_to(FakeObjects(lambda _name: Answering(SweeperCalls, self))),
            open_queue=lambda priority: Sent(priority, self.sent),
            background=lambda work: work.close(),
            clock=self.clock,
            log=self.log,
        )

    def _make_object(self, _key: str) -> Answering[CompilationCalls]:
        return Answering(CompilationCalls, CompilationServer(SingleFlight(self.compiler)))

    def _make_compiler(self, emit: Emit, notify: Notify, meter: CompilationMeter) -> FilterCompiler:
        async def download(location: str) -> bytes | str:
            meter.allowance.take()
            return await self.download(location)

        return FilterCompiler(download=download, clock=self.clock, draw=lambda: 0.0, emit=emit, notify=notify)

    async def arm(self) -> None:
        """Stand for the sweeper."""
        self.armed += 1


class Service(CompilerService):
    """The service, whose sources are scripted."""

    def __init__(self, ports: CompilerPorts, memory: IsolateMemory, make_compiler: MakeCompiler) -> None:
        super().__init__(ports, memory)
        self._make_compiler = make_compiler

    @cached_property
    def list_compiler(self) -> ListCompiler:
        return replace(super().list_compiler, make_compiler=self._make_compiler)


@dataclass(frozen=True)
class Sent:
    """A queue whose messages the test looks at."""

    priority: str
    bodies: list[tuple[str, Mapping[str, Any]]]

    async def send(self, body: Any) -> None:
        self.bodies.append((self.priority, body))
