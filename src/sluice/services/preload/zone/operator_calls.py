"""Calls that the operator of a zone makes: configuration, progress, failed pages, pages by hand."""

from typing import Any, Final

from sluice.core.errors import NotFound
from sluice.core.models import parse_model
from sluice.core.preload.purges import build_farewell
from sluice.core.preload.rate_limits import GLOBAL_PURGE, PURGE
from sluice.core.preload.zone_config import ZoneConfig, config_as_json, parse_config
from sluice.services.preload.discovery.site_facts import read_page_facts, read_sitemap_url
from sluice.services.preload.http.requests import EnqueueBody, IdsBody, PagesBody, PurgeTarget, RulesBody, SitemapBody
from sluice.services.preload.purge_lists.orders import build_purge, describe_accepted
from sluice.services.preload.queue.enqueue import PageOrder, canonicalize_urls
from sluice.services.preload.queue.queue_summary import summarize_queue
from sluice.services.preload.traffic.coverage import load_coverage
from sluice.services.preload.zone.calls import Json
from sluice.services.preload.zone.housekeeping import CANDIDATES, Housekeeping
from sluice.services.preload.zone.services import ZoneServices
from sluice.services.preload.zone.status import ZoneStatus

KEY_OVERLAP_S: Final = 300.0  # for so long the zone's former key stays valid


