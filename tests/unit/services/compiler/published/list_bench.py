"""Published lists over the strict fakes: sources under the test's control, and a crash at any operation."""

import asyncio
import zlib
from collections.abc import Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from fakes.binding import Crash, Fake
from fakes.clock import ManualClock
from fakes.r2 import FakeR2
from fakes.workflows import FakeStep, FakeWorkflows, NonRetryableError
from sluice.core.errors import Oversized, SluiceError, Unavailable
from sluice.core.ports import FetchResponse
from sluice.core.variables import Secret
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.r2 import R2
from sluice.platform.workflows import Steps, Workflows
from sluice.services.compiler.guard.idempotency import IdempotencyKeys, Ticket
from sluice.services.compiler.http.list_addresses import ListAddresses
from sluice.services.compiler.http.lists import ListsApi
from sluice.services.compiler.published.builds.alerts import ListAlerts
from sluice.services.compiler.published.builds.build_queue import BuildQueue
from sluice.services.compiler.published.builds.build_steps import BuildSteps
from sluice.services.compiler.published.builds.build_workflow import PublishedListWorkflow
from sluice.services.compiler.published.builds.publisher import VersionPublisher
from sluice.services.compiler.published.list_store import ListStore
from sluice.services.compiler.published.operator import ListOperator
from sluice.services.compiler.published.previews import Previews
from sluice.services.compiler.published.queries import ListQueries
from sluice.services.compiler.published.sources.good_copies import GoodCopyStore
from sluice.services.compiler.published.sources.source_fetcher import SourceFetcher
from sluice.web.admin import OperatorGate
from unit.services.compiler.listeners import ListLog
from unit.services.compiler.workflow_bench import make_database

HOOK = "https://hook.example/"
TOKEN = "the-operators-token"
PART_BYTES = 500_000
Answer = bytes | tuple[int, bytes] | SluiceError


@dataclass
class Sites:
    """Answers by address: bytes, a status with bytes, or an error. Counts requests, and honours ETags or dates if asked to.

    Bodies arrive a part at a time, beside each other; one that is held back so many parts later.
    """

    answers: dict[str, Answer]
    has_etags: bool = False
    has_dates: bool = False
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    alerts: list[bytes] = field(default_factory=list)
    hook_status: int = 204
    held_back: dict[str, int] = field(default_factory=dict)

    async def fetch(self, url: str, **options: Any) -> FetchResponse:
        headers = {name.lower(): value for name, value in options.get("headers", ())}
        if url == HOOK:
            self.alerts.append(options["body"])
            return FetchResponse(url, self.hook_status, (), b"")
        self.requests.append((url, headers))
        answer = self.answers.get(url, (404, b"404: Not Found"))
        if isinstance(answer, SluiceError):
            raise answer
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        tag = f'"{zlib.crc32(body)}"'
        date = f"Fri, 15 Jan 2027 08:00:{zlib.crc32(body) % 60:02} GMT"
        if self.has_etags and headers.get("if-none-match") == tag:
            return FetchResponse(url, 304, (), b"")
        if self.has_dates and headers.get("if-modified-since") == date:
            return FetchResponse(url, 304, (), b"")
        for _ in range(self.held_back.get(url, 0)):
            await asyncio.sleep(0)
        for at in range(0, len(body), PART_BYTES):
            if at + PART_BYTES > options["max_bytes"] and len(body) > options["max_bytes"]:
                raise Oversized(f"{url} answered with more than {options['max_bytes']} bytes")
            options["sink"](body[at : at + PART_BYTES])
            await asyncio.sleep(0)
        validators = [("etag", tag)] * self.has_etags + [("last-modified", date)] * self.has_dates
        return FetchResponse(url, status, tuple(validators), b"")


