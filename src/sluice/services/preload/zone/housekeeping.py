"""What happens by the clock: schedules, dead letters, deployments, sitemaps, old rows, alerts."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.identifiers import format_uuid4
from sluice.core.ports import Database
from sluice.core.preload.priority import NOTHING_KNOWN, Facts, compute_priority
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.dead_letters import REPLAY_INTERVAL_S, REPLAYED_AT_ONCE, DeadLetters
from sluice.services.preload.queue.enqueue import Order
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.zone.services import Parts

SCHEDULED_AT_ONCE: Final = 100  # pages of one scheduled run: what the default limits warm in a minute
CANDIDATES: Final = 1000
CRAWL_INTERVAL_S: Final = 86_400
LOG_KEPT_S: Final = 30 * 86_400
PURGES_KEPT_S: Final = 90 * 86_400
ALERTS_KEPT_S: Final = 90 * 86_400


@dataclass(frozen=True, slots=True)
class Housekeeping:
    parts: Parts

    async def tick(self, zone: ZoneConfig, deployment: str) -> None:
        """Everything that is due at this minute."""
        now = self.parts.now()
        Batches(self.parts.sql).forget(now)
        DeadLetters(self.parts.sql).clear_old(now)
        if zone.preload_enabled:
            await self._scheduled(zone, now)
            self._replay_dead(zone, now)
            await self._deployed(zone, deployment, now)
            self.crawl_if_due(zone, now)
        self.parts.warming.review(now)

    def replay(self, zone: ZoneConfig, limit: int, ids: list[int] | None, now: float) -> int:
        """Put dead letters back into the queue."""
        wanted = DeadLetters(self.parts.sql).take(limit, ids)
        if wanted:
            batch_id = self.new_batch_id()
            Batches(self.parts.sql).open(batch_id, wanted[0].trigger, now)
            Queue(self.parts.sql).enqueue(wanted, batch_id, now=now, max_depth=zone.preload_queue_max_depth)
        return len(wanted)

    def crawl_if_due(self, zone: ZoneConfig, now: float) -> None:
        """On activation, and once a day."""
        if zone.preload_sitemap_crawl_enabled and self._due("crawled_at", CRAWL_INTERVAL_S, now):
            self.parts.crawl.begin(self.new_batch_id(), zone.sitemap_url, "sitemap", now)

    async def everything(self, zone: ZoneConfig, trigger: str, override: float | None = None) -> dict[str, object]:
        """The whole site, as far as it is known."""
        facts = await self.facts_of_busiest(CANDIDATES)
        limit = zone.preload_queue_max_depth
        urls = list(dict.fromkeys([f"{zone.site_url}/", *self._known(limit), *facts]))[:limit]
        order = Order(batch_id=self.new_batch_id(), trigger=trigger, urls=urls, override=override)
        return self.parts.enqueueing.place(order, zone, facts, self.parts.now())

    async def facts_of_busiest(self, limit: int) -> dict[str, Facts]:
        """Without D1 every page counts the same, which is better than to warm none."""
        try:
            return await self.parts.pages.busiest(limit)
        except SluiceError as error:
            self.parts.outside.tell("facts.unavailable", zone=self.parts.zone_id, reason=str(error))
            return {}

    def new_batch_id(self) -> str:
        return f"preload-{format_uuid4(self.parts.outside.new_id())}"

    async def _scheduled(self, zone: ZoneConfig, now: float) -> None:
        """The pages of highest priority; among equals, those warmed longest ago."""
        if not self._due("scheduled_at", zone.preload_schedule_interval_s, now):
            return
        facts = await self.facts_of_busiest(CANDIDATES)
        candidates = list(dict.fromkeys([*self._known(CANDIDATES), *facts])) or [f"{zone.site_url}/"]
        by_score = sorted(candidates, key=lambda url: -compute_priority("scheduled", facts.get(url, NOTHING_KNOWN), now))
        order = Order(batch_id=self.new_batch_id(), trigger="scheduled", urls=by_score[:SCHEDULED_AT_ONCE])
        self.parts.enqueueing.place(order, zone, facts, now)

    def _replay_dead(self, zone: ZoneConfig, now: float) -> None:
        if self._due("replayed_at", REPLAY_INTERVAL_S, now):
            self.replay(zone, REPLAYED_AT_ONCE, None, now)

    async def _deployed(self, zone: ZoneConfig, deployment: str, now: float) -> None:
        state = self.parts.state
        before = state.get("deployment")
        if not deployment or before == deployment:
            return
        state.put("deployment", deployment)
        if before is not None and zone.preload_on_deployment:
            await self.everything(zone, "deployment")
            if zone.preload_sitemap_crawl_enabled:
                self.parts.crawl.begin(self.new_batch_id(), zone.sitemap_url, "deployment", now)

    def _due(self, name: str, interval_s: float, now: float) -> bool:
        """Whether the interval has passed; if so, it begins anew."""
        state = self.parts.state
        if now - state.get(name, default=0) < interval_s:
            return False
        state.put(name, now)
        return True

    def _known(self, limit: int) -> list[str]:
        return [str(row["url"]) for row in KnownPages(self.parts.sql).oldest(limit)]


async def forget_old_rows(database: Database, now: float, iso: str) -> None:
    """Keep the log for 30 days, purges and alerts for 90; `iso` is the moment from which the log is kept."""
    await database.batch(
        [
            ("DELETE FROM preload_log WHERE created_at < ?", [iso]),
            ("DELETE FROM purge_log WHERE created_at < ?", [now - PURGES_KEPT_S]),
            ("DELETE FROM preload_alerts WHERE raised_at < ?", [now - ALERTS_KEPT_S]),
        ]
    )
