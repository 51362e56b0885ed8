"""The news service over fakes: a manual clock, all operations counted in one order, and a crash at any of them."""

import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterable, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, cast

from fakes.binding import Crash, Fake
from fakes.clock import ManualClock
from fakes.kv import FakeKV
from fakes.objects import FakeObjects, FakeStorage
from sluice.core.errors import SluiceError, Unavailable
from sluice.core.net.transport import Transport, TransportRequest, TransportResponse
from sluice.core.news.analysts import Analyst
from sluice.core.news.article import Article
from sluice.core.news.feeds.news_source import SourceResult
from sluice.core.news.scrape import ScrapedPage
from sluice.core.ports import Fetch, FetchResponse, Log
from sluice.core.remote import Message, answer_calls, connect
from sluice.core.variables import Variables
from sluice.platform.durable_objects import Alarm, DurableObjects, Sql
from sluice.platform.storage.kv import KV
from sluice.services.news.collect.service import NewsUpdaterService
from sluice.services.news.collect.updater import Updater
from sluice.services.news.ports import RunPorts
from sluice.services.news.process.answers import AnswerSource
from sluice.services.news.process.processor import Processor
from sluice.services.news.process.service import NewsProcessorPorts, NewsProcessorService
from sluice.services.news.process.workers_ai import RunModel
from sluice.services.news.run_lease.lease import RunLeases
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.serve.service import NewsApiPorts, NewsApiService
from sluice.services.news.serve.stored_snapshot import SnapshotMemory
from sluice.services.news.settings import ProcessorSettings, UpdaterSettings
from sluice.services.news.state.assembly import NewsStatePorts, build_news_state
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.services.news.state.state_object import NewsState
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, PENDING, article_key

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


@dataclass(frozen=True)
class FakeObject:
    """A Durable Object as the entry modules export it."""

    answers: Any
    calls: type

    async def call(self, name: str, message: Message) -> Message:
        return await answer_calls(self.calls)(self.answers, name, message)


def open_lock(_name: str) -> FakeObject:
    return FakeObject(RunLock(Sql(FakeStorage())), RunLock)


class CountedLeases:
    """Lease operations are effects too: the run may crash before and after each. Renewals go on beside the run."""

    def __init__(self, leases: RunLeases, steps: Fake) -> None:
        self._leases = leases
        self._steps = steps

    def __getattr__(self, name: str) -> Any:
        async def call(*args: Any) -> Any:
            with nullcontext() if name == "renew" else self._steps.operation("lease", name):
                return await getattr(self._leases, name)(*args)

        return call


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


class RecordedCache:
    """Remembers what was purged; `error` is raised instead."""

    def __init__(self, error: SluiceError | None = None) -> None:
        self.purged: list[str] = []
        self.error = error

    async def purge(self, tags: Iterable[str]) -> None:
        if self.error:
            raise self.error
        self.purged += tags


async def refuse_fetch(url: str, **_options: Any) -> FetchResponse:
    raise Unavailable(f"nothing is served at {url}")


def serve_web(find_fetch: Callable[[], Fetch]) -> Transport:
    """Return a network in which a fetch answers."""

    @asynccontextmanager
    async def send(request: TransportRequest) -> AsyncIterator[TransportResponse]:
        options = {"method": request.method, "headers": request.headers, "body": request.body}
        found: Any = find_fetch()
        response = await found(request.url, **options, max_bytes=0, timeout_s=0)
        yield TransportResponse(response.status, response.headers, _stream(response.body))

    return send


async def _stream(body: bytes) -> AsyncIterator[bytes]:
    yield body


def open_state(
    articles: FakeKV, snapshots: FakeKV, clock: ManualClock, log: Log, find_fetch: Callable[[], Fetch]
) -> NewsState:
    """Return the state object over a database of its own."""
    storage = FakeStorage()
    ids = (f"{number:032x}" for number in count(1))
    return build_news_state(
        NewsStatePorts(
            variables=Variables({"ALERT_WEBHOOK_URL": "https://alerts.example/hook"}.get),
            sql=Sql(storage),
            alarm=Alarm(storage),
            articles=KV(articles, clock),
            snapshots=KV(snapshots, clock),
            transport=serve_web(find_fetch),
            new_id=lambda: next(ids),
            clock=clock,
            log=log,
        )
    )


