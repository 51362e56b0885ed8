"""The whole pipeline over the fakes: time by hand, every operation counted in one order, a crash at any of them."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from fakes.binding import Crash, Fake
from fakes.clock import ManualClock
from fakes.kv import FakeKV
from fakes.objects import FakeObjects, FakeStorage
from sluice.core.errors import SluiceError, Unavailable
from sluice.core.news.article import Article
from sluice.core.news.feeds.source import Harvest
from sluice.core.variables import Variables
from sluice.platform.durable_objects import DurableObjects
from sluice.platform.storage.kv import KV
from sluice.services.news.collect.updater import Updater
from sluice.services.news.process.checkpoint_store import Ledger
from sluice.services.news.process.processor import Processor
from sluice.services.news.process.stages import Phases
from sluice.services.news.run_lease.lease import Turns
from sluice.services.news.run_lease.object_leases import ObjectTurns
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.settings import ProcessorSettings, UpdaterSettings
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, PENDING, PROCESSOR_WRITES, UPDATER_WRITES, article_key
from sluice.services.news.storage.write_domain import Domain

CONTENT = "Bitcoin rose on Monday. Analysts were glad. " * 10


class CountedKV(FakeKV):
    """Counts in the order of the whole world."""

    def __init__(self, clock: ManualClock, steps: Fake, *, stale_s: float = 0) -> None:
        super().__init__(clock, stale_s=stale_s)
        self._steps = steps

    @contextmanager
    def operation(self, name: str, subject: str = "") -> Generator[None]:
        self.operations.append((name, subject))
        with self._steps.operation(name, subject):
            yield


class LockObject:
    """As the entry modules export it."""

    def __init__(self, _name: str) -> None:
        self.lock = RunLock(FakeStorage())

    async def take(self, *args: Any) -> Any:
        return self.lock.take(*args)

    async def announce(self, *args: Any) -> None:
        self.lock.announce(*args)

    async def release(self, *args: Any) -> None:
        self.lock.release(*args)


@dataclass
class CountedTurns:
    """A turn is an effect too: the run may die before and after each."""

    turns: Turns
    steps: Fake

    async def take(self, now_ms: int) -> Any:
        with self.steps.operation("turn", "take"):
            return await self.turns.take(now_ms)

    async def announce(self, turn: Any, version: int, now_ms: int) -> None:
        with self.steps.operation("turn", "announce"):
            await self.turns.announce(turn, version, now_ms)

    async def release(self, turn: Any) -> None:
        with self.steps.operation("turn", "release"):
            await self.turns.release(turn)


@dataclass
class Outside:
    """What answers from outside, by the title or the link; it remembers who asked."""

    steps: Fake
    name: str = "scripted"
    asked: Counter[str] = field(default_factory=Counter)
    # By what is asked: how many times it fails first, or the error it always fails with.
    failures: dict[str, int | SluiceError | Callable[[], None]] = field(default_factory=dict)
    on_summary: Callable[[str], None] = lambda _title: None
    # Called with every question, so that an answer may take its time.
    wait: Callable[[], None] = lambda: None

    async def sentiment(self, title: str, _description: str) -> str:
        self._ask("sentiment", title)
        return "positive"

    async def summary(self, title: str, _content: str) -> str:
        self.on_summary(title)
        self._ask("summary", title)
        return f"Summary of {title}."

    async def scrape(self, url: str) -> str:
        self._ask("scrape", url.rpartition("/")[2])
        return CONTENT

    def _ask(self, what: str, subject: str) -> None:
        with self.steps.operation(what, subject):
            self.wait()
            self.asked[f"{what} {subject}"] += 1
            failure = self.failures.get(f"{what} {subject}", self.failures.get(what, 0))
            if isinstance(failure, int) and self.asked[f"{what} {subject}"] <= failure:
                raise Unavailable("not now")
            if isinstance(failure, SluiceError):
                raise failure
            if callable(failure):
                failure()


@dataclass
class Listed:
    """A source whose pages a test writes."""

    articles: list[Article] = field(default_factory=list)
    name: str = "listed"
    error: SluiceError | None = None
    known: Collection[str] = ()

    async def harvest(self, known: Collection[str], _now_ms: int) -> Harvest:
        self.known = known
        return Harvest(tuple(self.articles), 1, self.error)


class Lines:
    """A log that a test reads."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    def event(self, name: str, /, **fields: object) -> None:
        self.events.append((name, dict(fields)))

    def error(self, name: str, error: BaseException, /, **fields: object) -> None:
        self.events.append((name, {**fields, "error": str(error)}))

    def messages(self) -> list[str]:
        return [fields["message"] for _, fields in self.events if "message" in fields]