class ListBench:
    def __init__(
        self,
        answers: dict[str, Answer] | None = None,
        declared: Mapping[str, Any] | None = None,
        clock: ManualClock | None = None,
    ) -> None:
        self.clock = clock or ManualClock()
        self.d1, self.r2 = make_database(), FakeR2(self.clock)
        self.engine = FakeWorkflows()
        self.steps_of: dict[str, FakeStep] = {}
        self.sites = Sites(answers or {})
        self.declared = declared or {}
        self.purged: list[str] = []
        self.log = ListLog()
        self.crashes = 0
        self.compose()

    def compose(self) -> None:
        """Make everything anew that lives in memory."""
        self.database, self.bucket = D1(self.d1), R2(self.r2)
        clock, database, bucket, log = self.clock, self.database, self.bucket, self.log
        self.lists = ListStore(database=database, clock=clock)
        self.builds = BuildQueue(database=database, clock=clock)
        copies = GoodCopyStore(database=database, bucket=bucket, clock=clock)
        fetcher = SourceFetcher(fetch=self.sites.fetch, clock=clock, draw=lambda: 0.0, timeout_s=5)
        steps = BuildSteps(
            lists=self.lists, builds=self.builds, copies=copies, bucket=bucket, fetcher=fetcher, hold_large_slot=hold_large_slot,
            clock=clock, log=log,
        )  # fmt: skip
        publisher = VersionPublisher(
            lists=self.lists, builds=self.builds, steps=steps, bucket=bucket, purge=self._purge, clock=clock
        )
        alerts = ListAlerts(database=database, fetch=self.sites.fetch, clock=clock, url=HOOK)
        self.workflow = PublishedListWorkflow(
            lists=self.lists, builds=self.builds, steps=steps, publisher=publisher, alerts=alerts, database=database,
            clock=clock, log=log,
        )  # fmt: skip
        self.operator = ListOperator(
            lists=self.lists, builds=self.builds, publisher=publisher, bucket=bucket,
            instances=Workflows(self.engine, clock.sleep), load_declared=lambda: self.declared, clock=clock,
            new_id=self._new_id, log=log,
        )  # fmt: skip
        self.queries = ListQueries(lists=self.lists, bucket=bucket, hold_large_slot=hold_large_slot)
        self.addresses = ListAddresses(
            bucket=bucket, inflate=lambda stream, _size: stream, discard=lambda _stream: None
        )
        self.api = ListsApi(
            keys=IdempotencyKeys(database=database, clock=clock, new_id=self._new_id, log=log),
            lists=self.lists, builds=self.builds, operator=self.operator, queries=self.queries, operators=OperatorGate(Secret(TOKEN), clock),
            previews=Previews(
                lists=self.lists, copies=copies, bucket=bucket, fetcher=fetcher, hold_large_slot=hold_large_slot, clock=clock
            ),
            public_url="",
        )  # fmt: skip

    @property
    def fakes(self) -> list[Fake]:
        return [self.d1, self.r2]

    async def run_all(self) -> None:
        """Run every instance that has not ended, each to its end; after a crash it goes on as the engine would."""
        for instance in list(self.engine.instances.values()):
            if instance.state == "queued":
                await self.run_instance(instance.id)

    async def run_instance(self, build_id: str) -> None:
        instance = self.engine.instances[build_id]
        while instance.state == "queued":
            step = FakeStep(self.steps_of[build_id].stored if build_id in self.steps_of else None)
            self.steps_of[build_id] = step
            try:
                instance.output = await self.workflow.run(build_id, instance.params, Steps(step, NonRetryableError))
                instance.state = "complete"
            except Crash:
                self.crashes += 1
                self.compose()

    async def put(self, name: str, *sources: str, **more: Any) -> str:
        configuration = {"name": name.title(), "sources": [{"source": source} for source in sources]}
        body = {"configuration": configuration, **more}
        return (await self.operator.put(name, body, "https://lists.example", self.ticket()))[1]

    async def rebuild(self, name: str) -> str:
        """Build once more, some time later. Returns the outcome."""
        self.clock.advance(3600)
        build_id = await self.operator.rebuild(name, self.ticket())
        await self.run_all()
        row = await self.builds.find(build_id)
        assert row is not None
        return str(row["outcome"])

    async def text(self, address: str) -> str:
        """Return what readers get at an address, inflated."""
        stored = await self.bucket.get(f"published/at/{address}")
        assert stored is not None, address
        assert stored.object.custom_metadata.get("etag"), "never built"
        return zlib.decompress(stored.body, wbits=31).decode()

    def ticket(self) -> Ticket:
        return Ticket(f"{round(self.clock.now() * 1000)}-{self._new_id()}", is_repeatable=False)

    def _new_id(self) -> str:
        self._ids = getattr(self, "_ids", 0) + 1
        return f"{self._ids:032x}"

    async def _purge(self, tags: Any) -> None:
        self.purged += tags


@asynccontextmanager
async def hold_large_slot() -> Any:
    yield


def rules_of(text: str) -> list[str]:
    return [line for line in text.split("\n") if line and not line.startswith("!")]


def make_list(count: int, prefix: str = "a") -> bytes:
    return "".join(f"||{prefix}{at}.example^\n" for at in range(count)).encode()


LOST = Unavailable("the connection was reset")
