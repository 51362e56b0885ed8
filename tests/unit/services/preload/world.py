"""A zone's object among strict fakes: time is the test's, the origin answers as scripted."""

import asyncio
import random
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.objects import FakeStorage
from fakes.r2 import FakeR2
from sluice.core.errors import Unavailable
from sluice.core.ports import FetchResponse, HeaderPairs
from sluice.core.preload.signing import SignedRequest, sign
from sluice.core.preload.zone_config import ZoneConfig, parse_zone
from sluice.platform.durable_objects import Alarm, Sql
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2
from sluice.services.preload.zone.requests_shared import Settings
from sluice.services.preload.zone.services import Outside
from sluice.services.preload.zone.zone_object import ZoneObject

MIGRATIONS = sorted((Path(__file__).parents[4] / "migrations").glob("*_preload_*.sql"))
KEY = "a-signing-key-of-all-zones"
SITE = "https://www.example.com"
ZONE = "abc123xyz"


@dataclass
class Answered:
    status: int = 200
    headers: HeaderPairs = ()
    body: bytes = b"<html>"


class PatientClock(ManualClock):
    """Lets everybody else get on before it moves: who sleeps beside work that is quicker sleeps no time at all."""

    async def sleep(self, seconds: float) -> None:
        for _ in range(200):
            await asyncio.sleep(0)
        await super().sleep(seconds)


Script = Callable[[HeaderPairs], Awaitable[Answered] | Answered]


@dataclass
class FakeOrigin:
    """Answers by URL; a plain 200 where nobody scripted anything. Counts who is asked how often and at once."""

    clock: ManualClock
    scripts: dict[str, Answered | Script | Exception] = field(default_factory=dict)
    default: Answered | Script | Exception = field(default_factory=Answered)
    asked: list[tuple[float, str, HeaderPairs]] = field(default_factory=list)
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
        """Requests to an origin are bounded, pass every cache, and leave redirects to the caller."""
        assert max_bytes > 0
        assert timeout_s > 0
        assert fresh
        assert not follow
        self.asked.append((self.clock.now(), url, headers))
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
            if isinstance(script, Answered):
                answer = script
            else:
                made = script(headers)
                answer = made if isinstance(made, Answered) else await made
            if sink:
                sink(answer.body)
            return FetchResponse(url, answer.status, answer.headers, b"" if sink else answer.body)
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
        return Counter(url.removeprefix(SITE) for _, url, _ in self.asked)


@dataclass
class _Held:
    status: int
    headers: HeaderPairs
    body: bytes
    until: float


class FakeEdge:
    """Keeps an answer for as long as its max-age says."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.held: dict[str, _Held] = {}
        self.broken = False

    async def match(self, url: str) -> _Held | None:
        found = self.held.get(url)
        return found if found and found.until > self._clock.now() else None

    async def put(self, url: str, *, status: int, headers: HeaderPairs, body: bytes) -> None:
        if self.broken:
            raise Unavailable("edge cache put")
        age = next(int(value.partition("max-age=")[2]) for name, value in headers if name == "cache-control")
        self.held[url] = _Held(status, headers, body, self._clock.now() + age)

    async def delete(self, url: str) -> bool:
        return self.held.pop(url, None) is not None


class FailingBucket(FakeR2):
    """Refuses its next so many writes."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(clock)
        self.failures = 0

    async def put(self, key: str, body: bytes | str, options: dict[str, Any]) -> Any:
        if self.failures:
            self.failures -= 1
            key = ""
        return await super().put(key, body, options)


