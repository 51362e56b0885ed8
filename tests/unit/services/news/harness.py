"""The news service over fakes: a manual clock, all operations counted in one order, and a crash at any of them."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

from fakes.binding import Crash, Fake
from fakes.clock import ManualClock
from fakes.kv import FakeKV
from fakes.objects import FakeObjects, FakeStorage
from sluice.core.errors import SluiceError, Unavailable
from sluice.core.news.article import Article
from sluice.core.news.feeds.source import SourceResult
from sluice.core.news.scrape import ScrapedPage
from sluice.core.ports import Fetch, FetchResponse, Log
from sluice.core.variables import Variables
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql
from sluice.platform.storage.kv import KV
from sluice.services.news.collect.conditional import ConditionalFeeds
from sluice.services.news.collect.updater import Updater
from sluice.services.news.process.analysts import choose_second_look
from sluice.services.news.process.article_store import ArticleStore
from sluice.services.news.process.checkpoint_store import CheckpointStore
from sluice.services.news.process.index_store import IndexStore
from sluice.services.news.process.legacy_adoption import LegacyAdoption
from sluice.services.news.process.processor import Processor
from sluice.services.news.process.publishing import Publisher
from sluice.services.news.process.spoken import OneAnalyst, Speaker
from sluice.services.news.process.stages import StageRunner
from sluice.services.news.run_lease.lease import Announcement, RunLeases
from sluice.services.news.run_lease.object_leases import ObjectRunLeases
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.settings import ProcessorSettings, UpdaterSettings
from sluice.services.news.state.assembly import Surroundings, build_news_state
from sluice.services.news.state.calls import StateCalls, answer_call
from sluice.services.news.state.state_object import NewsState
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, PENDING, PROCESSOR_WRITES, UPDATER_WRITES, article_key
from sluice.services.news.storage.write_domain import WriteDomain

CONTENT = "Bitcoin rose on Monday. Analysts were glad. " * 10


class CountedKV(FakeKV):
    """Counts its operations together with all others of the harness."""

    def __init__(self, clock: ManualClock, steps: Fake, *, stale_s: float = 0) -> None:
        super().__init__(clock, stale_s=stale_s)
        self._steps = steps

    @contextmanager
    def operation(self, name: str, subject: str = "") -> Generator[None]:
        self.operations.append((name, subject))
        with self._steps.operation(name, subject):
            yield


class FakeRunLock:
    """The Durable Object as the entry modules export it."""

    def __init__(self, _name: str) -> None:
        self.lock = RunLock(Sql(FakeStorage()))

    async def acquire(self, *args: Any) -> Any:
        return self.lock.acquire(*args)

    async def renew(self, *args: Any) -> None:
        self.lock.renew(*args)

    async def recall(self, *args: Any) -> Any:
        return self.lock.recall(*args)

    async def announce(self, *args: Any) -> None:
        self.lock.announce(*args)

    async def release(self, *args: Any) -> None:
        self.lock.release(*args)


@dataclass
class CountedLeases:
    """Lease operations are effects too: the run may crash before and after each."""

    leases: RunLeases
    steps: Fake

    async def acquire(self) -> Any:
        with self.steps.operation("lease", "acquire"):
            return await self.leases.acquire()

    async def renew(self, lease: Any) -> None:
        await self.leases.renew(lease)

    async def announce(self, lease: Any, *announcements: Announcement) -> None:
        with self.steps.operation("lease", "announce"):
            await self.leases.announce(lease, *announcements)

    async def recall(self, key: str) -> str | None:
        with self.steps.operation("lease", "recall"):
            return await self.leases.recall(key)

    async def release(self, lease: Any) -> None:
        with self.steps.operation("lease", "release"):
            await self.leases.release(lease)


@dataclass
class ScriptedUpstream:
    """Analyst and web in one: answers by title or link, and counts the calls."""

    steps: Fake
    name: str = "scripted"
    calls: Counter[str] = field(default_factory=Counter)
    # By call: how many times it fails first, the error it always fails with, or what it does instead.
    failures: dict[str, int | SluiceError | Callable[[], None]] = field(default_factory=dict)
    on_summary: Callable[[str], None] = lambda _title: None
    # Called with every call, so that an answer may take time.
    wait: Callable[[], None] = lambda: None

    async def sentiment(self, title: str, _description: str) -> str:
        self._answer("sentiment", title)
        return "positive"

    async def summary(self, title: str, _content: str, _page_titles: Sequence[str] = ()) -> str:
        self.on_summary(title)
        self._answer("summary", title)
        return f"Summary of {title}."

    async def scrape(self, url: str) -> ScrapedPage:
        self._answer("scrape", url.rpartition("/")[2])
        return ScrapedPage(CONTENT)

    def _answer(self, what: str, subject: str) -> None:
        with self.steps.operation(what, subject):
            self.wait()
            self.calls[f"{what} {subject}"] += 1
            failure = self.failures.get(f"{what} {subject}", self.failures.get(what, 0))
            if isinstance(failure, int) and self.calls[f"{what} {subject}"] <= failure:
                raise Unavailable("not now")
            if isinstance(failure, SluiceError):
                raise failure
            if callable(failure):
                failure()


@dataclass
class ListedSource:
    """A source whose articles a test sets."""

    articles: list[Article] = field(default_factory=list)
    name: str = "listed"
    error: SluiceError | None = None
    known: Collection[str] = ()

    async def fetch_articles(self, known: Collection[str], _now_ms: int) -> SourceResult:
        self.known = known
        return SourceResult(tuple(self.articles), 1, self.error)


class RecordedLog:
    """A log that a test can read."""

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


async def refuse_fetch(url: str, **_options: Any) -> FetchResponse:
    raise Unavailable(f"nothing is served at {url}")


def open_state(kv: FakeKV, snapshot_kv: FakeKV, clock: ManualClock, log: Log, fetch: Fetch = refuse_fetch) -> NewsState:
    """Returns the state object over a database of its own."""
    storage = FakeStorage()
    ids = (f"{number:032x}" for number in count(1))
    return build_news_state(
        Surroundings(
            sql=Sql(storage),
            alarm=Alarm(storage),
            articles_kv=WriteDomain(KV(kv, clock), ()),
            snapshot_kv=KV(snapshot_kv, clock),
            fetch=fetch,
            clock=clock,
            log=log,
            new_id=lambda: next(ids),
            alert_webhook_url="https://alerts.example/hook",
        )
    )


@dataclass
class FakeStateObject:
    """The Durable Object as the entry module exports it."""

    state: NewsState

    async def call(self, name: str, arguments: list[Any]) -> Any:
        return await answer_call(self.state, name, arguments)


class NewsHarness:
    def __init__(self, *, stale_s: float = 0, **settings: Any) -> None:
        self.clock = ManualClock()
        self.steps = Fake()
        self.kv = CountedKV(self.clock, self.steps, stale_s=stale_s)
        self.upstream = ScriptedUpstream(self.steps)
        # Who is asked instead of the upstream, and once all attempts are used up.
        self.speaker: Speaker | None = None
        self.fallback: Speaker | None = None
        self.source = ListedSource()
        self.log = RecordedLog()
        self.settings = replace(ProcessorSettings(retry_delay_s=0), **settings)
        self.objects = {"updater": FakeObjects(FakeRunLock), "processor": FakeObjects(FakeRunLock)}
        self.snapshot_kv = FakeKV(self.clock)
        self.state = open_state(self._uncounted(), self.snapshot_kv, self.clock, self.log)
        self._tokens = 0

    def store(self, writes: Sequence[str]) -> WriteDomain:
        """Returns the namespace as a fresh isolate sees it."""
        return WriteDomain(KV(self.kv, self.clock), writes)

    def leases(self, worker: str) -> CountedLeases:
        stub = DurableObjects(self.objects[worker]).get("news")
        return CountedLeases(ObjectRunLeases(stub, self._token, self.clock, self.settings.lease_s), self.steps)

    def remote_state(self) -> StateCalls:
        return StateCalls(DurableObjects(FakeObjects(lambda _name: FakeStateObject(self.state))).get("news"))

    def processor(self) -> Processor:
        stages = StageRunner(
            speaker=self.speaker or OneAnalyst(self.upstream),
            fallback=self.fallback,
            scrape=self.upstream.scrape,
            max_attempts=self.settings.max_attempts,
        )
        kv = self.store(PROCESSOR_WRITES)
        leases = self.leases("processor")
        indexes = IndexStore(kv=kv, leases=leases, clock=self.clock, log=self.log, settings=self.settings)
        checkpoints = CheckpointStore(
            kv=kv, leases=leases, indexes=indexes, clock=self.clock, log=self.log, settings=self.settings
        )
        articles = ArticleStore(kv=kv, leases=leases, indexes=indexes, clock=self.clock, settings=self.settings)
        state = self.remote_state()
        return Processor(
            checkpoints=checkpoints,
            articles=articles,
            legacy=LegacyAdoption(kv=kv, checkpoints=checkpoints, articles=articles, state=state, log=self.log),
            stages=stages,
            publisher=Publisher(state, state, self.log),
            second_look=choose_second_look(stages.speaker, state, self.upstream.scrape, checkpoints.now_ms, self.log),
            log=self.log,
            settings=self.settings,
        )

    def updater(self, **changes: Any) -> Updater:
        settings = replace(UpdaterSettings.read(Variables(lambda _name: None)), **changes)
        return Updater(
            kv=self.store(UPDATER_WRITES),
            leases=self.leases("updater"),
            sources=[self.source],
            feeds=ConditionalFeeds(refuse_fetch, self.clock),
            state=self.remote_state(),
            clock=self.clock,
            log=self.log,
            settings=settings,
        )

    def _token(self) -> str:
        self._tokens += 1
        return f"run-{self._tokens}"

    async def put(self, key: str, value: Any, **options: Any) -> None:
        """Stores a value without counting the operation, and waits until it is visible."""
        await FakeKV.put(
            self._uncounted(), key, value if isinstance(value, str) else json.dumps(value), options or None
        )
        self.clock.advance(self.kv.stale_s + 2)

    async def delete(self, key: str) -> None:
        """Deletes a key without counting the operation, and waits until that is visible."""
        await FakeKV.delete(self._uncounted(), key)
        self.clock.advance(self.kv.stale_s + 2)

    async def put_pending(self, *names: str) -> None:
        added_at = int(self.clock.now() * 1000)
        await self.put(PENDING, [{"id": n, "article": dict(article(n).data), "addedAt": added_at} for n in names])

    def read(self, key: str) -> Any:
        """Returns the value that is really stored, never a stale one."""
        versions = self.kv._history.get(key, [])
        entry = versions[-1][1] if versions else None
        return json.loads(entry.value) if entry else None

    def stored_article(self, name: str) -> Any:
        return self.read(article_key(name))

    def checkpoint(self) -> Any:
        return self.read(CHECKPOINT)

    def index(self) -> Any:
        return self.read(INDEX)

    def _uncounted(self) -> FakeKV:
        plain = FakeKV(self.clock)
        plain._history = self.kv._history
        return plain

    async def run_minute(self, run: Callable[[], Any] | None = None) -> str:
        """Makes one cron run, which may crash, and lets the rest of the minute pass."""
        started = self.clock.now()
        try:
            report = await (run() if run else self.processor().run())
            outcome = str(report.as_json()["outcome"])
        except Crash:
            outcome = "crashed"
        self.clock.advance(max(0.0, started + 60 - self.clock.now()))
        return outcome

    async def run_until_idle(self, max_minutes: int = 80) -> int:
        """Returns the minutes until there is nothing left to do; fails if that takes too long."""
        for minutes in range(1, max_minutes + 1):
            if await self.run_minute() == "idle":
                return minutes
        raise AssertionError(f"still busy after {max_minutes} minutes: {self.checkpoint()}")
