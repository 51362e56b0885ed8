"""The preloader composed as in production: isolates in two data centres, a zone's object, an origin, and the cron."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulation.loop import Died, Process, current_process
from simulation.objects import SimulatedObjects, SimulatedStorage
from simulation.platform import (
    SimulatedClock,
    SimulatedD1,
    SimulatedKV,
    SimulatedR2,
    TrueClock,
)
from simulation.simulation import SimulatedLog, Simulation, within
from simulation.web import Arrival, Served, SimulatedWeb
from sluice.core.net.fetch import Fetcher
from sluice.core.ports import Content, FetchResponse, HeaderPairs
from sluice.core.preload.request_signing import sign_request
from sluice.core.remote import Message
from sluice.core.variables import Variables
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql
from sluice.platform.failures import translate_errors
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV, WritePacer
from sluice.platform.storage.r2 import R2
from sluice.services.preload.service import IsolateState, PreloadPorts, PreloadService
from sluice.services.preload.zone.zone_object import ZoneObject
from sluice.web import App, Headers, Reply, Request
from sluice.web.messages import Native
from unit.services.preload.world import FakeEdge, PlainBodies, read_data

MIGRATIONS = sorted((Path(__file__).parents[2] / "migrations").glob("*_preload_*.sql"))
SITE = "https://www.example.com"
API = "http://edge-preload.localhost"
ZONE = "abc123xyz"
KEY = "a-signing-key-of-all-zones"
TOKEN = "the-token-of-the-operator"
ISOLATES = ("paris 1", "paris 2", "tokyo 1")
UNUSED: Any = None


class SimulatedEdge(FakeEdge):
    """The cache of one data centre; what is stored may be gone at any time."""

    def __init__(self, simulation: Simulation) -> None:
        clock: Any = TrueClock()
        super().__init__(clock)
        self._ports = simulation.ports

    async def match(self, url: str) -> Any:
        if self._ports.chance.occurs("evicted", "edge"):
            self.stored.pop(url, None)
        return await self._ports.call("edge match", lambda: FakeEdge.match(self, url))

    async def put(self, url: str, *, status: int, headers: HeaderPairs, content: Any) -> None:
        async def store() -> None:
            data = await read_data(content) if content.data is not None else b""
            await FakeEdge.put(self, url, status=status, headers=headers, content=Content(data, len(data)))

        with translate_errors("edge cache put"):
            await self._ports.call("edge put", store, failure="cache put failed")

    async def delete(self, url: str) -> bool:
        return await self._ports.call("edge delete", lambda: FakeEdge.delete(self, url))

    async def get_text(self, url: str) -> str | None:
        if self._ports.chance.occurs("evicted", "edge text"):
            self.texts.pop(url, None)
        return await self._ports.call("edge text", lambda: FakeEdge.get_text(self, url))

    async def put_text(self, url: str, text: str, *, max_age_s: int) -> None:
        await self._ports.call("edge text", lambda: FakeEdge.put_text(self, url, text, max_age_s=max_age_s))


@dataclass
class Isolate:
    """One isolate of the Worker; after a crash the next one has forgotten everything."""

    process: Process
    service: PreloadService
    app: App


@dataclass
class PreloadPlatform:
    """Everything outside of the service, and how the service is put together over it."""

    simulation: Simulation
    serve: Callable[[Arrival], Awaitable[Served]]
    isolates: dict[str, Isolate] = field(default_factory=dict)
    births: int = 0

    def __post_init__(self) -> None:
        simulation = self.simulation
        self.kv = SimulatedKV(simulation.ports)
        self.d1 = SimulatedD1(simulation.ports)
        for path in MIGRATIONS:
            self.d1.migrate(path.read_text())
        self.r2 = SimulatedR2(simulation.ports)
        self.edges = {"paris": SimulatedEdge(simulation), "tokyo": SimulatedEdge(simulation)}
        self.web = SimulatedWeb(simulation.chance, self.serve)
        self.log = SimulatedLog(simulation)
        self.clock = SimulatedClock()
        self.objects = SimulatedObjects(
            simulation.ports, "zone", self._open_zone, simulation.outside, note=simulation.note
        )

    @property
    def storage(self) -> SimulatedStorage:
        return self.objects.storage(ZONE)

    def _open_zone(self, _name: str, storage: SimulatedStorage) -> "_PreloadQueue":
        return _PreloadQueue(self.open_service("paris", IsolateState()).open_zone(Sql(storage), Alarm(storage)))

    def open_service(self, place: str, remembered: IsolateState) -> PreloadService:
        edge = self.edges[place]
        objects = DurableObjects(self.objects)

        async def send_to_zone(zone_id: str, name: str, message: Message) -> Message:
            answer: Message = await objects.get(zone_id).call(zone_id, name, message)
            return answer

        def defer(work: Awaitable[None]) -> None:
            current_process().spawn(_finish(work))

        ports = PreloadPorts(
            variables=Variables({"SIGNING_KEY": KEY, "ADMIN_TOKEN": TOKEN, "PRELOAD_SUBREQUESTS": "60"}.get),
            version_id="",
            database=D1(self.d1),
            kv=KV(self.kv, self.clock, WritePacer()),
            bucket=R2(self.r2),
            edge=edge,
            edge_texts=edge,
            bodies=PlainBodies(),
            files=UNUSED,
            send_to_zone=send_to_zone,
            open_fetch=lambda allowed: Fetcher(self.web.transport, allowed).fetch,
            open_webhook_fetch=lambda _allowed: _refuse,
            clock=self.clock,
            new_id=self.simulation.new_id,
            defer=defer,
            log=self.log,
        )
        return PreloadService(ports, remembered)

    def isolate(self, name: str) -> Isolate:
        """Return the living isolate of this name."""
        found = self.isolates.get(name)
        if found is None or not found.process.alive:
            self.births += 1
            place = name.partition(" ")[0]
            process = Process(f"isolate {name} #{self.births}", "isolate", place=place)
            process.skew_s = found.process.skew_s if found else 0.0
            service = process.run(lambda: self.open_service(place, IsolateState()))
            app = App(service.routes, on_error=lambda error, _request: self.log.error("request.failed", error))
            self.isolates[name] = found = Isolate(process, service, app)
        return found

    async def visit(self, isolate_name: str, url: str) -> tuple[Reply, bytes] | None:
        """Return the reply that a visitor gets, with its body; None when the isolate dies."""
        isolate = self.isolate(isolate_name)

        async def serve() -> tuple[Reply, bytes]:
            request = Request("GET", url, Headers({"host": "www.example.com", "cf-connecting-ip": "192.0.2.7"}))
            reply: Reply = await isolate.service.serve(
                request, self.web.visit, respond=lambda reply: reply, to_api=UNUSED
            )
            return reply, await _read_body(reply)

        try:
            return await isolate.process.ask(serve)
        except Died:
            return None

    async def call_api(
        self, isolate_name: str, method: str, path: str, body: object, *, sign: bool, nonce: str = ""
    ) -> tuple[int, Any] | None:
        """Return status and JSON of a call to the API; None when the connection is lost, whatever the call did."""
        isolate, content = self.isolate(isolate_name), json.dumps(body).encode() if body is not None else b""
        now = TrueClock().now()
        headers = {"content-type": "application/json"}
        if sign:
            headers |= sign_request(KEY, method, path, content, now=now, nonce=nonce or self.simulation.new_id())
        else:
            headers["authorization"] = f"Bearer {TOKEN}"

        async def read(_max_bytes: int) -> bytes:
            return content

        request = Request(method, API + path, Headers(headers), read)
        chance = self.simulation.chance
        try:
            asked = isolate.process.ask(lambda: isolate.app.handle(request))
            reply = await within(self.simulation, asked, f"{method} {path}")
        except Died:
            return None
        if chance.occurs("reply lost", "api"):
            return None
        return reply.status, json.loads(reply.body) if isinstance(reply.body, bytes) and reply.body else None

    async def run_cron(self) -> None:
        isolate = self.isolate(ISOLATES[0])
        try:
            await isolate.process.ask(isolate.service.cron.run)
        except Died:
            return
        except Exception as error:  # noqa: BLE001 - the platform notes it, and calls again in a minute
            self.log.error("cron.failed", error)


@dataclass
class _PreloadQueue:
    """The object's class, as `src/preload_worker.py` has it."""

    zone: ZoneObject

    async def call(self, zone_id: str, name: str, message: Message) -> Message:
        return await self.zone.call(zone_id, name, message)

    async def alarm(self) -> None:
        await self.zone.handle_alarm()


async def _finish(work: Awaitable[None]) -> None:
    await work


async def _refuse(url: str, **_options: Any) -> FetchResponse:
    return FetchResponse(url, 200, (), b"")


async def _read_body(reply: Reply) -> bytes:
    body = reply.body
    if isinstance(body, Native):
        return body.value if isinstance(body.value, bytes) else bytes(await body.value.arrayBuffer())
    return body if isinstance(body, bytes) else b""
