"""The platform as it may behave: the strict fakes of `tests/fakes`, late, failing, stale, and crashing their callers.

Only what Cloudflare permits: KV shows writes within 60 s and never goes back in one place; a call fails before or after its effect; an
object's alarm comes late, again after a failure, and sometimes twice; an object that dies loses its memory alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from fakes.binding import Crash, JsError
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.objects import FakeStorage, _Remote
from fakes.r2 import FakeR2
from simulation.chance import Chance
from simulation.loop import Died, Process, current_process, forever

Outcome = TypeVar("Outcome")

EPOCH_S = 1_800_000_000.0
KV_STALE_S = 60.0
ALARM_RETRIES = 6


class SimulatedClock:
    """The clock of whoever asks: milliseconds, with the skew of its process."""

    def now(self) -> float:
        skew_s = current_process().skew_s
        return int((EPOCH_S + asyncio.get_running_loop().time() + skew_s) * 1000) / 1000

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(max(0.0, seconds))


class TrueClock:
    """The time by which the platform itself keeps its promises."""

    def now(self) -> float:
        return EPOCH_S + asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


@dataclass
class Ports:
    """Takes every call to the platform: how long it takes, whether it fails, whether its caller survives it."""

    chance: Chance
    crash: Callable[[Process, str], None] = lambda process, _why: process.kill()
    calls: int = 0

    async def call(self, kind: str, work: Callable[[], Awaitable[Outcome]], *, failure: str = "") -> Outcome:
        """Make a call; `failure` is the message with which it may fail."""
        process, chance = current_process(), self.chance
        if not process.alive:
            raise Crash(f"{process.name} is dead")
        self.calls += 1
        await asyncio.sleep(chance.delay())
        if chance.occurs("slow", kind):
            await asyncio.sleep(chance.amount("slow", 0.5, 12.0))
        if failure and chance.occurs("failure", kind):
            raise JsError(failure)
        self._maybe_crash(process, f"before {kind}")
        if not process.alive:
            await forever()
        result = await work()
        if failure and chance.occurs("lost answer", kind):
            raise JsError(failure)
        self._maybe_crash(process, f"after {kind}")
        if not process.alive:
            await forever()
        await asyncio.sleep(chance.delay())
        return result

    def _maybe_crash(self, process: Process, where: str) -> None:
        if process.kind in {"isolate", "object"} and self.chance.occurs(f"crash of {process.kind}", where, scale=0.3):
            self.crash(process, where)


class SimulatedKV(FakeKV):
    """Each place sees a key as it was up to 60 s ago, and never as it was before what it saw last."""

    def __init__(self, ports: Ports) -> None:
        super().__init__(TrueClock())
        self._ports = ports
        self._seen: dict[tuple[str, str], float] = {}
        self.on_write: Callable[[str], None] = lambda _key: None

    async def get(self, key: str | list[str], kind: str = "text") -> Any:
        return await self._read("kv get", key if isinstance(key, str) else key[0], lambda: FakeKV.get(self, key, kind))

    async def getWithMetadata(self, key: str, kind: str = "text") -> dict[str, Any]:  # noqa: N802 - as bound
        return await self._read("kv get", key, lambda: FakeKV.getWithMetadata(self, key, kind))

    async def put(self, key: str, value: str | bytes, options: dict[str, Any] | None = None) -> None:
        self.on_write(key)
        failure = "KV PUT failed: 503 Service Unavailable"
        await self._ports.call("kv put", lambda: FakeKV.put(self, key, value, options), failure=failure)

    async def delete(self, key: str) -> None:
        self.on_write(key)
        failure = "KV DELETE failed: 503 Service Unavailable"
        await self._ports.call("kv delete", lambda: FakeKV.delete(self, key), failure=failure)

    async def _read(self, kind: str, subject: str, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
        async def look() -> Outcome:
            now, place = self._clock.now(), (current_process().place, subject)
            stale_s = self._ports.chance.amount("stale", 0, KV_STALE_S) if self._is_stale() else 0.0
            self._seen[place] = seen = max(self._seen.get(place, 0.0), now - stale_s)
            self.stale_s = now - seen
            try:
                return await work()
            finally:
                self.stale_s = 0

        return await self._ports.call(kind, look, failure="KV GET failed: 503 Service Unavailable")

    def _is_stale(self) -> bool:
        return self._ports.chance.occurs("stale kv", "get", scale=10)

    def read_now(self, key: str) -> str | None:
        """Return what was written last, for the checks."""
        entry = self._visible(key)
        return None if entry is None else entry.value.decode()

    def list_now(self) -> list[str]:
        return [key for key in sorted(self._history) if self._visible(key) is not None]

    async def list(self, options: dict[str, Any]) -> dict[str, Any]:
        return await self._read("kv list", f"list {options.get('prefix', '')}", lambda: FakeKV.list(self, options))


class SimulatedD1(FakeD1):
    def __init__(self, ports: Ports) -> None:
        super().__init__()
        self._ports = ports

    async def batch(self, statements: list[Any]) -> list[dict[str, Any]]:
        failure = "D1_ERROR: Network connection lost."
        return await self._ports.call("d1 batch", lambda: FakeD1.batch(self, statements), failure=failure)

    async def run_one(self, statement: Any) -> dict[str, Any]:
        failure = "D1_ERROR: Network connection lost."
        return await self._ports.call("d1 query", lambda: FakeD1.run_one(self, statement), failure=failure)

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Return rows, for the checks."""
        return self._engine.execute(sql, [])