class World:
    def __init__(self, subrequests: int = 600, **config: Any) -> None:
        self.clock = PatientClock()
        self.storage = FakeStorage()
        self.d1 = FakeD1()
        for path in MIGRATIONS:
            self.d1.migrate(path.read_text())
        self.database = D1(self.d1)
        self.kv = KV(FakeKV(self.clock), self.clock)
        self.bucket = FailingBucket(self.clock)
        self.edge = FakeEdge(self.clock)
        self.origin = FakeOrigin(self.clock)
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.webhook: list[dict[str, Any]] = []
        self.config = {"site_url": SITE, **config}
        self.subrequests = subrequests
        self.deployment = ""
        self.zone = self.born()

    def born(self) -> ZoneObject:
        """A new life of the object on the same storage."""
        outside = Outside(
            clock=self.clock,
            database=self.database,
            kv=self.kv,
            bucket=R2(self.bucket),
            edge=self.edge,
            fetch=self.origin,
            new_id=lambda: random.randbytes(16).hex(),
            tell=self._tell,
        )
        settings = Settings(
            signing_keys=(KEY, "the-previous-key-of-all-zones"),
            subrequests=self.subrequests,
            post_webhook=self._post,
            deployment=self.deployment,
        )
        self.zone = ZoneObject(self.sql, Alarm(self.storage), outside, settings)
        return self.zone

    @property
    def sql(self) -> Sql:
        return Sql(self.storage)

    @property
    def zone_config(self) -> ZoneConfig:
        return parse_zone(self.config)

    def _tell(self, name: str, error: Exception | None = None, **fields: Any) -> None:
        if error is not None:
            fields["error"] = error
        self.told.append((name, fields))

    async def _post(self, alert: dict[str, Any]) -> None:
        self.webhook.append(alert)

    async def registered(self) -> "World":
        await self.call("configure", config=self.config)
        return self

    async def call(self, method: str, **given: Any) -> dict[str, Any]:
        return await self.zone.call(ZONE, method, given)

    def signed(self, body: dict[str, Any], path: str, *, key: str = KEY, nonce: str | None = None) -> dict[str, Any]:
        content = repr(body).encode()
        headers = sign(key, "POST", path, content, now=self.clock.now(), nonce=nonce or random.randbytes(16).hex())
        lowered = {name.lower(): value for name, value in headers.items()}
        request = SignedRequest.read("POST", path, lowered, content)
        names = ("method", "path", "timestamp", "nonce", "body_hash", "signature")
        return {name: getattr(request, name) for name in names}

    async def preload(self, *paths: str, **more: Any) -> dict[str, Any]:
        key = {name: more.pop(name) for name in ("key", "nonce") if name in more}
        body = {
            "zone_id": ZONE,
            "idempotency_key": f"preload-{uuid.UUID(int=random.getrandbits(128), version=4)}",
            "urls": [SITE + path for path in paths],
            **more,
        }
        return await self.call("preload", signed=self.signed(body, "/api/v1/preload", **key), body=body)

    async def purge(self, **what: Any) -> dict[str, Any]:
        body = {
            "zone_id": ZONE,
            "idempotency_key": f"purge-{uuid.UUID(int=random.getrandbits(128), version=4)}",
            **what,
        }
        done = await self.call("purge", signed=self.signed(body, "/api/v1/purge"), body=body)
        await self.call("settle")
        return done

    async def enqueue(self, *paths: str, **more: Any) -> str:
        done = await self.call("enqueue", body={"urls": [SITE + path for path in paths], **more})
        return str(done["preload_batch_id"])

    async def ring(self) -> None:
        """Ring once, at the time that is set."""
        assert self.storage.alarm_ms is not None
        self.clock.advance(max(0.0, self.storage.alarm_ms / 1000 - self.clock.now()))
        self.storage.alarm_ms = None
        await self.zone.ring()

    async def drain(self, most: int = 100) -> None:
        """Ring until nothing is left to ring for."""
        for _ in range(most):
            if self.storage.alarm_ms is None:
                return
            await self.ring()
        raise AssertionError("it rings for ever")

    async def batch(self, batch_id: str) -> dict[str, Any]:
        return await self.call("batch", batch_id=batch_id)

    async def rows(self, sql: str, *params: object) -> list[dict[str, Any]]:
        return [dict(row) for row in await self.database.all(sql, *params)]

    async def log(self, path: str) -> list[str]:
        rows = await self.rows("SELECT status FROM preload_log WHERE url = ? ORDER BY id", SITE + path)
        return [row["status"] for row in rows]
