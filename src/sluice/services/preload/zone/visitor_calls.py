"""Calls that isolates make while they serve visitors: what must happen once for all data centres."""

from collections.abc import Mapping, Sequence
from typing import Final

from sluice.core.preload.priority import VISIT
from sluice.core.preload.zone_config import ZoneConfig, config_as_json
from sluice.core.waits import is_waiting
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.purge_lists.purge_reader import ZonePurges
from sluice.services.preload.queue.enqueue import PageOrder, canonicalize_urls
from sluice.services.preload.zone.services import ZoneServices

CLAIM_S: Final = 40.0  # the origin's 30 s, and some to store the page
SUGGEST_INTERVAL_S: Final = 600.0
MAX_REMEMBERED: Final = 10_000  # pages of each kind; then all are forgotten, and at worst fetched once more


class VisitorCalls:
    services: ZoneServices

    async def claim_refresh(self, url: str, variant: str) -> bool:
        """Return whether the caller may ask the origin for a newer copy of a stale page: one caller may, while the origin is well."""
        now = self.services.now()
        if self.services.state.breaker.at(now).state == "open":
            return False
        return self._claim_interval(f"refresh {variant} {url}", CLAIM_S, now)

    async def suggest_page(self, url: str) -> None:
        """Enqueue a page that a visitor has seen but could not fill; the same page once in ten minutes."""
        services, now = self.services, self.services.now()
        config = services.enabled_config
        [canonical] = canonicalize_urls([url], config)
        is_known = services.known_pages.is_current(canonical, "", now - SUGGEST_INTERVAL_S, now)
        if not is_known:
            await self._enqueue_now_and_then(canonical, config, now)

    async def renew_page(self, url: str, variant: str) -> None:
        """Enqueue a page whose stored copy cannot be read, such as one of another version; the same page once in ten minutes."""
        services, now = self.services, self.services.now()
        config = services.enabled_config
        [canonical] = canonicalize_urls([url], config)
        services.known_pages.distrust(Page(canonical, variant))
        await self._enqueue_now_and_then(canonical, config, now)

    async def _enqueue_now_and_then(self, canonical: str, config: ZoneConfig, now: float) -> None:
        services = self.services
        if not self._claim_interval(f"suggest {canonical}", SUGGEST_INTERVAL_S, now):
            return
        order = PageOrder(batch_id=services.create_id("preload"), trigger=VISIT, urls=[canonical])
        services.enqueuer.enqueue(order, config, {}, now)
        await services.wake()

    async def report_unreachable(self, reason: str) -> None:
        """Count a visitor's failed connection for the breaker."""
        services, now = self.services, self.services.now()
        services.settler.count_unreachable(services.config, now)
        services.settler.review_alerts(now)
        services.log.event("origin.unreachable", zone=services.zone_id, reason=reason)

    async def report_redirect_loop(self, url: str) -> None:
        """Note a page that sends visitors back to itself."""
        services, now = self.services, self.services.now()
        services.require_registered()
        services.settler.note_redirect_loop(url, now)
        services.agent_watch.request_check()
        services.log.event("origin.circle", zone=services.zone_id, url=url)

    async def show_purges(self) -> ZonePurges:
        """Return the purges that still count, and the configuration: what an isolate needs to know before it serves a copy."""
        services = self.services
        config = config_as_json(services.config)
        if services.state.agent.away_since is not None:
            config["cache_enabled"] = False
        return {**services.marks.load().as_json(), "config": config}

    async def show_keys(self) -> list[str]:
        """Return the keys by which isolates prove to the origin who asks, and know our own requests; they never leave their memory."""
        return self.services.list_keys()

    async def is_breaker_open(self) -> bool:
        return self.services.state.breaker.at(self.services.now()).state == "open"

    async def observe(self, url: str, variant: str, digest: str, lifetime_s: int) -> bool:
        """Return whether a reply is the one that the cache would have served instead."""
        services = self.services
        return services.observed.compare(url, variant, digest, lifetime_s=lifetime_s, now=services.now())

    async def count_visits(self, layers: Mapping[str, Sequence[float]], pages: Mapping[str, int]) -> None:
        """Add the visits that an isolate has counted."""
        self.services.require_registered()
        self.services.traffic.add(layers, pages, self.services.now())

    def _claim_interval(self, name: str, interval_s: float, now: float) -> bool:
        """Return whether something was last done at least so long ago; if so, it counts as done now."""
        turns = self.services.turns
        if is_waiting(turns.get(name, -interval_s) + interval_s, now, interval_s):
            return False
        if len(turns) >= MAX_REMEMBERED:
            turns.clear()
        turns[name] = now
        return True
