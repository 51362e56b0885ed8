"""What the cron does for a zone each minute: schedule, dead letters, deployments, sitemaps, old rows, alerts."""

from dataclasses import dataclass
from typing import Any, Final

from sluice.core.preload.priority import NOTHING_KNOWN, compute_priority
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.dead_letters import REPLAY_INTERVAL_S, REPLAYED_AT_ONCE
from sluice.services.preload.queue.enqueue import PageOrder
from sluice.services.preload.zone.services import ZoneServices

SCHEDULED_AT_ONCE: Final = 100  # pages of one scheduled run: what the default limits warm in a minute
CANDIDATES: Final = 1000
CRAWL_INTERVAL_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class Housekeeping:
    services: ZoneServices

    async def run_due(self, config: ZoneConfig) -> None:
        """Does everything that is due."""
        now = self.services.now()
        self._forget_old(now)
        if config.preload_enabled:
            await self._enqueue_scheduled(config, now)
            self._replay_dead_letters(config, now)
            await self._check_deployment(config, now)
            self.begin_crawl_if_due(config, now)
        self.services.settler.review_alerts(now)

    def replay_dead_letters(self, config: ZoneConfig, limit: int, ids: list[int] | None, now: float) -> int:
        """Puts dead letters back into the queue; returns how many."""
        services = self.services
        wanted = services.dead_letters.take(limit, ids)
        if wanted:
            batch_id = services.create_id("preload")
            services.batches.open(batch_id, wanted[0].trigger, now)
            services.queue.enqueue(wanted, batch_id, now=now, max_depth=config.preload_queue_max_depth)
        return len(wanted)

    def begin_crawl_if_due(self, config: ZoneConfig, now: float) -> None:
        """Crawls the sitemap once a day, if the zone wants that."""
        if config.preload_sitemap_crawl_enabled and self._take_turn("crawled_at", CRAWL_INTERVAL_S, now):
            self.services.crawl.begin(self.services.create_id("preload"), config.sitemap_url, "sitemap", now)

    async def enqueue_everything(
        self, config: ZoneConfig, trigger: str, priority: float | None = None
    ) -> dict[str, Any]:
        """Enqueues every known page of the site."""
        services = self.services
        facts = await services.load_busiest(CANDIDATES)
        limit = config.preload_queue_max_depth
        known = services.known_pages.list_oldest(limit)
        urls = list(dict.fromkeys([f"{config.site_url}/", *known, *facts]))[:limit]
        order = PageOrder(batch_id=services.create_id("preload"), trigger=trigger, urls=urls, priority=priority)
        return services.enqueuer.enqueue(order, config, facts, services.now())

    def _forget_old(self, now: float) -> None:
        services = self.services
        services.batches.forget_old(now)
        services.dead_letters.delete_old(now)
        services.admission.forget_expired(now)
        services.alerts.forget_old_results(now)
        services.grants.forget_old(now)

    async def _enqueue_scheduled(self, config: ZoneConfig, now: float) -> None:
        """Enqueues the pages of highest priority; among equals, those warmed longest ago."""
        services = self.services
        if not self._take_turn("scheduled_at", config.preload_schedule_interval_s, now):
            return
        facts = await services.load_busiest(CANDIDATES)
        known = services.known_pages.list_oldest(CANDIDATES)
        candidates = list(dict.fromkeys([*known, *facts])) or [f"{config.site_url}/"]
        ranked = sorted(candidates, key=lambda url: -compute_priority("scheduled", facts.get(url, NOTHING_KNOWN), now))
        order = PageOrder(batch_id=services.create_id("preload"), trigger="scheduled", urls=ranked[:SCHEDULED_AT_ONCE])
        services.enqueuer.enqueue(order, config, facts, now)

    def _replay_dead_letters(self, config: ZoneConfig, now: float) -> None:
        if self._take_turn("replayed_at", REPLAY_INTERVAL_S, now):
            self.replay_dead_letters(config, REPLAYED_AT_ONCE, None, now)

    async def _check_deployment(self, config: ZoneConfig, now: float) -> None:
        """Warms the whole site after a new version of the Worker, if the zone wants that."""
        services, deployment = self.services, self.services.settings.deployment
        before = services.state.get("deployment")
        if not deployment or before == deployment:
            return
        services.state.put(deployment=deployment)
        if before is not None and config.preload_on_deployment:
            await self.enqueue_everything(config, "deployment")
            if config.preload_sitemap_crawl_enabled:
                services.crawl.begin(services.create_id("preload"), config.sitemap_url, "deployment", now)

    def _take_turn(self, name: str, interval_s: float, now: float) -> bool:
        """Whether the interval has passed; if so, the next one begins."""
        state = self.services.state
        if now - state.get(name, default=0) < interval_s:
            return False
        state.put(**{name: now})
        return True
