"""A zone's object with strict fakes around it: the test moves the clock, the origin replies as scripted."""

import asyncio
import json
import random
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.objects import FakeStorage
from fakes.r2 import FakeR2
from sluice.core.errors import Unavailable
from sluice.core.json_text import encode_json
from sluice.core.ports import NO_CONTENT, Content, FetchResponse, HeaderPairs, OriginResponse
from sluice.core.preload.request_signing import SignedRequest, sign_request
from sluice.core.preload.zone_config import ZoneConfig, parse_config
from sluice.core.remote import Message
from sluice.core.variables import Variables
from sluice.platform.durable_objects import Alarm, Sql
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2
from sluice.services.preload.ports import CachedResponse
from sluice.services.preload.purge_lists.purge_reader import PurgeMemory, PurgeReader
from sluice.services.preload.queue.batches import Batch
from sluice.services.preload.service import IsolateState, PreloadPorts, PreloadService
from sluice.services.preload.serving.host_directory import Zone
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.services.preload.serving.page_server import PageServer
from sluice.services.preload.zone.services import ZoneServices
from sluice.services.preload.zone.signed_calls import SignedReply
from sluice.services.preload.zone.zone_object import ZoneObject

MIGRATIONS = sorted((Path(__file__).parents[4] / "migrations").glob("*_preload_*.sql"))
# A port that no test of these asks for.
UNUSED: Any = None
KEY = "a-signing-key-of-all-zones"
SITE = "https://www.example.com"
ZONE = "abc123xyz"


@dataclass
class OriginReply:
    status: int = 200
    headers: HeaderPairs = ()
    body: bytes = b"<html>"


class PatientClock(ManualClock):
    """Lets all other tasks run before it moves, so that work that takes no time is done before a sleep ends."""

    async def sleep(self, seconds: float) -> None:
        for _ in range(200):
            await asyncio.sleep(0)
        await super().sleep(seconds)


Script = Callable[[HeaderPairs], Awaitable[OriginReply] | OriginReply]


@dataclass
class FakeOrigin:
    """Replies by URL, with a plain 200 where nothing is scripted. Records every request, and how many came at once."""

    clock: ManualClock
    scripts: dict[str, OriginReply | Script | Exception] = field(default_factory=dict)
    default: OriginReply | Script | Exception = field(default_factory=OriginReply)
    requests: list[tuple[float, str, HeaderPairs]] = field(default_factory=list)
    latency_s: float = 0.0
    at_once: int = 0
    most_at_once: int = 0

    async def __call__(
        self,
        url: str,
        *,
        max_bytes: int,
        timeout_s: float,
        headers: HeaderPairs = (),
        follow: bool = True,
        fresh: bool = False,
        sink: Callable[[bytes], None] | None = None,
        **_: object,
    ) -> FetchResponse:
        """Send a request. Requests to an origin are bounded, bypass every cache, and do not follow redirects."""
        assert max_bytes > 0
        assert timeout_s > 0
        assert fresh
        assert not follow
        self.requests.append((self.clock.now(), url, headers))
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            if self.latency_s:
                await self._pass_time()
            else:
                await asyncio.sleep(0)
            script = self.scripts.get(url, self.default)
            if isinstance(script, Exception):
                raise script
            if isinstance(script, OriginReply):
                reply = script
            else:
                result = script(headers)
                reply = result if isinstance(result, OriginReply) else await result
            if sink:
                sink(reply.body)
            return FetchResponse(url, reply.status, reply.headers, b"" if sink else reply.body)
        finally:
            self.at_once -= 1

    async def _pass_time(self) -> None:
        until = self.clock.now() + self.latency_s
        for _ in range(10_000):
            if self.clock.now() >= until:
                return
            await asyncio.sleep(0)
        self.clock.advance(until - self.clock.now())

    @property
    def counts(self) -> Counter[str]:
        return Counter(url.removeprefix(SITE) for _, url, _ in self.requests)


@dataclass
class _StoredResponse:
    status: int
    headers: HeaderPairs
    content: Content
    until: float


class FakeEdge:
    """Stores a response for as long as its max-age says."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.stored: dict[str, _StoredResponse] = {}
        self.texts: dict[str, str] = {}
        self.broken = False

    async def match(self, url: str) -> CachedResponse | None:
        stored = self.stored.get(url)
        return stored if stored and stored.until > self._clock.now() else None

    async def put(self, url: str, *, status: int, headers: HeaderPairs, content: Content) -> None:
        if self.broken:
            raise Unavailable("edge cache put")
        age = next(int(value.partition("max-age=")[2]) for name, value in headers if name == "cache-control")
        self.stored[url] = _StoredResponse(status, headers, content, self._clock.now() + age)

    async def delete(self, url: str) -> bool:
        return self.stored.pop(url, None) is not None

    async def get_text(self, url: str) -> str | None:
        return self.texts.get(url)

    async def put_text(self, url: str, text: str, *, max_age_s: int) -> None:
        assert max_age_s > 0
        self.texts[url] = text


class _SharedStream:
    """A stream that several readers may read."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._data: bytes | None = None

    async def arrayBuffer(self) -> bytes:  # noqa: N802 - as bound
        if self._data is None:
            self._data = bytes(await self._stream.arrayBuffer())
        return self._data


