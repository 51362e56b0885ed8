"""Calls that a site makes with its signature: preload, purge, sitemap, pages, its own settings, and what became of them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import BadField, Invalid
from sluice.core.json_text import encode_json
from sluice.core.models import parse_text
from sluice.core.preload.rate_limits import ANY, GLOBAL_PURGE, PRELOAD, PURGE, SITEMAP, Rate
from sluice.core.preload.request_signing import SignedRequest
from sluice.services.preload.discovery.site_facts import CrawlAccepted, LearnedReply, read_page_facts, read_sitemap_url
from sluice.services.preload.http.requests import (
    AgentBody,
    PagesBody,
    PreloadBody,
    PurgeBody,
    SiteBody,
    SitemapBody,
)
from sluice.services.preload.purge_lists.orders import PurgeAccepted, build_purge, describe_accepted
from sluice.services.preload.queue.batches import Batch
from sluice.services.preload.queue.enqueue import AcceptedReply, PageOrder, canonicalize_urls
from sluice.services.preload.serving.purging import PurgeProgress
from sluice.services.preload.zone.config_publisher import AGENT_FIELDS, change_agent
from sluice.services.preload.zone.services import ZoneServices
from sluice.services.preload.zone.status import StatusReply, ZoneStatus

# What a site may ask for with its signature.
ShownKind = Literal["batch", "purge", "status"]


class AgentReply(TypedDict):
    zone_id: str
    version: Annotated[int, Doc("The version of the zone's configuration.")]
    origin_cron_path: str | None
    preload_sitemap_url: str
    away_since: Annotated[float | None, Doc("Since when the agent is away; null while it is there.")]


SignedAnswer = AcceptedReply | PurgeAccepted | CrawlAccepted | LearnedReply | AgentReply


@dataclass(frozen=True, slots=True)
class SignedReply:
    """The JSON of the reply to a signed request; `replayed` when it is the stored reply to the same request before."""

    text: str
    replayed: bool


class SignedCalls:
    def __init__(self, services: ZoneServices) -> None:
        self.services = services

    async def preload(self, signed: SignedRequest, body: str) -> SignedReply:
        services = self.services
        services.require_registered()
        self._verify(signed)
        order_body = parse_text(PreloadBody, body)
        self._check_zone_id(order_body.zone_id)
        urls = canonicalize_urls(order_body.urls, services.require_enabled(order_body.trigger))
        facts = await services.load_facts(urls)
        order = PageOrder(
            batch_id=services.create_id("preload"),
            trigger=order_body.trigger,
            urls=urls,
            priority=order_body.priority,
        )

        def enqueue() -> AcceptedReply:
            return services.enqueuer.enqueue(order, services.config, facts, services.now())

        return await self._run_once(signed, order_body.idempotency_key, [ANY, PRELOAD], enqueue)

    async def purge(self, signed: SignedRequest, body: str) -> SignedReply:
        services, config = self.services, self.services.config
        self._verify(signed)
        purge_body = parse_text(PurgeBody, body)
        self._check_zone_id(purge_body.zone_id)
        key, purge_id = purge_body.idempotency_key, services.create_id("purge")
        purge = build_purge(
            purge_body, config, purge_id=purge_id, now=services.now(), idempotency_key=key, nonce=signed.nonce
        )

        def accept() -> PurgeAccepted:
            services.purger.accept(purge)
            return describe_accepted(purge, purge_body, config)

        rates = [ANY, PURGE, GLOBAL_PURGE] if purge.everything else [ANY, PURGE]
        return await self._run_once(signed, key, rates, accept)

    async def crawl_for_site(self, signed: SignedRequest, body: str) -> SignedReply:
        services = self.services
        services.require_registered()
        self._verify(signed)
        wanted = parse_text(SitemapBody, body)
        url = read_sitemap_url(wanted, services.enabled_config)
        batch_id = services.create_id("preload")

        def begin() -> CrawlAccepted:
            services.crawl.begin(batch_id, url, wanted.trigger, services.now())
            return {"preload_batch_id": batch_id, "status": "accepted", "sitemap": url}

        return await self._run_once(signed, self._scope_key(signed, wanted), [ANY, SITEMAP], begin)

    async def store_site_facts(self, signed: SignedRequest, body: str) -> SignedReply:
        """Store what a site tells about its pages. They are in another database, so the reply is stored after them."""
        services, config = self.services, self.services.config
        self._verify(signed)
        known = parse_text(PagesBody, body)
        facts = read_page_facts(known, config)
        key = self._scope_key(signed, known)

        def admit() -> str | None:
            self._admit(signed, [ANY])
            return services.admission.load_response(key, signed.body_hash, services.now())

        if stored := services.sql.transaction(admit):
            return SignedReply(stored, replayed=True)
        await services.pages.merge_facts(facts)
        reply = encode_json(LearnedReply(learned=len(facts)))
        services.admission.store_response(key, signed.body_hash, reply, services.now())
        return SignedReply(reply, replayed=False)

    async def set_agent(self, signed: SignedRequest, body: str) -> SignedReply:
        """Note that the agent comes or leaves, with the fields that it changes of the site's own; the alarm publishes them."""
        services, config = self.services, self.services.config
        self._verify(signed)
        wanted = parse_text(AgentBody, body)
        given = wanted.model_fields_set.intersection(AGENT_FIELDS)
        new = change_agent(config, {name: getattr(wanted, name) for name in given})

        def accept() -> AgentReply:
            version = services.publisher.accept(new)
            if wanted.leaves:
                services.agent_watch.mark_away(wanted.leaves)
            else:
                services.agent_watch.mark_present(wanted.presence_path)
            return {
                "zone_id": services.zone_id,
                "version": version,
                "origin_cron_path": new.origin_cron_path,
                "preload_sitemap_url": new.sitemap_url,
                "away_since": services.state.agent.away_since,
            }

        return await self._run_once(signed, self._scope_key(signed, wanted), [ANY], accept)

    async def show_to_site(
        self, signed: SignedRequest, what: ShownKind, item_id: str
    ) -> Batch | PurgeProgress | StatusReply:
        config, status = self.services.config, ZoneStatus(self.services)
        self._verify(signed)
        self.services.sql.transaction(lambda: self._admit(signed, [ANY]))
        match what:
            case "batch":
                return status.describe_batch(item_id, config)
            case "purge":
                return await self.services.purger.describe(item_id)
            case "status":
                return status.describe_zone(config)

    def _verify(self, signed: SignedRequest) -> None:
        """Check the signature against the zone's own keys if it has any, else against those of all zones."""
        signed.verify(self.services.list_keys(), self.services.now())

    def _check_zone_id(self, zone_id: str) -> None:
        if zone_id != self.services.zone_id:
            raise Invalid(f"zone_id is not {self.services.zone_id}")

    def _scope_key(self, signed: SignedRequest, body: SiteBody) -> str:
        """Return the idempotency key among those of the same route; a signed request must have one."""
        if body.zone_id is not None:
            self._check_zone_id(body.zone_id)
        if body.idempotency_key is None:
            raise Invalid.from_fields(
                [BadField("idempotency_key", "is required: a UUID of version 4, kept for a retry")]
            )
        return f"{signed.method} {signed.path} {body.idempotency_key}"

    def _admit(self, signed: SignedRequest, rates: list[Rate]) -> None:
        now = self.services.now()
        self.services.admission.use_nonce(signed.nonce, now)
        self.services.admission.charge(rates, now)

    async def _run_once(
        self, signed: SignedRequest, idempotency_key: str, rates: list[Rate], work: Callable[[], SignedAnswer]
    ) -> SignedReply:
        """Do the work once for an idempotency key, and return its first reply from then on; all in one transaction."""
        admission = self.services.admission

        def run() -> SignedReply:
            self._admit(signed, rates)
            now = self.services.now()
            if stored := admission.load_response(idempotency_key, signed.body_hash, now):
                return SignedReply(stored, replayed=True)
            reply = encode_json(work())
            admission.store_response(idempotency_key, signed.body_hash, reply, now)
            return SignedReply(reply, replayed=False)

        result = self.services.sql.transaction(run)
        await self.services.wake()
        return result
