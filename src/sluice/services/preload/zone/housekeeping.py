"""What the cron does for a zone each minute: schedule, dead letters, deployments, sitemaps, old rows, alerts."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.preload.priority import Facts, Trigger
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.dead_letters import REPLAY_INTERVAL_S, REPLAYED_AT_ONCE
from sluice.services.preload.queue.enqueue import AcceptedReply, PageOrder
from sluice.services.preload.zone.services import ZoneServices

MAX_SCHEDULED: Final = 10_000  # pages of one scheduled run, however fast the origin is
MIN_LIFE_S: Final = 300  # a page that lives shorter is not kept warm by schedule
LEAD_S: Final = 300  # so long before they expire pages are refreshed
CANDIDATES: Final = 1000
CRAWL_INTERVAL_S: Final = 86_400
EXPIRED_AT_ONCE: Final = (
    400  # copies removed by one run, of which no edge has one any more: R2 deletes 1,000 objects by one call
)
EXPIRY_MARGIN_S: Final = 86_400  # the origin's own stale-if-error may be longer than the zone's
VISITS_AT_ONCE: Final = 5000  # pages in one statement
FACTS_KEPT_S: Final = 90 * 86_400  # for pages without a copy that nobody visits
FORGET_INTERVAL_S: Final = 600  # rows that no longer count are ignored at once, and deleted this late


@dataclass(frozen=True, slots=True)
class Housekeeping:
    services: ZoneServices

    async def run_due(self, config: ZoneConfig) -> None:
        """Do everything that is due."""
        now = self.services.now()
        if self._claim_interval("forgot_at", FORGET_INTERVAL_S, now):
            self._forget_old(now)
            await self._remove_expired(config, now)
            await self.services.purger.forget_marks(now, latest_seq=self._note_purges())
            await self._report_visits(now)
        if config.preload_enabled:
            await self._enqueue_scheduled(config, now)
            self._replay_dead_letters(config, now)
            await self._check_deployment(config, now)
            self.begin_crawl_if_due(config, now)
        self.services.settler.review_alerts(now)

    def replay_dead_letters(self, config: ZoneConfig, limit: int, ids: list[int] | None, now: float) -> int:
        """Put dead letters back into the queue; return how many."""
        services = self.services
        wanted = services.dead_letters.take(limit, ids)
        if wanted:
            batch_id = services.create_id("preload")
            services.batches.open(batch_id, wanted[0].trigger, now)
            services.queue.enqueue(wanted, batch_id, now=now, max_depth=config.preload_queue_max_depth)
        return len(wanted)

    def begin_crawl_if_due(self, config: ZoneConfig, now: float) -> None:
        """Crawl the sitemap once a day, if the zone wants that."""
        if config.preload_sitemap_crawl_enabled and self._claim_interval("crawled_at", CRAWL_INTERVAL_S, now):
            self.services.crawl.begin(self.services.create_id("preload"), config.sitemap_url, "sitemap", now)

    async def enqueue_everything(
        self, config: ZoneConfig, trigger: Trigger, priority: float | None = None
    ) -> AcceptedReply:
        """Enqueue every known page of the site."""
        return self._enqueue_known(config, trigger, priority, await self.services.load_busiest(CANDIDATES))

    def _enqueue_known(
        self, config: ZoneConfig, trigger: Trigger, priority: float | None, facts: dict[str, Facts]
    ) -> AcceptedReply:
        services = self.services
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
        services.purger.forget_old(now)
        services.traffic.forget_old(now)

    def _note_purges(self) -> int:
        """Return the number of the latest purge two runs ago. A clock that is set forward once makes only one of them come early."""
        state, latest = self.services.state, self.services.marks.latest()
        older, newer = state.get("purges_seen", default=[0, 0])
        if [older, newer] != [newer, latest]:
            state.put(purges_seen=[newer, latest])
        return int(older)

    async def _remove_expired(self, config: ZoneConfig, now: float) -> None:
        """Remove copies that are too old to be served even while the origin fails."""
        services = self.services
        before = now - max(config.cache_stale_if_error_s, config.cache_stale_while_revalidate_s) - EXPIRY_MARGIN_S
        if pages := await services.pages.list_expired(EXPIRED_AT_ONCE, before=before):
            services.known_pages.forget(pages)
            await services.copies.remove(pages, is_at_edge=False)

    async def _report_visits(self, now: float) -> None:
        """Bring the visits that isolates have counted into the index, where they raise the priority of their pages."""
        services = self.services
        while visits := services.traffic.list_pages(VISITS_AT_ONCE):
            await services.pages.add_visits(visits, now)
            services.traffic.subtract_pages(visits)
        await services.pages.forget_unvisited(now - FACTS_KEPT_S)

    async def _enqueue_scheduled(self, config: ZoneConfig, now: float) -> None:
        """Enqueue the pages that expire before the next run, as many as the limits can warm until then; no batch if there is none."""
        services, interval_s = self.services, config.preload_schedule_interval_s
        if not self._is_due("scheduled_at", interval_s, now):
            return
        capacity = min(MAX_SCHEDULED, max(1, config.preload_rpm_limit * interval_s // 60))
        urls = await self._list_expiring(capacity, now, now + interval_s + LEAD_S)
        facts = await services.load_facts(urls) if urls else {}
        # Only here, in one step with the pages: a run that was cut off before is due again.
        if self._claim_interval("scheduled_at", interval_s, now) and urls:
            order = PageOrder(batch_id=services.create_id("preload"), trigger="scheduled", urls=urls)
            services.enqueuer.enqueue(order, config, facts, now)

    async def _list_expiring(self, limit: int, now: float, before: float) -> list[str]:
        """Return warmed and visited pages that expire soon; while D1 fails, those that the object knows."""
        services = self.services
        try:
            return await services.pages.list_expiring(limit, now=now, before=before, min_life_s=MIN_LIFE_S)
        except SluiceError as error:
            services.log.error("schedule.unavailable", error, zone=services.zone_id)
            return services.known_pages.list_oldest(min(limit, CANDIDATES))

    def _replay_dead_letters(self, config: ZoneConfig, now: float) -> None:
        if self._claim_interval("replayed_at", REPLAY_INTERVAL_S, now):
            self.replay_dead_letters(config, REPLAYED_AT_ONCE, None, now)

    async def _check_deployment(self, config: ZoneConfig, now: float) -> None:
        """Warm the whole site after a new version of the Worker, if the zone wants that."""
        services, deployment = self.services, self.services.settings.deployment
        before = services.state.get("deployment")
        if not deployment or before == deployment:
            return
        if before is None or not config.preload_on_deployment:
            services.state.put(deployment=deployment)
            return
        facts = await services.load_busiest(CANDIDATES)
        if services.state.get("deployment") == before:
            services.state.put(deployment=deployment)
            self._enqueue_known(config, "deployment", None, facts)
            if config.preload_sitemap_crawl_enabled:
                services.crawl.begin(services.create_id("preload"), config.sitemap_url, "deployment", now)

    def _claim_interval(self, name: str, interval_s: float, now: float) -> bool:
        """Return whether the interval has passed; if so, the next one begins."""
        is_due = self._is_due(name, interval_s, now)
        if is_due:
            self.services.state.put(**{name: now})
        return is_due

    def _is_due(self, name: str, interval_s: float, now: float) -> bool:
        return bool(now - self.services.state.get(name, default=0) >= interval_s)
