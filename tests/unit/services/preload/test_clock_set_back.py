"""A clock that is set back, or forward and back again: a zone goes on within its own limits, and no purge or nonce is lost."""

from typing import Any

import pytest

from fakes.clock import ManualClock
from fakes.kv import FakeKV
from sluice.core.errors import Conflict, TooManyRequests
from sluice.core.json_text import encode_json
from sluice.core.ports import NO_CONTENT, Content
from sluice.core.preload.caching.freshness import Freshness
from sluice.core.preload.circuit_breaker import Breaker
from sluice.core.preload.priority import MANUAL
from sluice.core.preload.purge_list import PurgeVerdict
from sluice.core.preload.rate_limits import MAX_HOLD_S, MINUTE_S, SITEMAP, OriginLimits
from sluice.core.preload.request_signing import NONCE_KEPT_S
from sluice.core.preload.retry_backoff import MAX_DELAY_S
from sluice.platform.storage.kv import KV
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.serving.copies import Copy
from sluice.services.preload.serving.host_directory import HostCache
from sluice.services.preload.serving.isolate_memory import FLIGHT_S, IsolateMemory
from sluice.services.preload.serving.replies import VisitTally
from sluice.services.preload.warming.drain import LEASE_S
from sluice.services.preload.warming.grant_store import GrantStore
from sluice.services.preload.warming.settle_page import MAX_HOLD_S as MAX_ZONE_HOLD_S
from sluice.services.preload.zone.clock_watch import MAX_WEBHOOK_WAIT_S
from sluice.services.preload.zone.housekeeping import FORGET_INTERVAL_S
from sluice.services.preload.zone.operator_calls import KEY_OVERLAP_S
from sluice.web.admin import WrongTokens
from unit.services.preload.test_grant_store import build_store
from unit.services.preload.world import KEY, SITE, ZONE, OriginReply, World

DAY_S = 86_400.0
JUMPS = [1.0, 3600.0, DAY_S]


class PlatformClock:
    """The clock of KV and of the edge cache, which nobody sets back."""

    def __init__(self, clock: ManualClock) -> None:
        self._clock = clock
        self.ahead_s = 0.0

    def now(self) -> float:
        return self._clock.now() + self.ahead_s

    async def sleep(self, seconds: float) -> None:
        await self._clock.sleep(seconds)


class SettableWorld(World):
    """A zone whose own clock can be set."""

    def __init__(self, **config: Any) -> None:
        super().__init__(**config)
        self.platform_clock = PlatformClock(self.clock)
        self.kv = KV(FakeKV(self.platform_clock), self.clock)
        self.edge._clock = self.platform_clock  # type: ignore[assignment]
        self.zone = self.open_service().zones.get(ZONE)
        self.restart()

    def set_clock(self, seconds: float) -> None:
        """Set the clock forward, or back by a negative number."""
        self.clock.advance(seconds)
        self.platform_clock.ahead_s -= seconds

    async def run_cron(self, minutes: int) -> None:
        """Let minutes pass with the cron, and the alarm whenever it is due."""
        for _ in range(minutes):
            await self.zone.tick()
            for _ in range(100):
                alarm_ms = self.storage.alarm_ms
                if alarm_ms is None or alarm_ms / 1000 > self.clock.now():
                    break
                await self.ring_alarm()
            self.clock.advance(60)


@pytest.mark.parametrize("back_s", JUMPS)
@pytest.mark.parametrize("restarts", [True, False])
def test_grants(back_s: float, restarts: bool):
    """Requests before the jump count for as long as an abandoned one, whether the object lives on or not."""
    store, sql = build_store()
    limits, now = OriginLimits(2, 2, 4), 2 * DAY_S
    for grant_id in [store.grant(now) for _ in range(4)]:
        store.end(grant_id, now)
    if restarts:
        store.grant(now)
        store = GrantStore(sql)
        store.abandon(now - back_s, 5)
    now -= back_s
    waited_s = 0.0
    while wait_s := store.next_wait_s(limits, now + waited_s):
        waited_s += wait_s
    assert waited_s <= MAX_HOLD_S + MINUTE_S + 1
    assert GrantStore(sql).next_wait_s(limits, now + waited_s) == 0


def test_places():
    """A half-open breaker, which waits until nothing is in flight, waits no longer either."""
    store, _ = build_store()
    store.end(store.grant(DAY_S), DAY_S)
    assert store.count_in_flight(0) == 1
    assert store.count_in_flight(MAX_HOLD_S + 1) == 0