class OperatorCalls:
    def __init__(self, services: ZoneServices) -> None:
        self.services = services

    async def configure(self, config: Any, signing_key: str | None = None) -> Json:
        services, default = self.services, {"cache_purge_delay_s": self.services.settings.purge_delay_s}
        new = parse_config({**default, **config} if isinstance(config, dict) else config)
        before = services.state.config
        services.state.put(zone_id=services.zone_id)
        if before is None:
            # The intervals of a new zone begin now, so that no schedule is due at once.
            services.state.put(scheduled_at=services.now(), replayed_at=services.now())
        version = await services.publisher.configure(new)
        if signing_key:
            self._replace_key(signing_key)
        was_crawled = before is not None and before.preload_sitemap_crawl_enabled
        if new.preload_enabled and not was_crawled:
            Housekeeping(services).begin_crawl_if_due(new, services.now())
        await services.wake()
        return self._describe_config(new, version)

    async def show_config(self) -> Json:
        return self._describe_config(self.services.config, self.services.state.version)

    async def unregister(self) -> Json:
        services = self.services
        services.require_registered()
        await services.publisher.withdraw()
        services.purger.accept(build_farewell(services.create_id("purge"), services.now()))
        await services.pages.forget_facts()
        await services.wake()
        return {"zone_id": services.zone_id, "status": "unregistered"}

    async def list_versions(self) -> Json:
        self.services.require_registered()
        return {"versions": await self.services.publisher.list_versions()}

    async def restore_version(self, version: int) -> Json:
        self.services.require_registered()
        versions = await self.services.publisher.list_versions()
        config = next((each["config"] for each in versions if each["version"] == version), None)
        if config is None:
            raise NotFound(f"there is no version {version} of this zone's configuration")
        return await self.configure(config)

    async def show_status(self) -> Json:
        return ZoneStatus(self.services).describe_zone(self.services.config)

    async def show_queue(self) -> Json:
        self.services.require_registered()
        return summarize_queue(self.services.sql)

    async def show_batch(self, batch_id: str) -> Json:
        return ZoneStatus(self.services).describe_batch(batch_id, self.services.config)

    async def show_purge(self, purge_id: str) -> Json:
        self.services.require_registered()
        return await self.services.purger.describe(purge_id)

    async def purge_by_hand(self, body: Any) -> Json:
        services, target = self.services, parse_model(PurgeTarget, body)
        config, now = services.config, services.now()
        purge = build_purge(target, config, purge_id=services.create_id("purge"), now=now)
        services.admission.charge([PURGE, GLOBAL_PURGE] if purge.everything else [PURGE], now)
        services.purger.accept(purge)
        await services.wake()
        return describe_accepted(purge, target, config)

    async def cancel_batch(self, batch_id: str) -> Json:
        config = self.services.config
        self.services.batches.cancel(batch_id, self.services.now())
        return ZoneStatus(self.services).describe_batch(batch_id, config)

    async def list_failed(self, limit: int) -> Json:
        self.services.require_registered()
        dead_letters = self.services.dead_letters
        return {"count": dead_letters.count, "failed": dead_letters.list_oldest(limit)}

    async def replay_failed(self, body: Any) -> Json:
        services, ids = self.services, parse_model(IdsBody, body).ids
        config = services.enabled_config
        count = Housekeeping(services).replay_dead_letters(config, CANDIDATES, ids, services.now())
        await services.wake()
        return {"replayed": count}

    async def delete_failed(self, body: Any) -> Json:
        self.services.require_registered()
        return {"deleted": self.services.dead_letters.delete(parse_model(IdsBody, body).ids)}

    async def enqueue(self, body: Any) -> Json:
        services = self.services
        services.require_registered()
        wanted = parse_model(EnqueueBody, body)
        config = services.require_enabled(wanted.trigger)
        if wanted.all:
            reply = await Housekeeping(services).enqueue_everything(config, wanted.trigger, wanted.priority)
        else:
            urls = canonicalize_urls(wanted.urls, config)
            facts = await services.load_facts(urls)
            order = PageOrder(
                batch_id=services.create_id("preload"), trigger=wanted.trigger, urls=urls, priority=wanted.priority
            )
            reply = services.enqueuer.enqueue(order, config, facts, services.now())
        await services.wake()
        return reply

    async def crawl_sitemap(self, body: Any) -> Json:
        services = self.services
        services.require_registered()
        wanted = parse_model(SitemapBody, body)
        url = read_sitemap_url(wanted, services.enabled_config)
        batch_id = services.create_id("preload")
        services.crawl.begin(batch_id, url, wanted.trigger, services.now())
        await services.wake()
        return {"preload_batch_id": batch_id, "status": "accepted", "sitemap": url}

    async def learn_pages(self, body: Any) -> Json:
        config = self.services.config
        facts = read_page_facts(parse_model(PagesBody, body), config)
        await self.services.pages.merge_facts(facts)
        return {"learned": len(facts)}

    async def show_traffic(self) -> Json:
        """What the cache is worth: visits of the last day by what answered them, and how much of the site is warm."""
        services, config, now = self.services, self.services.config, self.services.now()
        queued = services.queue.count_unknown()
        coverage = await load_coverage(services.outside.database, services.zone_id, config, queued=queued, now=now)
        depths = {"queue_depth": services.queue.depth, "dead_letters": services.dead_letters.count}
        visits = services.traffic.load_day(now).as_json()
        return {"zone_id": services.zone_id, **visits, **coverage.as_json(config), **depths}

    async def list_observed(self) -> Json:
        self.services.require_registered()
        return {"observed": self.services.observed.list_pages()}

    async def test_rules(self, body: Any) -> Json:
        from sluice.services.preload.serving.rule_explanations import explain_rules  # noqa: PLC0415 - rare, and not for visitors

        return explain_rules(parse_model(RulesBody, body), self.services.config, self.services.now())

    async def check_origin(self) -> Json:
        """Has one request for the site's first page sent as pages are warmed; the status shows whether it reached the origin."""
        self.services.require_registered()
        self.services.origin_check.want()
        await self.services.wake()
        return await self.show_status()

    async def pause(self) -> Json:
        self.services.require_registered()
        self.services.state.put(paused=True)
        return await self.show_status()

    async def resume(self) -> Json:
        self.services.require_registered()
        self.services.state.put(paused=False)
        await self.services.wake()
        return await self.show_status()

    def _replace_key(self, key: str) -> None:
        """Takes a new signing key; the former one stays valid for a while."""
        state = self.services.state
        before = state.get("signing_keys", default=[])
        if before and before[0]["key"] == key:
            return
        until = self.services.now() + KEY_OVERLAP_S
        former = [{"key": before[0]["key"], "until": until}] if before else []
        state.put(signing_keys=[{"key": key, "until": None}, *former])

    def _describe_config(self, config: ZoneConfig, version: int) -> Json:
        services = self.services
        return {
            "version": version,
            "zone_id": services.zone_id,
            "own_signing_key": bool(services.state.get("signing_keys", default=[])),
            "config": config_as_json(config),
        }
