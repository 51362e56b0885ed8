"""The preloader under simulation: visitors, editors, operators, crons and a moody origin, checked by `preload_model`.

What is not simulated yet: sitemaps, the site's agent, several zones, and editing the configuration in KV by hand. Clocks jump by up to a day, forward and
back. Those of one data centre that differ by less than its zone's delay make a purge take as much longer; what is kept for days is kept by the zone's clock.
"""

import asyncio
import json
from random import Random
from typing import Any, Final

from simulation.platform import TrueClock
from simulation.preload_checks import check_copies, check_drained, check_invariants, check_retention
from simulation.preload_model import Acceptance, Limits, Page, PreloadModel, write_version
from simulation.preload_plan import PATHS, plan
from simulation.preload_world import ISOLATES, SITE, ZONE, PreloadPlatform
from simulation.simulation import Action, Scenario, Simulation, within
from simulation.web import Arrival, Served

CALM_S: Final = 3 * 3600
PURGE_DELAY_S: Final = 2
# Clocks that differ by less may make a list of purges look younger than it is.
LARGE_JUMP_S: Final = 30.0
_LIMITS: Final = ("max_concurrency", "rps_limit", "rpm_limit")
_WORK: Final = ("entry", "purge", "outbox")


class PreloadWorld:
    def __init__(self, simulation: Simulation) -> None:
        self.simulation = simulation
        self.platform = PreloadPlatform(simulation, self._serve)
        self.model = PreloadModel(simulation, {path: Page(path, None) for path in PATHS})
        self._moods: dict[str, tuple[str, float]] = {}
        self._config: dict[str, Any] = {}
        self._operating = asyncio.Lock()
        self._sent: list[tuple[str, dict[str, Any]]] = []
        self._latency_s = 0.0
        self._small_jumps_s = 0.0
        self._backward_s = 0.0

    # The world

    async def start(self) -> None:
        await self._settings(0)

    async def act(self, action: Action) -> None:
        name = action.name.replace(" ", "_")
        await getattr(self, f"_{name}")(*action.arguments)
        check_invariants(self.platform, self.model)

    async def calm(self) -> None:
        """Everybody is content: the queue drains, purges end, and everybody sees what the origin says."""
        model, simulation = self.model, self.simulation
        self._moods.clear()
        await asyncio.sleep(70)  # what was under way ends, KV shows what was written
        check_copies(self.platform, model)
        await self._operate(ISOLATES[0], "PUT", "config", self._config)
        await self._operate(ISOLATES[0], "POST", "resume", None)
        began_at = model.now()
        while self._has_work():
            if model.now() - began_at > CALM_S:
                simulation.violate("everything drains", self._describe_work())
                return
            await self._cron()
            await asyncio.sleep(60)
            check_invariants(self.platform, model)
        await self._cron()
        check_drained(self.platform, model)
        await self._change_quietly()
        await self._publish(ISOLATES[0], "global", PATHS, is_soft=False)
        await asyncio.sleep(PURGE_DELAY_S + 0.1)
        for isolate in ISOLATES:
            for path in PATHS:
                await self._visit(isolate, path)
        await asyncio.sleep(9 * 86_400 + self._backward_s)
        for _ in range(4):
            await self._cron()
            await asyncio.sleep(700)
        check_retention(self.platform, model)
        check_invariants(self.platform, model)

    async def _change_quietly(self) -> None:
        """Change all pages and tell nobody: what lives for a minute must be gone after three."""
        for path in PATHS:
            await self._visit(ISOLATES[0], path)
            await self._edit(path)
        await asyncio.sleep(180)
        for path in PATHS:
            await self._visit(ISOLATES[0], path)

    def _has_work(self) -> bool:
        return any(self.platform.storage.rows(f"SELECT 1 FROM {table} LIMIT 1") for table in _WORK)  # noqa: S608

    def _describe_work(self) -> str:
        storage = self.platform.storage
        rows = {table: storage.rows(f"SELECT * FROM {table} LIMIT 3") for table in (*_WORK, "state")}  # noqa: S608
        return f"alarm {storage.alarm_ms}, {rows}"

    # The origin

    async def _serve(self, arrival: Arrival) -> Served:
        model, path = self.model, "/" + arrival.request.url.partition("://")[2].partition("/")[2]
        wall = TrueClock().now() + arrival.sender.skew_s
        model.send(arrival.sender, path, self._read_state, wall)
        model.arrive(arrival, path)
        self.simulation.note(f"{arrival.sender.name} asks the origin for {path}")
        mood = self._mood(path)
        page = model.pages.get(path)
        await asyncio.sleep(self.simulation.chance.delay())
        if page is None:
            return Served(404)
        if mood == "down":
            return Served(503)
        if mood == "busy":
            return Served(429, (("retry-after", "7"),))
        if mood == "missing":
            return Served(404)
        if mood == "hangs":
            await asyncio.sleep(1000)
        version = page.version
        after_s = 4.0 if mood == "slow" else self.simulation.chance.delay() + self._latency_s
        etag = f'"v{version}"'
        headers = (
            ("content-type", "text/html"),
            ("etag", etag),
            ("cache-tag", f"all, t:{path.replace('/', '.') or '.'}x"),
            *((("cache-control", f"max-age={page.max_age_s}"),) if page.max_age_s is not None else ()),
        )
        if ("if-none-match", etag) in arrival.request.headers:
            return Served(304, headers, after_s=after_s)
        return Served(200, headers, write_version(path, version), after_s)

    def _mood(self, path: str) -> str:
        for place in (path, "*"):
            mood, until = self._moods.get(place, ("fine", 0.0))
            if mood != "fine" and until > self.model.now():
                return mood
        return "fine"

    def _read_state(self, name: str) -> Any:
        rows = self.platform.storage.rows(f"SELECT value FROM state WHERE name = '{name}'")  # noqa: S608
        return json.loads(rows[0]["value"]) if rows else None

    async def _origin(self, mood: str, place: str, seconds: float) -> None:
        self._moods[place] = (mood, self.model.now() + seconds)

    async def _edit(self, path: str) -> None:
        self.model.pages[path].began.append(self.model.now())

    # Visitors and crons

    async def _visit(self, isolate: str, path: str) -> None:
        began_at = self.model.now()
        answer = await within(self.simulation, self.platform.visit(isolate, SITE + path), f"a visit of {path}")
        if answer is not None:
            reply, body = answer
            self.simulation.note(
                f"{isolate} shows {path}: {reply.status} {body.decode()} {reply.header('cache-status')}"
            )
            self.model.check_visit(path, began_at, reply, body, self._small_jumps_s)

    async def _cron(self, _isolate: str = "") -> None:
        await within(self.simulation, self.platform.run_cron(), "the cron")

    # Sites

    async def _publish(self, isolate: str, scope: str, paths: tuple[str, ...], is_soft: bool) -> None:
        """Change pages, then purge them; a purge that is not answered is sent again with its key."""
        covered = list(PATHS) if scope == "global" else [each for each in PATHS if _is_covered(each, scope, paths)]
        for path in covered:
            self.model.pages[path].began.append(self.model.now())
        versions = {path: self.model.pages[path].version for path in covered}
        body = {"zone_id": ZONE, "idempotency_key": self._new_key("purge"), **_describe_scope(scope, paths)}
        reply = await self._send_signed(isolate, "/api/v1/purge", body | ({"soft": True} if is_soft else {}))
        if reply is not None:
            self.simulation.note(f"purge accepted: {covered} {versions}")
            self.model.purged(covered, versions, PURGE_DELAY_S, is_soft=is_soft)
            chance = self.simulation.chance.order
            if chance.random() < 0.3:
                await asyncio.sleep(chance.choice((0.0, 0.3, 2.0)))
                await self._preload(isolate, tuple(covered))
            await self._look(covered)

    async def _look(self, paths: list[str]) -> None:
        """Look at what was purged as soon as it must be gone, and once more a little later."""
        chance = self.simulation.chance.order
        for wait_s in (PURGE_DELAY_S + 0.1, chance.choice((1.0, 5.0, 30.0))):
            await asyncio.sleep(wait_s)
            await self._visit(chance.choice(ISOLATES), chance.choice(paths))

    async def _preload(self, isolate: str, paths: tuple[str, ...]) -> None:
        called_at = self.model.now()
        body = {"zone_id": ZONE, "idempotency_key": self._new_key("preload"), "urls": [SITE + path for path in paths]}
        if reply := await self._send_signed(isolate, "/api/v1/preload", body):
            self.model.acceptances.append(Acceptance(reply["preload_batch_id"], called_at, list(paths)))

    async def _repeat(self, isolate: str) -> None:
        """Send an earlier request once more, as a site does that missed the reply; and its very bytes, as a stranger would."""
        if not self._sent:
            return
        path, body = self.simulation.chance.order.choice(self._sent)
        await self._send_signed(isolate, path, body)
        nonce = self.simulation.new_id()
        first = await self.platform.call_api(isolate, "POST", path, body, sign=True, nonce=nonce)
        second = await self.platform.call_api(isolate, "POST", path, body, sign=True, nonce=nonce)
        if first and first[0] == 202 and second:
            self.simulation.require(second[0] != 202, "a nonce is used once", second)

    async def _send_signed(self, isolate: str, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        """Return what was accepted; a call without an answer is made again, at another isolate."""
        self._sent.append((path, body))
        for attempt in range(3):
            answer = await self.platform.call_api(
                ISOLATES[(ISOLATES.index(isolate) + attempt) % 3], "POST", path, body, sign=True
            )
            self.simulation.note(f"{path} {body['idempotency_key']}: {answer}")
            if answer and answer[0] == 202:
                self.model.replied(body["idempotency_key"], json.dumps(answer[1], sort_keys=True))
                return dict(answer[1])
            if answer and answer[0] < 500:
                return None
            await asyncio.sleep(1 + 3 * attempt)
        return None

    def _new_key(self, prefix: str) -> str:
        digits = self.simulation.new_id()
        return f"{prefix}-{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"

    # Operators

    async def _operate(self, isolate: str, method: str, path: str, body: object) -> tuple[int, Any] | None:
        """Make an operator's call, one at a time; after one without an answer he waits until it is over."""
        address = f"/api/v1/zones/{ZONE}/{path}"
        async with self._operating:
            if path in {"resume", "config"}:
                self.model.paused_since = None
            if isinstance(body, dict) and path == "config":
                self._add_limits(body, is_certain=False)
            answer = await self.platform.call_api(isolate, method, address, body, sign=False)
            if path == "pause" and answer and answer[0] == 200:
                self.model.paused_since = self.model.now()
            if isinstance(body, dict) and path == "config" and answer and answer[0] == 200:
                self._config = body
                self._add_limits(body, is_certain=True)
            self.simulation.note(f"{method} {address}: {str(answer)[:200]}")
            if answer is None or answer[0] >= 500:
                await asyncio.sleep(60)
            return answer

    async def _settings(self, seed: int) -> None:
        """Register the zone, with settings of this seed."""
        chance = Random(seed)
        self._latency_s = chance.choice((0.0, 0.1, 0.5, 2.0))
        for page in self.model.pages.values():
            page.max_age_s = chance.choice((None, 20, 60, 300))
        await self._configure(ISOLATES[0], seed)

    async def _configure(self, isolate: str, seed: int) -> None:
        chance = Random(seed)
        config = {
            "site_url": SITE,
            "preload_max_concurrency": chance.choice((1, 2, 6)),
            "preload_rps_limit": chance.choice((1, 3, 10)),
            "preload_rpm_limit": chance.choice((20, 60, 120)),
            "preload_circuit_breaker_max_backoff_s": chance.choice((30, 60, 120)),
            "preload_queue_max_depth": chance.choice((4, 100)),
            "preload_schedule_interval_s": chance.choice((60, 600, 1800)),
            "preload_post_purge": chance.random() < 0.5,
            "cache_stale_while_revalidate_s": chance.choice((0, 30, 86_400)),
            "cache_stale_if_error_s": chance.choice((0, 60, 604_800)),
            "cache_purge_delay_s": PURGE_DELAY_S,
            "origin_timeout_s": 20,
        }
        await self._operate(isolate, "PUT", "config", config)

    def _add_limits(self, config: dict[str, Any], *, is_certain: bool) -> None:
        stale_s = max(config["cache_stale_while_revalidate_s"], config["cache_stale_if_error_s"])
        self.model.stale_s = max(self.model.stale_s, stale_s)
        at_once, per_second, per_minute = (config[f"preload_{name}"] for name in _LIMITS)
        self.model.limits.append(Limits(self.model.now(), at_once, per_second, per_minute, is_certain))

    async def _pause(self, isolate: str) -> None:
        await self._operate(isolate, "POST", "pause", None)
        await asyncio.sleep(20)
        await self._operate(isolate, "POST", "resume", None)

    async def _unregister(self, isolate: str) -> None:
        """Delete the zone, and register it again after a while."""
        await self._operate(isolate, "DELETE", "config", None)
        await asyncio.sleep(5)
        for _ in range(5):
            answer = await self._operate(isolate, "PUT", "config", self._config)
            for each in self.model.acceptances:
                each.is_void = True
            if answer and answer[0] == 200:
                return

    async def _enqueue(self, isolate: str, paths: tuple[str, ...]) -> None:
        called_at = self.model.now()
        answer = await self._operate(isolate, "POST", "enqueue", {"urls": [SITE + path for path in paths]})
        if answer and answer[0] == 202:
            self.model.acceptances.append(Acceptance(answer[1]["preload_batch_id"], called_at, list(paths)))

    async def _cancel(self, isolate: str) -> None:
        if self.model.acceptances:
            chosen = self.simulation.chance.order.choice(self.model.acceptances)
            chosen.is_void = True
            await self._operate(isolate, "POST", f"batches/{chosen.batch_id}/cancel", None)

    async def _purge_by_hand(self, isolate: str, scope: str, paths: tuple[str, ...], is_soft: bool) -> None:
        covered = list(PATHS) if scope == "global" else [each for each in PATHS if _is_covered(each, scope, paths)]
        versions = {path: self.model.pages[path].version for path in covered}
        body = _describe_scope(scope, paths) | ({"soft": True} if is_soft else {})
        answer = await self._operate(isolate, "POST", "purge", body)
        if answer and answer[0] == 202:
            self.model.purged(covered, versions, PURGE_DELAY_S, is_soft=is_soft)

    async def _replay_failed(self, isolate: str) -> None:
        await self._operate(isolate, "POST", "failed/replay", {})

    async def _delete_failed(self, isolate: str) -> None:
        await self._operate(isolate, "DELETE", "failed", {})

    async def _check_origin(self, isolate: str) -> None:
        await self._operate(isolate, "POST", "origin/check", None)

    # What happens to machines

    async def _crash_isolate(self, name: str) -> None:
        self.simulation.crash(self.platform.isolate(name).process, "by plan")

    async def _crash_zone(self, _isolate: str) -> None:
        self.platform.objects.crash(ZONE)

    async def _evict(self, _isolate: str) -> None:
        for edge in self.platform.edges.values():
            edge.stored.clear()
            edge.texts.clear()

    async def _set_clock(self, who: str, by_s: float) -> None:
        process = self.platform.objects.process(ZONE) if who == "zone" else self.platform.isolate(who).process
        if process is not None:
            process.skew_s += by_s
            self.model.jumps.append(self.model.now())
            self._backward_s += max(0.0, -by_s)
            self._small_jumps_s += abs(by_s) if abs(by_s) < LARGE_JUMP_S else 0.0


def _describe_scope(scope: str, paths: tuple[str, ...]) -> dict[str, Any]:
    match scope:
        case "global":
            return {"global": True}
        case "tags":
            return {"tags": [f"t:{path.replace('/', '.') or '.'}x" for path in paths]}
        case _:
            return {scope: [SITE + path for path in paths]}


def _is_covered(path: str, scope: str, paths: tuple[str, ...]) -> bool:
    if scope == "prefixes":
        return any(path == each or path.startswith(each.rstrip("/") + "/") for each in paths)
    return path in paths


PRELOAD: Final = Scenario("preload", plan, PreloadWorld)
