"""The compiler composed as in production: isolates, queues, workflows, three kinds of Durable Objects, and the sources."""

import gc
import json
import zlib
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from fakes.queues import FakeMessage
from fakes.workflows import NonRetryableError
from simulation.compiler_parts import CompilerLog, Object, ObjectClass, Points, Service
from simulation.engine import Instance, SimulatedStep, SimulatedWorkflows
from simulation.loop import Died, Process, current_process
from simulation.objects import SimulatedObjects, SimulatedStorage
from simulation.platform import SimulatedClock, SimulatedD1, SimulatedKV, SimulatedR2
from simulation.queues import SimulatedQueue
from simulation.simulation import Simulation, within
from simulation.web import Arrival, Served, SimulatedWeb
from sluice.core.ports import Sql as SqlPort
from sluice.core.variables import Variables
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql, erase_storage
from sluice.platform.failures import translate_errors
from sluice.platform.queues import DeliveredMessage, Producer
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV, WritePacer
from sluice.platform.storage.r2 import R2
from sluice.platform.workflows import Steps, Workflows
from sluice.services.compiler.cache.remote_single_flight import CompilationCalls
from sluice.services.compiler.guard.rate_limit_window import RateLimitCalls
from sluice.services.compiler.jobs.dead_letters import DEAD_LETTER_QUEUE
from sluice.services.compiler.jobs.sweeper import SweeperCalls
from sluice.services.compiler.parts import CompilerObject, IsolateMemory
from sluice.services.compiler.ports import CompilerPorts, ObjectPorts
from sluice.services.compiler.service import CompilerService
from sluice.web import App, Headers, Reply, Request
from sluice.web.messages import Native

MIGRATIONS = sorted((Path(__file__).parents[2] / "migrations").glob("*.sql"))
API = "http://adblock-compiler.localhost"
TOKEN = "the-token-of-the-operator"
ISOLATES = ("worker 1", "worker 2", "worker 3")
SOURCES = tuple(f"https://lists.example/{number}.txt" for number in range(4))
RATE_LIMIT = 12
VARIABLES = {
    "ADMIN_TOKEN": TOKEN,
    "RATE_LIMIT_MAX_REQUESTS": str(RATE_LIMIT),
    "LIST_SOURCE_TIMEOUT_S": "20",
    "WARM_CONFIGURATIONS": json.dumps([{"name": "warm", "sources": [{"source": SOURCES[0]}]}]),
    "HEALTH_SOURCES": json.dumps([{"name": "first", "url": SOURCES[0]}]),
}
_PARTS = {
    "batch-compilation": "batch",
    "cache-warming": "warming",
    "compilation": "compilation",
    "health-monitoring": "health",
    "published-list": "published_list",
}
_SETTLED = """
create table simulated_settled (request_id text, was text, becomes text);
create trigger simulated_settle before update of state, finished_ms, cache_key on compile_jobs when old.finished_ms is not null
begin insert into simulated_settled values (old.request_id, old.state, new.state); end;
"""
UNUSED: Any = None


class Answer(NamedTuple):
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Isolate:
    process: Process
    service: CompilerService
    app: App


