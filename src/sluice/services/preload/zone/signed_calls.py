"""Calls that a site makes with its signature: preload, purge, and the progress of a batch."""

from collections.abc import Callable
from typing import Any

from sluice.core.errors import Invalid
from sluice.core.models import parse_model
from sluice.core.preload.purges import SITE_TAG, Purge
from sluice.core.preload.rate_limits import ANY, GLOBAL_PURGE, PRELOAD, PURGE, Rate
from sluice.core.preload.request_signing import SignedRequest
from sluice.services.preload.http.requests import PreloadBody, PurgeBody
from sluice.services.preload.queue.enqueue import PageOrder, canonicalize_urls
from sluice.services.preload.zone.calls import Json, SignedReply
from sluice.services.preload.zone.services import ZoneServices
from sluice.services.preload.zone.status import ZoneStatus


class SignedCalls:
    def __init__(self, services: ZoneServices) -> None:
        self.services = services

    async def preload(self, signed: SignedRequest, body: Any) -> SignedReply:
        services, config = self.services, self.services.config
        self._verify(signed)
        order_body = parse_model(PreloadBody, body)
        self._check_zone_id(order_body.zone_id)
        urls = canonicalize_urls(order_body.urls, services.enabled_config)
        facts = await services.load_facts(urls)
        order = PageOrder(
            batch_id=services.create_id("preload"),
            trigger=order_body.trigger,
            urls=urls,
            priority=order_body.priority,
        )

        def enqueue() -> Json:
            return services.enqueuer.enqueue(order, config, facts, services.now())

        return await self._run_once(signed, order_body.idempotency_key, [ANY, PRELOAD], enqueue)

    async def purge(self, signed: SignedRequest, body: Any) -> SignedReply:
        services, config = self.services, self.services.config
        self._verify(signed)
        purge_body = parse_model(PurgeBody, body)
        self._check_zone_id(purge_body.zone_id)
        purge = Purge(
            purge_id=services.create_id("purge"),
            idempotency_key=purge_body.idempotency_key,
            nonce=signed.nonce,
            tags=tuple(purge_body.tags),
            urls=tuple(canonicalize_urls(purge_body.urls, config)),
            everything=purge_body.everything or SITE_TAG in purge_body.tags,
            created_at=services.now(),
        )

        def accept() -> Json:
            services.purger.accept(purge)
            return {
                "purge_id": purge.purge_id,
                "status": "accepted",
                "tags_affected": [SITE_TAG] if purge_body.everything else list(purge.tags),
                "estimated_completion_ms": services.purger.estimate_ms(purge),
            }

        rates = [ANY, PURGE, GLOBAL_PURGE] if purge.everything else [ANY, PURGE]
        return await self._run_once(signed, purge_body.idempotency_key, rates, accept)

    async def show_signed_batch(self, signed: SignedRequest, batch_id: str) -> Json:
        config = self.services.config
        self._verify(signed)
        self.services.sql.transaction(lambda: self._admit(signed, [ANY]))
        return ZoneStatus(self.services).describe_batch(batch_id, config)

    def _verify(self, signed: SignedRequest) -> None:
        """Checks the signature against the zone's own keys if it has any, else against those of all zones."""
        now = self.services.now()
        own = self.services.state.get("signing_keys", default=[])
        keys = [each["key"] for each in own if each["until"] is None or each["until"] > now]
        signed.verify(keys or self.services.settings.signing_keys, now)

    def _check_zone_id(self, zone_id: str) -> None:
        if zone_id != self.services.zone_id:
            raise Invalid(f"zone_id is not {self.services.zone_id}")

    def _admit(self, signed: SignedRequest, rates: list[Rate]) -> None:
        now = self.services.now()
        self.services.admission.use_nonce(signed.nonce, now)
        self.services.admission.charge(rates, now)

    async def _run_once(
        self, signed: SignedRequest, idempotency_key: str, rates: list[Rate], work: Callable[[], Json]
    ) -> SignedReply:
        """Does the work once for an idempotency key, and returns its first reply from then on; all in one transaction."""
        admission = self.services.admission

        def run() -> SignedReply:
            self._admit(signed, rates)
            now = self.services.now()
            if stored := admission.load_response(idempotency_key, signed.body_hash, now):
                return SignedReply(stored, replayed=True)
            reply = work()
            admission.store_response(idempotency_key, signed.body_hash, reply, now)
            return SignedReply(reply, replayed=False)

        result = self.services.sql.transaction(run)
        await self.services.wake()
        return result
