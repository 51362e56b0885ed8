"""Calls that the operator of a zone makes: configuration, progress, failed pages, pages by hand."""

from typing import Annotated, Final, Literal, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.doc import Doc
from sluice.core.errors import NotFound
from sluice.core.json_text import parse_json
from sluice.core.models import parse_text
from sluice.core.preload.members import Amount, Variant
from sluice.core.preload.purges import purge_for_removed_zone
from sluice.core.preload.rate_limits import GLOBAL_PURGE, PURGE
from sluice.core.preload.zone_config import ConfigJson, ZoneConfig, config_as_json, parse_config
from sluice.services.preload.discovery.observed_pages import ObservedReply
from sluice.services.preload.discovery.site_facts import CrawlAccepted, LearnedReply, read_page_facts, read_sitemap_url
from sluice.services.preload.http.requests import (
    EnqueueBody,
    PagesBody,
    PurgeTarget,
    RulesBody,
    SitemapBody,
)
from sluice.services.preload.purge_lists.orders import PurgeAccepted, build_purge, describe_accepted
from sluice.services.preload.queue.batches import Batch
from sluice.services.preload.queue.dead_letters import FailedReply
from sluice.services.preload.queue.enqueue import AcceptedReply, PageOrder, canonicalize_urls
from sluice.services.preload.queue.queue_summary import QueueReply, summarize_queue
from sluice.services.preload.serving.purging import PurgeProgress
from sluice.services.preload.traffic.coverage import CoverageFigures, load_coverage
from sluice.services.preload.traffic.visits import VisitFigures
from sluice.services.preload.zone.config_publisher import Versions
from sluice.services.preload.zone.housekeeping import CANDIDATES, Housekeeping
from sluice.services.preload.zone.services import ZoneServices
from sluice.services.preload.zone.status import StatusReply, ZoneStatus

REMOVAL_DELAY_S: Final = 30.0  # until the copies of a removed zone go, if its removal was cut off
KEY_OVERLAP_S: Final = 300.0  # for so long the zone's former key stays valid


