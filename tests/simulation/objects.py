"""Durable Objects as they may behave: one process for each, which may die alone, and alarms that come late, again and twice."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from fakes.binding import Crash, JsError
from fakes.objects import FakeStorage, _Remote
from simulation.loop import Died, Process, current_process
from simulation.platform import EPOCH_S, Ports

ALARM_RETRIES = 6


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