class SimulatedR2(FakeR2):
    def __init__(self, ports: Ports) -> None:
        super().__init__(TrueClock())
        self._ports = ports

    async def get(self, key: str, options: dict[str, Any] | None = None) -> Any:
        return await self._call("r2 get", lambda: FakeR2.get(self, key, options))

    async def head(self, key: str) -> Any:
        return await self._call("r2 head", lambda: FakeR2.head(self, key))

    async def put(self, key: str, body: bytes | str, options: dict[str, Any]) -> Any:
        return await self._call("r2 put", lambda: FakeR2.put(self, key, body, options))

    async def delete(self, keys: list[str]) -> None:
        await self._call("r2 delete", lambda: FakeR2.delete(self, keys))

    async def _call(self, kind: str, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
        return await self._ports.call(kind, work, failure="internal error (10001)")

    def keys_now(self) -> list[str]:
        return sorted(self._objects)

    async def list(self, options: dict[str, Any]) -> dict[str, Any]:
        return await self._call("r2 list", lambda: FakeR2.list(self, options))


class AlarmedObject(Protocol):
    async def call(self, *arguments: Any) -> Any: ...
    async def alarm(self) -> None: ...


class SimulatedStorage(FakeStorage):
    """Refuses a dead object, and rings its alarm."""

    def __init__(self, on_alarm: Callable[[], None]) -> None:
        super().__init__()
        self._on_alarm = on_alarm

    @contextmanager
    def operation(self, name: str, subject: str = "") -> Iterator[None]:
        if not current_process().alive:
            raise Crash(f"{current_process().name} is dead")
        self.operations.clear()  # nobody looks at them, and a run has very many
        with super().operation(name, subject):
            yield

    async def setAlarm(self, at_ms: int) -> None:  # noqa: N802 - as bound
        await super().setAlarm(at_ms)
        self._on_alarm()

    def rows(self, sql: str) -> list[dict[str, Any]]:
        """Return rows, for the checks."""
        return self.engine.execute(sql, [])


@dataclass
class _Host:
    storage: SimulatedStorage
    process: Process | None = None
    target: Any = None
    is_ringing: bool = False
    failures: int = 0
    births: int = 0


@dataclass
class SimulatedObjects:
    """The Durable Objects of one class: `open` makes the object of a name over its storage, in a process of its own."""

    ports: Ports
    kind: str
    open: Callable[[str, SimulatedStorage], AlarmedObject]
    outside: Process
    hosts: dict[str, _Host] = field(default_factory=dict)
    note: Callable[[str], None] = lambda _text: None

    def getByName(self, name: str) -> "_Stub":  # noqa: N802 - as bound
        return _Stub(self, name)

    def storage(self, name: str) -> SimulatedStorage:
        return self._host(name).storage

    def process(self, name: str) -> Process | None:
        return self._host(name).process

    def crash(self, name: str) -> None:
        host = self._host(name)
        if host.process is not None and host.process.alive:
            self.note(f"{host.process.name} dies")
            host.process.kill()

    async def invoke(self, name: str, method: str, arguments: tuple[Any, ...]) -> Any:
        """Make one call to an object; it may get lost before or after."""

        async def ask() -> Any:
            process, target = self._wake(name)
            try:
                return await process.ask(lambda: getattr(_Remote(target), method)(*arguments))
            except Died:
                raise JsError("Durable Object reset because its isolate is gone") from None

        return await self.ports.call(f"rpc {self.kind}", ask, failure="Network connection lost.")

    def _host(self, name: str) -> _Host:
        if name not in self.hosts:
            storage = SimulatedStorage(lambda: self._schedule(name))
            self.hosts[name] = _Host(storage)
        return self.hosts[name]

    def _wake(self, name: str) -> tuple[Process, Any]:
        host = self._host(name)
        if host.process is None or not host.process.alive:
            host.births += 1
            skew_s = host.process.skew_s if host.process else 0.0
            host.process = Process(f"{self.kind} {name} #{host.births}", "object", place=self.kind)
            host.process.skew_s = skew_s
            host.target = host.process.run(lambda: self.open(name, host.storage))
        return host.process, host.target

    def _schedule(self, name: str) -> None:
        host = self._host(name)
        if host.storage.alarm_ms is None or host.is_ringing:
            return
        skew_s = host.process.skew_s if host.process else 0.0
        due_s = host.storage.alarm_ms / 1000 - EPOCH_S - skew_s
        chance, loop = self.ports.chance, asyncio.get_running_loop()
        if chance.occurs("late alarm", self.kind):
            due_s = max(due_s, loop.time()) + chance.amount("late alarm", 1, 60)
        self.outside.run(lambda: loop.call_at(max(due_s, loop.time() + 0.001), self._ring_if_due, name))

    def _ring_if_due(self, name: str) -> None:
        host, now = self._host(name), asyncio.get_running_loop().time()
        skew_s = host.process.skew_s if host.process else 0.0
        if host.is_ringing or host.storage.alarm_ms is None:
            return
        if host.storage.alarm_ms / 1000 - EPOCH_S - skew_s > now + 0.002:
            return
        host.is_ringing = True
        self.outside.spawn(self._ring(name, host))

    async def _ring(self, name: str, host: _Host) -> None:
        """Ring; a handler that fails or dies is called again, later each time."""
        host.storage.alarm_ms = None
        try:
            process, target = self._wake(name)
            await process.ask(target.alarm)
            if self.ports.chance.occurs("alarm twice", self.kind):
                await process.ask(target.alarm)
            host.failures = 0
        except Exception as error:  # noqa: BLE001 - as the platform does
            host.failures += 1
            self.note(f"the alarm of {name} fails: {error!r}")
            if host.failures <= ALARM_RETRIES:
                await asyncio.sleep(2.0**host.failures)
                if host.storage.alarm_ms is None:
                    host.storage.alarm_ms = int((EPOCH_S + asyncio.get_running_loop().time()) * 1000)
        finally:
            host.is_ringing = False
            self._schedule(name)


class _Stub:
    def __init__(self, objects: SimulatedObjects, name: str) -> None:
        self._objects = objects
        self._name = name

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        async def call(*arguments: Any) -> Any:
            return await self._objects.invoke(self._name, method, arguments)

        return call
