"""The news pipeline composed as in production: updater, processor, two isolates of the API, the state object and two run locks."""

import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from fakes.binding import JsError
from simulation.loop import Died, Process
from simulation.objects import SimulatedObjects, SimulatedStorage
from simulation.platform import SimulatedClock, SimulatedKV
from simulation.simulation import SimulatedLog, Simulation, within
from simulation.web import Arrival, Served, SimulatedWeb
from sluice.core.remote import Message, answer_calls, connect
from sluice.core.variables import Variables
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql
from sluice.platform.storage.kv import KV, WritePacer
from sluice.services.news.collect.service import NewsUpdaterService
from sluice.services.news.ports import RunPorts
from sluice.services.news.process.service import NewsProcessorPorts, NewsProcessorService
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.serve.service import NewsApiPorts, NewsApiService
from sluice.services.news.serve.stored_snapshot import SnapshotMemory
from sluice.services.news.state.assembly import NewsStatePorts, build_news_state
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.services.news.state.state_object import NewsState
from sluice.web import App, Headers, Reply, Request

FEEDS = ("https://feed.example/rss", "https://other.example/rss")
MAX_ATTEMPTS = 5
VARIABLES = {
    "NEWS_FEEDS": ",".join(FEEDS),
    "MAX_CONTENT_FETCH_ATTEMPTS": str(MAX_ATTEMPTS),
    "MAX_ARTICLES_PER_RUN": "2",
    "RETRY_DELAY_S": "60",
}
WORKERS = ("updater", "processor", "api 1", "api 2")
UNUSED: Any = None


@dataclass
class _StateObject:
    """The object's class, as `src/news_state.py` has it."""

    state: NewsState

    async def call(self, name: str, message: Message) -> Message:
        return await answer_calls(RemoteNewsState)(self.state, name, message)

    async def alarm(self) -> None:
        await self.state.handle_alarm()


@dataclass
class _LockObject:
    """The object's class, as `src/news_objects.py` has it."""

    lock: RunLock

    async def call(self, name: str, message: Message) -> Message:
        return await answer_calls(RunLock)(self.lock, name, message)

    async def alarm(self) -> None:
        """Never set."""


class _NoCache:
    """Keeps no copies in front of the API."""

    async def purge(self, tags: Iterable[str]) -> None:
        """There is nothing to purge."""


