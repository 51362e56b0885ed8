"""A zone that crashes at any operation of its storage, as the platform lets it: a step without an await takes effect as a whole."""

import asyncio
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

from fakes.binding import Crash, Fake
from fakes.kv import FakeKV
from fakes.objects import FakeStorage
from sluice.core.ports import Content, HeaderPairs
from sluice.platform.storage.kv import KV
from sluice.services.preload.ports import CachedResponse
from sluice.services.preload.purge_lists.purge_reader import PurgeMemory
from unit.services.preload.world import ZONE, FakeEdge, World


class Steps(Fake):
    """All operations in one order. After the crash nothing has an effect any more, until the next start."""

    def __init__(self) -> None:
        super().__init__()
        self.is_dead = False

    @contextmanager
    def operation(self, name: str, subject: str = "") -> Generator[None]:
        if self.is_dead:
            raise Crash("the isolate is gone")
        try:
            with super().operation(name, subject):
                yield
        except Crash:
            self.is_dead = True
            raise


class TurnStorage(FakeStorage):
    """Statements without an await between them are stored together, as the platform promises: a crash leaves none of them."""

    def __init__(self, steps: Steps) -> None:
        super().__init__()
        self._steps = steps
        self._is_open = False

    @contextmanager
    def operation(self, name: str, subject: str = "") -> Iterator[None]:
        if name == "sql":
            self._begin(subject)
            yield
            return
        self.end_turn()
        with self._steps.operation(name, subject):
            yield

    def _begin(self, subject: str) -> None:
        """Begin a step, which counts as one operation."""
        if not self._is_open:
            with self._steps.operation("step", subject):
                self.engine.begin()
                self._is_open = True
            asyncio.get_running_loop().call_soon(self.end_turn)

    def end_turn(self) -> None:
        if self._is_open:
            self._is_open = False
            self.engine.commit()

    def roll_back(self) -> None:
        if self._is_open:
            self._is_open = False
            self.engine.rollback()

    def transactionSync(self, work: Callable[[], object]) -> None:  # noqa: N802 - as bound
        self._begin("transaction")
        self.engine._connection.execute("savepoint work")
        try:
            work()
        except Crash:
            raise
        except BaseException:
            self.engine._connection.execute("rollback to work")
            raise
        else:
            self.engine._connection.execute("release work")


class SteppedEdge(FakeEdge):
    """The edge cache as a storage whose operations count."""

    steps: Steps
    end_turn: Callable[[], None]

    @contextmanager
    def _operation(self, name: str) -> Iterator[None]:
        self.end_turn()
        with self.steps.operation(name):
            yield

    async def match(self, url: str) -> CachedResponse | None:
        with self._operation("edge match"):
            return await super().match(url)

    async def put(self, url: str, *, status: int, headers: HeaderPairs, content: Content) -> None:
        with self._operation("edge put"):
            await super().put(url, status=status, headers=headers, content=content)

    async def delete(self, url: str) -> bool:
        with self._operation("edge delete"):
            return await super().delete(url)


class CrashWorld(World):
    """A zone whose storages count their operations together and crash at one of them."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self.steps = Steps()
        self.storage = storage = TurnStorage(self.steps)
        self.edge = SteppedEdge(self.clock)
        self.edge.steps, self.edge.end_turn = self.steps, storage.end_turn
        self.fake_kv = FakeKV(self.clock)
        self.kv = KV(self.fake_kv, self.clock)
        fakes: tuple[Fake, ...] = (self.d1, self.fake_kv, self.bucket)
        for fake in fakes:
            fake.operation = self._count  # type: ignore[method-assign]
        self.zone = self.open_service().zones.get(ZONE)
        self.restart()

    @contextmanager
    def _count(self, name: str, subject: str = "") -> Iterator[None]:
        storage: Any = self.storage
        storage.end_turn()
        with self.steps.operation(name, subject):
            yield

    async def attempt(self, work: Callable[[], Awaitable[object]]) -> bool:
        """Return whether the work ended; after a crash, all that was under way is gone, and everything starts anew."""
        asyncio.get_running_loop().set_exception_handler(_ignore_crashes)
        others = asyncio.all_tasks()
        try:
            await work()
        except Crash:
            await self._bury(asyncio.all_tasks() - others)
            return False
        return True

    async def _bury(self, begun: set[asyncio.Task[object]]) -> None:
        storage: Any = self.storage
        storage.roll_back()
        self.steps.is_dead = True
        for task in begun:
            task.cancel()
        await asyncio.gather(*begun, return_exceptions=True)
        storage.roll_back()
        self.steps.is_dead = False
        self.purges = PurgeMemory()
        self.restart()

    async def run_for(self, minutes: int) -> None:
        """Let the cron and the alarm do what is due, and repeat an alarm that crashed, as the platform does."""
        for _ in range(minutes):
            await self.attempt(self.open_service().cron.run)
            for _ in range(60):
                alarm_ms = self.storage.alarm_ms
                if alarm_ms is None or alarm_ms / 1000 > self.clock.now():
                    break
                self.storage.alarm_ms = None
                while not await self.attempt(self.object.handle_alarm):
                    pass
            self.clock.advance(60)


def _ignore_crashes(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Report no crash of a task that nobody waits for any more."""
    if not isinstance(context.get("exception"), Crash):
        loop.default_exception_handler(context)
