"""The platform as it may behave: the strict fakes of `tests/fakes`, late, failing, stale, and crashing their callers.

Only what Cloudflare permits: KV shows writes within 60 s and never goes back in one place; a call fails before or after its effect; an
object's alarm comes late, again after a failure, and sometimes twice; an object that dies loses its memory alone.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from fakes.binding import Crash, JsError
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.r2 import FakeR2
from simulation.chance import Chance
from simulation.loop import Process, current_process, forever

Outcome = TypeVar("Outcome")

EPOCH_S = 1_800_000_000.0
KV_STALE_S = 60.0


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
        # What was there, and what is there now.
        self.on_put: Callable[[str, Any, Any], None] = lambda _key, _before, _after: None

    async def get(self, key: str, options: dict[str, Any] | None = None) -> Any:
        return await self._call("r2 get", lambda: FakeR2.get(self, key, options))

    async def head(self, key: str) -> Any:
        return await self._call("r2 head", lambda: FakeR2.head(self, key))

    async def put(self, key: str, body: bytes | str, options: dict[str, Any]) -> Any:
        async def store() -> Any:
            before = self._objects.get(key)
            stored = await FakeR2.put(self, key, body, options)
            if stored is not None:
                self.on_put(key, before, await FakeR2.get(self, key))
            return stored

        return await self._call("r2 put", store)

    async def delete(self, keys: list[str]) -> None:
        await self._call("r2 delete", lambda: FakeR2.delete(self, keys))

    async def _call(self, kind: str, work: Callable[[], Awaitable[Outcome]]) -> Outcome:
        return await self._ports.call(kind, work, failure="internal error (10001)")

    def keys_now(self) -> list[str]:
        return sorted(self._objects)

    async def list(self, options: dict[str, Any]) -> dict[str, Any]:
        return await self._call("r2 list", lambda: FakeR2.list(self, options))