class PlainBodies:
    """Bodies as bytes, as the warming of pages has them."""

    def split(self, content: Content) -> tuple[Content, Content]:
        if isinstance(content.data, bytes | None):
            return content, content
        shared = Content(_SharedStream(content.data), content.size)
        return shared, shared

    async def collect(self, content: Content, reserve: Callable[[int], bool]) -> Content | None:
        data = await read_data(content)
        return Content(data, len(data)) if reserve(len(data)) else None

    async def cut(self, content: Content, first: int, end: int) -> Content:
        return Content((await read_data(content))[first:end], end - first)

    async def digest(self, content: Content) -> str:
        return (await read_data(content)).hex()[:32]


async def read_data(content: Content) -> bytes:
    """Return the bytes of a body, also of one that the fake bucket streams."""
    return content.data if isinstance(content.data, bytes) else bytes(await content.data.arrayBuffer())


class VisitorsOrigin:
    """Sends the requests of visitors to the scripted origin, and records what they carried."""

    def __init__(self, origin: FakeOrigin) -> None:
        self.origin = origin
        self.sent: list[tuple[str, Mapping[str, str | None], float]] = []
        self.is_repeatable: bool | None = None

    async def send(
        self, url: str, changes: Mapping[str, str | None], *, timeout_s: float, is_repeatable: bool = True
    ) -> OriginResponse:
        self.is_repeatable = is_repeatable
        self.sent.append((url, changes, timeout_s))
        headers = tuple((name, value) for name, value in changes.items() if value is not None)
        response = await self.origin(url, max_bytes=1, timeout_s=timeout_s, headers=headers, follow=False, fresh=True)
        content = Content(response.body, len(response.body)) if response.body else NO_CONTENT
        return OriginResponse(response.status, response.headers, content)


class FailingBucket(FakeR2):
    """Fails its next `failures` writes, and counts all."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.failures = 0
        self.writes = 0

    async def put(self, key: str, body: bytes | str, options: dict[str, Any]) -> Any:
        self.writes += 1
        if self.failures:
            self.failures -= 1
            key = ""
        return await super().put(key, body, options)


class ListLog:
    """Collects log lines as (name, fields)."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, dict[str, Any]]] = []

    def event(self, name: str, /, **fields: object) -> None:
        self.lines.append((name, fields))

    def error(self, name: str, error: BaseException, /, **fields: object) -> None:
        self.lines.append((name, fields | {"error": error}))


@dataclass(frozen=True)
class Answer:
    """What a site is told."""

    reply: dict[str, Any]
    replayed: bool


def read_reply(signed: SignedReply) -> Answer:
    return Answer(json.loads(signed.text), signed.replayed)