class IdsBody(BaseModel):
    """Which dead letters; all of them without ids."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    ids: Annotated[list[int], Field(min_length=1, max_length=1000)] | None = None


class RegisteredReply(TypedDict):
    version: int
    zone_id: str
    own_signing_key: Annotated[bool, Doc("Whether the zone has its own signing key.")]
    config: ConfigJson


class UnregisteredReply(TypedDict):
    zone_id: str
    status: Literal["unregistered"]


class ReplayedReply(TypedDict):
    replayed: Amount


class DeletedReply(TypedDict):
    deleted: Amount


class _Waiting(TypedDict):
    zone_id: str
    queue_depth: Amount
    dead_letters: Amount


class TrafficReply(VisitFigures, CoverageFigures, _Waiting):
    """What the cache is worth. Visits are counted where they are served, and told now and then."""


class RequestExplanation(TypedDict):
    decision: Annotated[Literal["pass", "lookup"], Doc("Whether only the origin may answer, or a copy too.")]
    detail: Annotated[str, Doc("The token of the reason; empty when the reply may fill the cache.")]
    reason: str
    url: NotRequired[Annotated[str, Doc("The canonical URL.")]]
    variant: NotRequired[Variant]
    cache_key: NotRequired[str]


class ReplyJudgement(TypedDict):
    stored: bool
    stored_reason: str
    ttl_s: NotRequired[int]
    stale_while_revalidate_s: NotRequired[int]
    stale_if_error_s: NotRequired[int]


class RulesReply(RequestExplanation, ReplyJudgement):
    """What would happen with a request; the seconds are there if the response may be stored."""


class OperatorCalls:
    def __init__(self, services: ZoneServices) -> None:
        self.services = services

    async def configure(self, config: str, signing_key: str | None = None) -> RegisteredReply:
        return await self._configure(parse_json(config.encode()), signing_key)

    async def _configure(self, config: ConfigJson, signing_key: str | None = None) -> RegisteredReply:
        services, default = self.services, {"cache_purge_delay_s": self.services.settings.purge_delay_s}
        new = parse_config({**default, **config})
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

    async def show_config(self) -> RegisteredReply:
        return self._describe_config(self.services.config, self.services.state.version)

    async def unregister(self) -> UnregisteredReply:
        services, config = self.services, self.services.config
        await services.publisher.withdraw(config)
        await services.pages.forget_facts()
        # In one step, and the alarm is set before it: after a crash nobody calls a zone that is not registered.
        await services.alarm.set(services.now() + REMOVAL_DELAY_S)
        services.publisher.forget()
        services.purger.accept(purge_for_removed_zone(services.create_id("purge"), services.now()))
        # Once more: the alarm may have published the configuration while it was being deleted.
        await services.publisher.erase(config)
        await services.wake()
        return {"zone_id": services.zone_id, "status": "unregistered"}

    async def list_versions(self) -> Versions:
        self.services.require_registered()
        return {"versions": await self.services.publisher.list_versions()}

    async def restore_version(self, version: int) -> RegisteredReply:
        self.services.require_registered()
        versions = await self.services.publisher.list_versions()
        config = next((each["config"] for each in versions if each["version"] == version), None)
        if config is None:
            raise NotFound(f"there is no version {version} of this zone's configuration")
        return await self._configure(config)

    async def show_status(self) -> StatusReply:
        return ZoneStatus(self.services).describe_zone(self.services.config)

    async def show_queue(self) -> QueueReply:
        self.services.require_registered()
        return summarize_queue(self.services.sql)

    async def show_batch(self, batch_id: str) -> Batch:
        return ZoneStatus(self.services).describe_batch(batch_id, self.services.config)

    async def show_purge(self, purge_id: str) -> PurgeProgress:
        self.services.require_registered()
        return await self.services.purger.describe(purge_id)

    async def purge_by_hand(self, body: str) -> PurgeAccepted:
        services, target = self.services, parse_text(PurgeTarget, body)
        config, now = services.config, services.now()
        purge = build_purge(target, config, purge_id=services.create_id("purge"), now=now)
        services.admission.charge([PURGE, GLOBAL_PURGE] if purge.everything else [PURGE], now)
        services.purger.accept(purge)
        await services.wake()
        return describe_accepted(purge, target, config)

    async def cancel_batch(self, batch_id: str) -> Batch:
        config = self.services.config
        self.services.batches.cancel(batch_id, self.services.now())
        return ZoneStatus(self.services).describe_batch(batch_id, config)

    async def list_failed(self, limit: int) -> FailedReply:
        self.services.require_registered()
        dead_letters = self.services.dead_letters
        return {"count": dead_letters.count, "failed": dead_letters.list_oldest(limit)}

    async def replay_failed(self, body: str) -> ReplayedReply:
        services, ids = self.services, parse_text(IdsBody, body).ids
        config = services.enabled_config
        count = Housekeeping(services).replay_dead_letters(config, CANDIDATES, ids, services.now())
        await services.wake()
        return {"replayed": count}

    async def delete_failed(self, body: str) -> DeletedReply:
        self.services.require_registered()
        return {"deleted": self.services.dead_letters.delete(parse_text(IdsBody, body).ids)}

    async def enqueue(self, body: str) -> AcceptedReply:
        services = self.services
        services.require_registered()
        wanted = parse_text(EnqueueBody, body)
        config = services.require_enabled(wanted.trigger)
        if wanted.all:
            reply = await Housekeeping(services).enqueue_everything(config, wanted.trigger, wanted.priority)
        else:
            urls = canonicalize_urls(wanted.urls, config)
            facts = await services.load_facts(urls)
            order = PageOrder(
                batch_id=services.create_id("preload"), trigger=wanted.trigger, urls=urls, priority=wanted.priority
            )
            reply = services.enqueuer.enqueue(order, services.config, facts, services.now())
        await services.wake()
        return reply

    async def crawl_sitemap(self, body: str) -> CrawlAccepted:
        services = self.services
        services.require_registered()
        wanted = parse_text(SitemapBody, body)
        url = read_sitemap_url(wanted, services.enabled_config)
        batch_id = services.create_id("preload")
        services.crawl.begin(batch_id, url, wanted.trigger, services.now())
        await services.wake()
        return {"preload_batch_id": batch_id, "status": "accepted", "sitemap": url}

    async def store_page_facts(self, body: str) -> LearnedReply:
        config = self.services.config
        facts = read_page_facts(parse_text(PagesBody, body), config)
        await self.services.pages.merge_facts(facts)
        return {"learned": len(facts)}

    async def show_traffic(self) -> TrafficReply:
        """Return what the cache is worth: visits of the last day by what answered them, and how much of the site is warm."""
        services, config, now = self.services, self.services.config, self.services.now()
        queued = services.queue.count_unknown()
        coverage = await load_coverage(services.outside.database, services.zone_id, config, queued=queued, now=now)
        return {
            "zone_id": services.zone_id,
            **services.traffic.load_day(now).as_json(),
            **coverage.as_json(config),
            "queue_depth": services.queue.depth,
            "dead_letters": services.dead_letters.count,
        }

    async def list_observed(self) -> ObservedReply:
        self.services.require_registered()
        return {"observed": self.services.observed.list_pages()}

    async def test_rules(self, body: str) -> RulesReply:
        from sluice.services.preload.serving.rule_explanations import explain_rules  # noqa: PLC0415 - rare, and not for visitors

        return explain_rules(parse_text(RulesBody, body), self.services.config, self.services.now())

    async def check_origin(self) -> StatusReply:
        """Ask for one request for the site's first page, sent as pages are warmed; the status shows whether it reached the origin."""
        self.services.require_registered()
        self.services.origin_check.request_check()
        await self.services.wake()
        return await self.show_status()

    async def pause(self) -> StatusReply:
        self.services.require_registered()
        self.services.state.put(paused=True)
        return await self.show_status()

    async def resume(self) -> StatusReply:
        self.services.require_registered()
        self.services.state.put(paused=False)
        await self.services.wake()
        return await self.show_status()

    def _replace_key(self, key: str) -> None:
        """Take a new signing key; the former one stays valid for a while."""
        state = self.services.state
        before = state.get("signing_keys", default=[])
        if before and before[0]["key"] == key:
            return
        until = self.services.now() + KEY_OVERLAP_S
        former = [{"key": before[0]["key"], "until": until}] if before else []
        state.put(signing_keys=[{"key": key, "until": None}, *former])

    def _describe_config(self, config: ZoneConfig, version: int) -> RegisteredReply:
        services = self.services
        return {
            "version": version,
            "zone_id": services.zone_id,
            "own_signing_key": bool(services.state.get("signing_keys", default=[])),
            "config": config_as_json(config),
        }