@dataclass
class CompilerPlatform:
    simulation: Simulation
    serve: Callable[[Arrival], Awaitable[Served]]
    isolates: dict[str, Isolate] = field(default_factory=dict)
    births: int = 0

    def __post_init__(self) -> None:
        simulation, ports, outside = self.simulation, self.simulation.ports, self.simulation.outside
        if not gc.get_freeze_count():
            gc.freeze()  # each build of a list collects everything, which takes long beside a test run's own objects
        self.cache, self.metrics, self.counts = (SimulatedKV(ports) for _ in range(3))
        self.d1 = SimulatedD1(ports)
        for path in MIGRATIONS:
            self.d1.migrate(path.read_text())
        self.d1.migrate(_SETTLED)
        self.r2 = SimulatedR2(ports)
        self.web = SimulatedWeb(simulation.chance, self.serve)
        self.log = CompilerLog(simulation)
        self.clock = SimulatedClock()
        self.objects = {
            kind: SimulatedObjects(ports, kind, opening, outside, note=simulation.note)
            for kind, opening in (
                ("compilation", self._open_compilation),
                ("rate limit", self._open_rate_limit),
                ("sweeper", self._open_sweeper),
            )
        }
        dead = SimulatedQueue(DEAD_LETTER_QUEUE, ports, outside, self._deliver)
        self.queues = {name: SimulatedQueue(name, ports, outside, self._deliver, dead) for name in ("standard", "high")}
        self.queues["dead"] = dead
        self.workflows = {
            kind: SimulatedWorkflows(
                kind, ports, outside, self._find_process, self._run_instance(kind), simulation.note
            )
            for kind in _PARTS
        }

    # Composition

    def _open_ports(self) -> CompilerPorts:
        def send_to(kind: str) -> Any:
            return DurableObjects(self.objects[kind]).send_to

        return CompilerPorts(
            variables=Variables(VARIABLES.get),
            database=D1(self.d1),
            bucket=R2(self.r2),
            compilation_cache=KV(self.cache, self.clock, WritePacer()),
            metrics=KV(self.metrics, self.clock, WritePacer()),
            rate_limit=KV(self.counts, self.clock, WritePacer()),
            analytics=Points(),
            files=UNUSED,
            send_to_compilation=send_to("compilation"),
            send_to_rate_limit=send_to("rate limit"),
            send_to_sweeper=send_to("sweeper"),
            open_queue=lambda priority: Producer(self.queues[priority]),
            open_instances=lambda kind: Workflows(self.workflows[kind]),
            open_socket=UNUSED,
            purge=self._purge,
            load_lists_file=lambda: "{}",
            inflate=lambda stream, _size: stream,
            discard=lambda _stream: None,
            transport=self.web.transport,
            background=_run_in_background,
            clock=self.clock,
            draw=self.simulation.chance.delays.random,
            new_id=self.simulation.new_id,
            log=self.log,
        )

    async def _purge(self, _tags: Sequence[str]) -> None:
        async def purge() -> None:
            """There is no copy."""

        with translate_errors("purge"):
            await self.simulation.ports.call("purge", purge, failure="Network connection lost.")

    def _open_object(self, storage: SimulatedStorage) -> CompilerObject:
        async def erase() -> None:
            await erase_storage(storage)

        sql: SqlPort = Sql(storage)
        return Object(self._open_ports(), IsolateMemory.begin(self.clock), ObjectPorts(sql, Alarm(storage), erase))

    def _open_compilation(self, _name: str, storage: SimulatedStorage) -> ObjectClass:
        return ObjectClass(CompilationCalls, self._open_object(storage).compilation_server, UNUSED)

    def _open_rate_limit(self, _name: str, storage: SimulatedStorage) -> ObjectClass:
        limit = self._open_object(storage).client_rate_limit
        return ObjectClass(RateLimitCalls, limit, limit.erase_if_over)

    def _open_sweeper(self, _name: str, storage: SimulatedStorage) -> ObjectClass:
        sweeper = self._open_object(storage).job_sweeper
        return ObjectClass(SweeperCalls, sweeper, sweeper.sweep)

    def isolate(self, name: str) -> Isolate:
        """Return the living isolate of this name."""
        found = self.isolates.get(name)
        if found is None or not found.process.alive:
            self.births += 1
            process = Process(f"{name} #{self.births}", "isolate", place=name)
            process.skew_s = found.process.skew_s if found else 0.0
            service = process.run(lambda: Service(self._open_ports(), IsolateMemory.begin(self.clock)))
            app = App(service.routes, on_error=lambda error, _request: self.log.error("request.failed", error))
            self.isolates[name] = found = Isolate(process, service, app)
        return found

    def _find_isolate(self, key: str) -> Isolate:
        return self.isolate(ISOLATES[zlib.crc32(f"{key} {self.births}".encode()) % len(ISOLATES)])

    def _find_process(self, key: str) -> Process:
        return self._find_isolate(key).process

    # What the platform calls

    async def _deliver(self, queue: str, batch: Sequence[FakeMessage]) -> None:
        isolate = self._find_isolate(batch[0].id)
        messages = [DeliveredMessage(each.id, each.body, each.attempts, each) for each in batch]
        try:
            await isolate.process.ask(lambda: isolate.service.queue_handler.handle_batch(queue, messages))
        except Died:
            for each in batch:  # what it said is not known
                each.answer, each.delay_s = None, 0
            raise

    def _run_instance(self, kind: str) -> Callable[[Instance, SimulatedStep], Awaitable[Any]]:
        async def run(instance: Instance, step: SimulatedStep) -> Any:
            service = next(each.service for each in self.isolates.values() if each.process is current_process())
            steps = Steps(step, NonRetryableError)
            return await getattr(service.workflows, _PARTS[kind]).run(instance.id, instance.params, steps)

        return run

    async def run_cron(self, isolate_name: str, cron: str, scheduled_ms: int) -> None:
        isolate = self.isolate(isolate_name)
        try:
            await within(
                self.simulation, isolate.process.ask(lambda: isolate.service.schedule.run(cron, scheduled_ms)), cron
            )
        except Died:
            return
        except Exception as error:  # noqa: BLE001 - the platform notes it
            self.log.error("cron.failed", error)

    async def request(
        self,
        isolate_name: str,
        method: str,
        path: str,
        body: object = None,
        *,
        ip: str = "",
        key: str = "",
        operator: bool = False,
        accept: str = "application/json",
    ) -> Answer | None:
        """Return the answer to a request; None when the connection is lost, whatever the request did."""
        isolate = self.isolate(isolate_name)
        content = json.dumps(body).encode() if body is not None else b""
        headers = {"content-type": "application/json", "accept": accept, "accept-encoding": "gzip"}
        headers |= {"cf-connecting-ip": ip} if ip else {}
        headers |= {"idempotency-key": key} if key else {}
        headers |= {"authorization": f"Bearer {TOKEN}"} if operator else {}

        async def read(_max_bytes: int) -> bytes:
            return content

        async def ask() -> Answer:
            reply = await isolate.app.handle(Request(method, API + path, Headers(headers), read))
            return Answer(reply.status, {name.lower(): value for name, value in reply.headers}, await _read_body(reply))

        try:
            answer = await within(self.simulation, isolate.process.ask(ask), f"{method} {path}")
        except Died:
            return None
        return None if self.simulation.chance.occurs("reply lost", "api") else answer

    def restart(self) -> None:
        """End every process at once; messages that were only in memory are gone."""
        for isolate in self.isolates.values():
            if isolate.process.alive:
                self.simulation.crash(isolate.process, "by a restart")
        for objects in self.objects.values():
            for name in objects.hosts:
                objects.crash(name)
        for queue in self.queues.values():
            queue.lose_all()


def _run_in_background(work: Coroutine[Any, Any, None]) -> None:
    current_process().spawn(work)


async def _read_body(reply: Reply) -> bytes:
    body = reply.body
    if isinstance(body, Native):
        content = bytes(await body.value.arrayBuffer())
    elif isinstance(body, bytes) or body is None:
        content = body or b""
    else:
        content = b"".join([chunk async for chunk in body])  # type: ignore[union-attr]
    is_gzip = any(name.lower() == "content-encoding" and value == "gzip" for name, value in reply.headers)
    return zlib.decompress(content, wbits=31) if is_gzip and content else content