class World:
    """A zone's object with fakes around it; calls go through the same encoding as over RPC."""

    make_clock: type[PatientClock] = PatientClock

    def __init__(self, subrequests: int = 600, **config: Any) -> None:
        self.clock = self.make_clock()
        self.storage = FakeStorage()
        self.d1 = FakeD1()
        for path in MIGRATIONS:
            self.d1.migrate(path.read_text())
        self.database = D1(self.d1)
        self.kv = KV(FakeKV(self.clock), self.clock)
        self.bucket = FailingBucket(self.clock)
        self.edge = FakeEdge(self.clock)
        self.origin = FakeOrigin(self.clock)
        self.log = ListLog()
        self.webhook: list[dict[str, Any]] = []
        self.config = {"site_url": SITE, **config}
        self.subrequests = subrequests
        self.deployment = ""
        self.purges = PurgeMemory()
        self.zone = self.open_service().zones.get(ZONE)
        self.object = self.restart()

    def restart(self) -> ZoneObject:
        """Start the object again on the same storage."""
        self.object = self.open_service().open_zone(self.sql, Alarm(self.storage))
        return self.object

    def open_service(
        self, defer: Callable[[Awaitable[None]], object] | None = None, remembered: IsolateState | None = None
    ) -> PreloadService:
        """Return the service of one isolate; without `defer` it answers no visitor."""
        ports = PreloadPorts(
            variables=Variables(self._read_variable),
            version_id="",
            database=self.database,
            kv=self.kv,
            bucket=R2(self.bucket),
            edge=self.edge,
            edge_texts=self.edge,
            bodies=PlainBodies(),
            files=UNUSED,
            send_to_zone=self.forward,
            open_fetch=lambda _allowed: self.origin,
            open_webhook_fetch=lambda _allowed: self._post_webhook,
            clock=self.clock,
            new_id=lambda: random.randbytes(16).hex(),
            defer=defer or UNUSED,
            log=self.log,
        )
        return PreloadService(ports, remembered)

    def build_page_server(
        self,
        send: VisitorsOrigin,
        defer: Callable[[Awaitable[None]], object],
        memory: IsolateMemory,
        purges: PurgeMemory | None = None,
        *,
        config: ZoneConfig | None = None,
    ) -> PageServer:
        """Return what serves one visitor; each has its own short memory of hot pages."""
        remembered = IsolateState(visits=memory, purges=self.purges if purges is None else purges)
        zone = Zone(ZONE, config or self.zone_config)
        return self.open_service(defer, remembered).visit(zone, send.send).page_server

    def build_reader(self, purges: PurgeMemory | None = None) -> PurgeReader:
        return self.open_service(remembered=IsolateState(purges=purges or self.purges)).purge_reader(ZONE)

    def _read_variable(self, name: str) -> str | None:
        return {
            "SIGNING_KEY": KEY,
            "SIGNING_KEY_PREVIOUS": "the-previous-key-of-all-zones",
            "PRELOAD_SUBREQUESTS": str(self.subrequests),
            "ALERT_WEBHOOK_URL": "https://hooks.example.com/alerts",
            "DEPLOYMENT_ID": self.deployment,
        }.get(name)

    @property
    def sql(self) -> Sql:
        return Sql(self.storage)

    @property
    def services(self) -> ZoneServices:
        return self.object.calls(ZONE).services

    @property
    def zone_config(self) -> ZoneConfig:
        return parse_config(self.config)

    async def forward(self, zone_id: str, name: str, message: Message) -> Message:
        # Looked up for each call, because a test may put something in its place.
        return await self._send(zone_id, name, message)

    async def _send(self, zone_id: str, name: str, message: Message) -> Message:
        return await self.object.call(zone_id, name, message)

    async def _post_webhook(self, url: str, *, body: bytes | None = None, **_: object) -> FetchResponse:
        self.webhook.append(json.loads(body or b""))
        return FetchResponse(url, 200, (), b"")

    async def register(self) -> Self:
        await self.zone.configure(encode_json(self.config))
        return self

    def sign(self, body: dict[str, Any], path: str, *, key: str = KEY, nonce: str | None = None) -> SignedRequest:
        content = repr(body).encode()
        nonce = nonce or random.randbytes(16).hex()
        headers = sign_request(key, "POST", path, content, now=self.clock.now(), nonce=nonce)
        lowered = {name.lower(): value for name, value in headers.items()}
        return SignedRequest.from_request("POST", path, lowered, content)

    async def preload(self, *paths: str, **more: Any) -> Answer:
        key = {name: more.pop(name) for name in ("key", "nonce") if name in more}
        body = {
            "zone_id": ZONE,
            "idempotency_key": f"preload-{uuid.UUID(int=random.getrandbits(128), version=4)}",
            "urls": [SITE + path for path in paths],
            **more,
        }
        return read_reply(await self.zone.preload(self.sign(body, "/api/v1/preload", **key), encode_json(body)))

    async def purge(self, **what: Any) -> Answer:
        body = {
            "zone_id": ZONE,
            "idempotency_key": f"purge-{uuid.UUID(int=random.getrandbits(128), version=4)}",
            **what,
        }
        reply = await self.zone.purge(self.sign(body, "/api/v1/purge"), encode_json(body))
        await self.zone.settle()
        while self.services.purger.load_next():
            await self.object.calls(ZONE).background.carry_out_purges()
        return read_reply(reply)

    async def enqueue(self, *paths: str, **more: Any) -> str:
        reply = await self.zone.enqueue(encode_json({"urls": [SITE + path for path in paths], **more}))
        return str(reply["preload_batch_id"])

    async def ring_alarm(self) -> None:
        """Ring the alarm once, at the time that is set."""
        assert self.storage.alarm_ms is not None
        self.clock.advance(max(0.0, self.storage.alarm_ms / 1000 - self.clock.now()))
        self.storage.alarm_ms = None
        await self.object.handle_alarm()

    async def drain(self, most: int = 100) -> None:
        """Ring the alarm until it is no longer set."""
        for _ in range(most):
            if self.storage.alarm_ms is None:
                return
            await self.ring_alarm()
        raise AssertionError("the alarm rings forever")

    async def batch(self, batch_id: str) -> Batch:
        return await self.zone.show_batch(batch_id)

    async def rows(self, sql: str, *params: object) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.database.all(sql, *params)]

    async def statuses(self, path: str) -> list[str]:
        """Return the log of one page, oldest first."""
        rows = await self.rows("SELECT status FROM preload_log WHERE url = ? ORDER BY id", SITE + path)
        return [row["status"] for row in rows]