class NewsHarness:
    def __init__(self, *, stale_s: float = 0, start: float | None = None, **settings: Any) -> None:
        self.clock = ManualClock() if start is None else ManualClock(start)
        self.steps = Fake()
        self.kv = CountedKV(self.clock, self.steps, stale_s=stale_s)
        self.upstream = ScriptedUpstream(self.steps)
        # What the state object, and the updater without `source`, fetch from.
        self.web: Fetch = refuse_fetch
        # Who is asked instead of the upstream, and once all attempts are used up.
        self.analyst: Analyst = self.upstream
        self.fallback: AnswerSource | None = None
        self.run_model: RunModel | None = None
        self.source: ListedSource = ListedSource()
        self.log = RecordedLog()
        self.cache = RecordedCache()
        self.settings = replace(ProcessorSettings(retry_delay_s=0), **settings)
        self.objects = {"updater": FakeObjects(open_lock), "processor": FakeObjects(open_lock)}
        self.snapshot_kv = FakeKV(self.clock)
        self.state = open_state(self._uncounted(), self.snapshot_kv, self.clock, self.log, lambda: self.web)
        self._tokens = 0

    @property
    def remote_state(self) -> RemoteNewsState:
        objects = FakeObjects(lambda _name: FakeObject(self.state, RemoteNewsState))
        return connect(RemoteNewsState, DurableObjects(objects).send_to("news"))

    def api(self, **variables: str) -> NewsApiService:
        """Return worker-api as a fresh isolate."""
        no_files: Any = None
        return NewsApiService(
            NewsApiPorts(
                variables=Variables(variables.get),
                articles=KV(self._uncounted(), self.clock),
                snapshots=KV(self.snapshot_kv, self.clock),
                memory=SnapshotMemory(),
                state=self.remote_state,
                cache=self.cache,
                files=no_files,
                clock=self.clock,
                log=self.log,
            )
        )

    def processor_service(self) -> NewsProcessorService:
        ports = NewsProcessorPorts(
            **self._run_ports("processor"), run_model=self.run_model, refresher=self.remote_state
        )
        service = NewsProcessorService(ports)
        service.settings, service.analyst, service.scrape = self.settings, self.analyst, self.upstream.scrape
        service.leases = self._count(service.leases)
        service.stages = replace(service.stages, fallback=self.fallback or service.stages.fallback)
        return service

    def processor(self) -> Processor:
        return self.processor_service().processor

    def updater_service(self, **changes: Any) -> NewsUpdaterService:
        service = NewsUpdaterService(RunPorts(**self._run_ports("updater")))
        service.settings = replace(UpdaterSettings.read(Variables(lambda _name: None)), **changes)
        service.leases = self._count(service.leases)
        if not service.settings.feeds:
            service.sources = [self.source]
        return service

    def updater(self, **changes: Any) -> Updater:
        return self.updater_service(**changes).updater

    def leases(self, worker: str) -> RunLeases:
        return self.processor_service().leases if worker == "processor" else self.updater_service().leases

    def _count(self, leases: RunLeases) -> RunLeases:
        return cast("RunLeases", CountedLeases(leases, self.steps))

    def _run_ports(self, worker: str) -> dict[str, Any]:
        """Return the namespace and the lock as a fresh isolate sees them."""
        return {
            "variables": Variables(lambda _name: None),
            "articles": KV(self.kv, self.clock),
            "state": self.remote_state,
            "lock": connect(RunLock, DurableObjects(self.objects[worker]).send_to("news")),
            "transport": serve_web(lambda: self.web),
            "new_id": self._token,
            "clock": self.clock,
            "log": self.log,
        }

    def _token(self) -> str:
        self._tokens += 1
        return f"run-{self._tokens}"

    async def put(self, key: str, value: Any, **options: Any) -> None:
        """Store a value without counting the operation, and wait until it is visible."""
        await FakeKV.put(
            self._uncounted(), key, value if isinstance(value, str) else json.dumps(value), options or None
        )
        self.clock.advance(self.kv.stale_s + 2)

    async def delete(self, key: str) -> None:
        """Delete a key without counting the operation, and wait until that is visible."""
        await FakeKV.delete(self._uncounted(), key)
        self.clock.advance(self.kv.stale_s + 2)

    async def put_pending(self, *names: str) -> None:
        added_at = int(self.clock.now() * 1000)
        await self.put(PENDING, [{"id": n, "article": dict(article(n).data), "addedAt": added_at} for n in names])

    def read(self, key: str) -> Any:
        """Return the value that is really stored, never a stale one."""
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
        """Make one cron run, which may crash, and let the rest of the minute pass."""
        started = self.clock.now()
        try:
            report = await (run() if run else self.processor().run())
            outcome = str(report.as_json()["outcome"])
        except Crash:
            outcome = "crashed"
        self.clock.advance(max(0.0, started + 60 - self.clock.now()))
        return outcome

    async def run_until_idle(self, max_minutes: int = 80) -> int:
        """Return the minutes until there is nothing left to do; fail if that takes too long."""
        for minutes in range(1, max_minutes + 1):
            if await self.run_minute() == "idle":
                return minutes
        raise AssertionError(f"still busy after {max_minutes} minutes: {self.checkpoint()}")