def article(name: str, **changes: Any) -> Article:
    base: dict[str, Any] = {
        "id": name,
        "title": name,
        "description": "",
        "link": f"https://news.example/{name}",
        "pubDate": "2027-01-15T08:00:00Z",
        "needsSentiment": True,
        "needsSummary": True,
        "queuedAt": 0,
    }
    return Article({**base, **changes})


class World:
    def __init__(self, *, stale_s: float = 0, **settings: Any) -> None:
        self.clock = ManualClock()
        self.steps = Fake()
        self.kv = CountedKV(self.clock, self.steps, stale_s=stale_s)
        self.outside = Outside(self.steps)
        self.reserve: Any = self.outside
        self.source = Listed()
        self.log = Lines()
        self.settings = replace(ProcessorSettings(retry_delay_s=0), **settings)
        self.objects = {"updater": FakeObjects(LockObject), "processor": FakeObjects(LockObject)}
        self._tokens = 0

    def store(self, writes: Sequence[str]) -> Domain:
        """As in a fresh isolate."""
        return Domain(KV(self.kv, self.clock), writes)

    def turns(self, who: str) -> CountedTurns:
        stub = DurableObjects(self.objects[who]).get("news")
        return CountedTurns(ObjectTurns(stub, self._token, self.settings.lease_s), self.steps)

    def processor(self) -> Processor:
        phases = Phases(
            analyst=self.outside,
            reserve=self.reserve,
            scrape=self.outside.scrape,
            max_attempts=self.settings.max_attempts,
        )
        ledger = Ledger(
            store=self.store(PROCESSOR_WRITES),
            turns=self.turns("processor"),
            phases=phases,
            clock=self.clock,
            log=self.log,
            settings=self.settings,
        )
        return Processor(ledger)

    def updater(self, **changes: Any) -> Updater:
        settings = replace(UpdaterSettings.read(Variables(lambda _name: None)), **changes)
        return Updater(
            store=self.store(UPDATER_WRITES),
            turns=self.turns("updater"),
            sources=[self.source],
            clock=self.clock,
            log=self.log,
            settings=settings,
        )

    def _token(self) -> str:
        self._tokens += 1
        return f"run-{self._tokens}"

    async def put(self, key: str, value: Any, **options: Any) -> None:
        """Put something in place, without counting it, and let it be seen."""
        await FakeKV.put(
            self._uncounted(), key, value if isinstance(value, str) else json.dumps(value), options or None
        )
        self.clock.advance(self.kv.stale_s + 2)

    async def pending(self, *names: str) -> None:
        added_at = int(self.clock.now() * 1000)
        await self.put(PENDING, [{"id": n, "article": dict(article(n).data), "addedAt": added_at} for n in names])

    def read(self, key: str) -> Any:
        """What is truly stored."""
        versions = self.kv._history.get(key, [])
        entry = versions[-1][1] if versions else None
        return json.loads(entry.value) if entry else None

    def stored(self, name: str) -> Any:
        return self.read(article_key(name))

    def checkpoint(self) -> Any:
        return self.read(CHECKPOINT)

    def index(self) -> Any:
        return self.read(INDEX)

    def _uncounted(self) -> FakeKV:
        plain = FakeKV(self.clock)
        plain._history = self.kv._history
        return plain

    async def minute(self, run: Callable[[], Any] | None = None) -> str:
        """One cron run, which may die, and the rest of the minute."""
        started = self.clock.now()
        try:
            report = await (run() if run else self.processor().run())
            outcome = str(report["outcome"])
        except Crash:
            outcome = "crashed"
        self.clock.advance(max(0.0, started + 60 - self.clock.now()))
        return outcome

    async def until_idle(self, max_minutes: int = 80) -> int:
        """Minutes until there is nothing left to do; fails when that never comes."""
        for minutes in range(1, max_minutes + 1):
            if await self.minute() == "idle":
                return minutes
        raise AssertionError(f"still busy after {max_minutes} minutes: {self.checkpoint()}")