@dataclass
class NewsPlatform:
    simulation: Simulation
    serve: Callable[[Arrival], Awaitable[Served]]
    isolates: dict[str, Process] = field(default_factory=dict)
    memories: dict[Process, SnapshotMemory] = field(default_factory=dict)
    pacers: dict[Process, WritePacer] = field(default_factory=dict)
    births: int = 0

    def __post_init__(self) -> None:
        simulation = self.simulation
        self.clock = SimulatedClock()
        self.kv = SimulatedKV(simulation.ports)
        self.snapshots = SimulatedKV(simulation.ports)
        self.log = SimulatedLog(simulation)
        self.web = SimulatedWeb(simulation.chance, self.serve)
        self.states = SimulatedObjects(
            simulation.ports, "state", self._open_state, simulation.outside, note=simulation.note
        )
        self.locks = SimulatedObjects(simulation.ports, "lock", _open_lock, simulation.outside, note=simulation.note)

    def _open_state(self, _name: str, storage: SimulatedStorage) -> _StateObject:
        ports = NewsStatePorts(
            variables=Variables(lambda _name: None),
            sql=Sql(storage),
            alarm=Alarm(storage),
            articles=KV(self.kv, self.clock, WritePacer()),
            snapshots=KV(self.snapshots, self.clock, WritePacer()),
            transport=self.web.transport,
            new_id=self.simulation.new_id,
            clock=self.clock,
            log=self.log,
        )
        return _StateObject(build_news_state(ports))

    @property
    def remote_state(self) -> RemoteNewsState:
        return connect(RemoteNewsState, DurableObjects(self.states).send_to("news"))

    def isolate(self, name: str) -> Process:
        """Return the living isolate of this Worker."""
        found = self.isolates.get(name)
        if found is None or not found.alive:
            self.births += 1
            self.isolates[name] = process = Process(f"{name} #{self.births}", "isolate", place=name)
            process.skew_s = found.skew_s if found else 0.0
            self.memories[process], self.pacers[process] = SnapshotMemory(), WritePacer()
        return self.isolates[name]

    def _run_ports(self, worker: str, process: Process) -> dict[str, Any]:
        return {
            "variables": Variables(VARIABLES.get),
            "articles": KV(self.kv, self.clock, self.pacers[process]),
            "state": self.remote_state,
            "lock": connect(RunLock, DurableObjects(self.locks).send_to(worker)),
            "transport": self.web.transport,
            "new_id": self.simulation.new_id,
            "clock": self.clock,
            "log": self.log,
        }

    async def run_updater(self) -> Any:
        process = self.isolate("updater")
        service = NewsUpdaterService(RunPorts(**self._run_ports("updater", process)))
        return await self._run(process, service.updater.run)

    async def run_processor(self) -> Any:
        process = self.isolate("processor")
        ports = NewsProcessorPorts(**self._run_ports("processor", process), run_model=None, refresher=_Api(self))
        service = NewsProcessorService(ports)
        return await self._run(process, service.processor.run)

    async def _run(self, process: Process, work: Callable[[], Awaitable[Any]]) -> Any:
        """Run a cron handler; the platform notes an error, and calls again next time."""
        try:
            return await within(self.simulation, process.ask(work), f"a run of {process.name}")
        except Died:
            return None
        except Exception as error:  # noqa: BLE001 - as the platform does
            self.log.error("run.failed", error)
            return None

    def _open_api(self, process: Process) -> NewsApiService:
        return NewsApiService(
            NewsApiPorts(
                variables=Variables(lambda _name: None),
                articles=KV(self.kv, self.clock, self.pacers[process]),
                snapshots=KV(self.snapshots, self.clock, self.pacers[process]),
                memory=self.memories[process],
                state=self.remote_state,
                cache=_NoCache(),
                files=UNUSED,
                clock=self.clock,
                log=self.log,
            )
        )

    async def refresh(self, name: str) -> bool:
        process = self.isolate(name)
        return await process.ask(self._open_api(process).refresh.run)

    async def read(self, name: str, path: str) -> tuple[int, Any] | None:
        """Return status and JSON of a reply of the API; None when the isolate dies."""
        process = self.isolate(name)
        app = App(self._open_api(process).routes, on_error=lambda error, _request: self.log.error("failed", error))
        request = Request("GET", f"http://worker-api.localhost{path}", Headers({}))
        try:
            reply: Reply = await within(self.simulation, process.ask(lambda: app.handle(request)), path)
        except Died:
            return None
        return reply.status, json.loads(reply.body) if isinstance(reply.body, bytes) and reply.body else None


@dataclass
class _Api:
    """worker-api as the processor reaches it."""

    platform: NewsPlatform

    async def refresh(self) -> bool:
        objects: Any = _ApiBinding(self.platform)
        done: bool = await DurableObjects(objects).get("worker-api").refresh()
        return done


@dataclass
class _ApiBinding:
    platform: NewsPlatform

    def getByName(self, _name: str) -> Any:  # noqa: N802 - as bound
        return self

    async def refresh(self) -> bool:
        async def ask() -> bool:
            try:
                return await self.platform.refresh("api 1")
            except Died:
                raise JsError("Network connection lost.") from None

        return await self.platform.simulation.ports.call("rpc api", ask, failure="Network connection lost.")


def _open_lock(_name: str, storage: SimulatedStorage) -> _LockObject:
    return _LockObject(RunLock(Sql(storage)))