@pytest.mark.parametrize("restarts", [True, False])
async def test_retry(restarts: bool):
    """A page that waits for its next attempt is warmed within the longest wait, without another call."""
    world = await SettableWorld().register()
    world.origin.scripts[f"{SITE}/a"] = OriginReply(500)
    batch_id = await world.enqueue("/a")
    await world.ring_alarm()
    world.origin.scripts.clear()
    world.set_clock(-DAY_S)
    if restarts:
        world.restart()
    await world.run_cron(int(MAX_DELAY_S // 60) + 2)
    assert (await world.batch(batch_id))["done"] == 1


@pytest.mark.parametrize("back_s", JUMPS)
async def test_stored_times(back_s: float):
    """After a restart no stored time lies further ahead than its own rule could set it."""
    world = await SettableWorld().register()
    now = world.clock.now()
    services = world.services
    done_at = ("scheduled_at", "replayed_at", "crawled_at", "forgot_at", "published_at", "mirrored_at")
    services.state.put(
        **dict.fromkeys(done_at, now),
        hold_until=now + MAX_ZONE_HOLD_S,
        webhook_failures=[7, now + MAX_WEBHOOK_WAIT_S],
        signing_keys=[{"key": KEY, "until": None}, {"key": "former", "until": now + KEY_OVERLAP_S}],
        breaker=Breaker(state="open", backoff_s=60, open_until=now + 60).as_json(),
        circle={"url": SITE, "at": now},
    )
    world.sql.run(
        "INSERT INTO crawl (batch_id, url, depth, trigger_name, due_at) VALUES ('b', 'u', 0, 'sitemap', ?)", now + 3600
    )
    world.sql.run("INSERT INTO result (at, ok) VALUES (?, 0)", now)
    await world.enqueue("/a", trigger=MANUAL)
    services.queue.lease(now, LEASE_S)
    world.set_clock(-back_s)
    world.restart()
    state, now = world.services.state, world.clock.now()
    assert max(state.get(name) for name in done_at) <= now
    assert state.get("hold_until") == now + MAX_ZONE_HOLD_S
    assert state.get("webhook_failures") == [7, now + MAX_WEBHOOK_WAIT_S]
    assert state.get("signing_keys")[1]["until"] == now + KEY_OVERLAP_S
    assert state.breaker.open_until == now + 60
    assert state.get("circle")["at"] == now
    assert world.sql.value("SELECT due_at FROM crawl") == now + 3600
    assert world.sql.value("SELECT at FROM result") == now
    assert float(world.sql.value("SELECT due_at FROM entry") or 0) <= now + MAX_HOLD_S


async def test_schedule_and_open_breaker():
    """While the object lives on, the cron alone brings back the schedule and an origin whose breaker was open."""
    world = await SettableWorld(preload_schedule_interval_s=600).register()
    world.services.state.put_breaker(Breaker(state="open", backoff_s=60, open_until=world.clock.now() + 60))
    await world.enqueue("/a")
    await world.run_cron(1)
    world.set_clock(-DAY_S)
    await world.run_cron(3)
    assert world.origin.counts["/a"] == 1
    await world.run_cron(12)
    assert world.clock.now() - world.services.state.get("scheduled_at") <= 600


async def test_rates():
    """A site that has used up its requests may make some again as soon as ever."""
    world = await SettableWorld().register()
    admission = world.services.admission
    for _ in range(SITEMAP.count):
        admission.charge([SITEMAP], world.clock.now())
    world.set_clock(-DAY_S)
    await world.zone.tick()
    with pytest.raises(TooManyRequests):
        admission.charge([SITEMAP], world.clock.now())
    admission.charge([SITEMAP], world.clock.now() + SITEMAP.period_s / SITEMAP.count)


@pytest.mark.parametrize("jumps", [(DAY_S, -DAY_S), (-DAY_S, DAY_S), (-1.0, 0.0)])
async def test_no_replay(jumps: tuple[float, float]):
    """A nonce that was used stays used: while its request is recent by the clock, wherever the clock was meanwhile."""
    world = await SettableWorld().register()
    body = {"zone_id": ZONE, "idempotency_key": "preload-0b6f36d4-8a15-4bb2-8a05-30cd9b0a1b77", "urls": [f"{SITE}/a"]}
    signed = world.sign(body, "/api/v1/preload")
    await world.zone.preload(signed, encode_json(body))
    for seconds in jumps:
        world.set_clock(seconds)
        await world.zone.tick()
        world.services.admission.forget_expired(world.clock.now())
        world.restart()
    with pytest.raises(Conflict, match="replay"):
        await world.zone.preload(signed, encode_json(body))
    world.set_clock(NONCE_KEPT_S + DAY_S + 1)
    world.services.admission.forget_expired(world.clock.now())
    assert world.sql.value("SELECT count(*) FROM nonce") == 0


async def test_purge_holds():
    """An isolate that asked for the purges before the jump asks again, so that a purge holds after its delay."""
    world = await SettableWorld().register()
    reader = world.build_reader()
    assert await reader.judge(f"{SITE}/a", (), 0) is PurgeVerdict.VALID
    world.set_clock(-DAY_S)
    await world.purge(urls=[f"{SITE}/a"])
    world.clock.advance(3)
    assert await reader.judge(f"{SITE}/a", (), 0) is PurgeVerdict.PURGED
    assert await world.build_reader().judge(f"{SITE}/a", (), 0) is PurgeVerdict.PURGED


async def test_purge_survives_a_jump_forward():
    """A clock that is set forward forgets no purge of which an edge may still have an older copy; later it goes."""
    world = await SettableWorld().register()
    await world.zone.tick()
    await world.purge(urls=[f"{SITE}/a"])
    world.set_clock(DAY_S)
    await world.zone.tick()
    assert world.services.marks.load().marks
    for _ in range(3):
        world.clock.advance(FORGET_INTERVAL_S)
        await world.zone.tick()
    assert not world.services.marks.load().marks


async def test_purges_in_the_order_of_their_numbers():
    """A purge before the jump is carried out before one after it."""
    world = await SettableWorld().register()
    first = await world.zone.purge_by_hand(encode_json({"tags": ["one"]}))
    world.set_clock(-DAY_S)
    await world.zone.purge_by_hand(encode_json({"tags": ["two"]}))
    found = world.services.purger.load_next()
    assert found is not None
    assert found.purge_id == first["purge_id"]


async def test_warmed_in_the_future():
    """A page that was warmed before the jump is neither taken for one that is newer than its change, nor left by the schedule."""
    world = await SettableWorld(preload_schedule_interval_s=600).register()
    world.origin.default = OriginReply(headers=(("cache-control", "max-age=7200"),))
    await world.enqueue("/a")
    await world.drain()
    services = world.services
    assert services.known_pages.is_current(f"{SITE}/a", "", world.clock.now() - 60, world.clock.now())
    world.set_clock(-DAY_S)
    now = world.clock.now()
    assert not services.known_pages.is_current(f"{SITE}/a", "", now - 60, now)
    assert services.known_pages.list_current([(f"{SITE}/a", now - 60)], now) == set()
    await world.run_cron(12)
    assert world.origin.counts["/a"] == 2
    assert await world.rows("SELECT 1 FROM cached_pages WHERE stored_at > ?", world.clock.now()) == []


def test_copy_of_the_future():
    """A copy that was stored before the jump is stale: it may serve while a newer one is fetched."""
    copy = Copy(page=Page(SITE, ""), headers=(), content=NO_CONTENT, stored_at=DAY_S, freshness=Freshness(600, 60, 60))
    assert copy.is_fresh(DAY_S - 1)
    assert not copy.is_fresh(0)
    assert copy.may_serve_while_revalidating(0)


@pytest.mark.parametrize("back_s", JUMPS)
async def test_turns(back_s: float):
    """What visitors may cause now and then is possible again within its interval."""
    world = await SettableWorld().register()
    assert await world.zone.claim_refresh(SITE, "")
    world.set_clock(-back_s)
    world.clock.advance(41)
    assert await world.zone.claim_refresh(SITE, "")


@pytest.mark.parametrize("back_s", [3600.0, DAY_S])
def test_memory_of_an_isolate(back_s: float):
    """Nothing that an isolate remembers lasts longer than from now: flights, turns, keys, wrong tokens, visits."""
    memory, before, now = IsolateMemory(), 2 * DAY_S, 2 * DAY_S - back_s
    memory.begin_flight("page", before)
    assert memory.find_flight("page", before + FLIGHT_S - 1)
    assert memory.find_flight("page", now) is None
    assert memory.claim_interval("turn", 600, before)
    assert memory.claim_interval("turn", 600, now)
    memory.note_unshared("page", before)
    assert not memory.is_unshared("page", now)
    memory.keys[ZONE] = (before + 60, (KEY,))
    assert memory.find_keys(ZONE, now) is None
    tokens = WrongTokens([before] * 50)
    assert tokens.add(now) < 1
    assert VisitTally(reported_at=before).is_due(10, now)


async def test_hot_page():
    """An isolate does not serve from its short memory what it remembered before the jump."""
    world = SettableWorld()
    edge = world.open_service().edge
    url, headers = f"{SITE}/a", (("cache-control", "max-age=60"),)
    for body in (b"old", b"new"):
        await world.edge.put(url, status=200, headers=headers, content=Content(body, 3))
        for _ in range(2):
            found = await edge.match(url)
        assert found is not None
        assert found.content.data == body
        world.set_clock(-DAY_S)


async def test_zones_of_the_cron():
    """The cron reads the list of zones again that it read before the jump."""
    world = SettableWorld()
    cron = world.open_service().cron
    await cron.run()
    assert cron.remembered.ids == []
    await world.register()
    world.set_clock(-DAY_S)
    await cron.run()
    assert cron.remembered.ids == [ZONE]


async def test_hosts():
    """A host that belongs to nobody before the jump is looked up again."""
    world = SettableWorld()
    hosts = world.open_service().hosts
    assert await hosts.find_zone(f"{SITE}/a") is None
    assert isinstance(hosts.cache, HostCache)
    world.set_clock(-DAY_S)
    await world.register()
    assert await hosts.find_zone(f"{SITE}/a")
