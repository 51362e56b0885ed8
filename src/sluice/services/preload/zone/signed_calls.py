"""What a site may ask for with its signature: preload, purge, and how a batch stands."""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import Any

from sluice.core.errors import Invalid
from sluice.core.models import parse_model
from sluice.core.preload.request_signing import SignedRequest
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.http.requests import PreloadBody, PurgeBody
from sluice.services.preload.queue.enqueue import Order, canonical_urls
from sluice.services.preload.serving.purging import MS_PER_PAGE, SITE_TAG, Purge
from sluice.services.preload.zone.admission import ANY, GLOBAL_PURGE, PRELOAD, PURGE, Admission, Rate
from sluice.services.preload.zone.requests_shared import Call, Desk, Json
from sluice.services.preload.zone.status import Status


@dataclass(frozen=True, slots=True)
class SignedCalls:
    desk: Desk

    @property
    def table(self) -> dict[str, Call]:
        return {"preload": self._preload, "purge": self._purge, "signed_batch": self._signed_batch}

    def _verified(self, given: Json) -> SignedRequest:
        signed = SignedRequest(**given["signed"])
        signed.verify(self._keys(), self.desk.parts.now())
        return signed

    def _keys(self) -> list[str]:
        """The zone's own keys where it has any, else those of all zones."""
        now = self.desk.parts.now()
        own = self.desk.parts.state.get("signing_keys", default=[])
        return [each["key"] for each in own if each["until"] is None or each["until"] > now] or [
            *self.desk.settings.signing_keys
        ]

    async def _preload(self, zone: ZoneConfig, given: Json) -> Json:
        signed = self._verified(given)
        body = self._own(parse_model(PreloadBody, given["body"]))
        urls = canonical_urls(body.urls, self.desk.enabled(zone))
        facts = await self.desk.facts(urls)
        order = Order(batch_id=self.desk.new_id("preload"), trigger=body.trigger, urls=urls, override=body.priority)

        def accept() -> Json:
            now = self.desk.parts.now()
            return self._once(
                signed,
                body.idempotency_key,
                [PRELOAD],
                lambda: self.desk.parts.enqueueing.place(order, zone, facts, now),
            )

        reply = self.desk.sql.transaction(accept)
        await self.desk.wake()
        return reply

    async def _purge(self, zone: ZoneConfig, given: Json) -> Json:
        signed = self._verified(given)
        body = self._own(parse_model(PurgeBody, given["body"]))
        everything = body.everything or SITE_TAG in body.tags
        purge = Purge(
            purge_id=self.desk.new_id("purge"),
            idempotency_key=body.idempotency_key,
            nonce=signed.nonce,
            tags=tuple(body.tags),
            urls=tuple(canonical_urls(body.urls, zone)),
            everything=everything,
            created_at=self.desk.parts.now(),
        )

        def carry_out() -> Json:
            self.desk.parts.purging.accept(purge)
            pages = self.desk.parts.sql.value("SELECT count(*) FROM page") if everything else len(purge.urls)
            return {
                "purge_id": purge.purge_id,
                "status": "accepted",
                "tags_affected": [SITE_TAG] if body.everything else list(purge.tags),
                "estimated_completion_ms": ceil(int(pages or 0) + 10 * len(purge.tags) + 10) * MS_PER_PAGE,
            }

        rates = [PURGE, GLOBAL_PURGE] if everything else [PURGE]
        reply = self.desk.sql.transaction(lambda: self._once(signed, body.idempotency_key, rates, carry_out))
        await self.desk.wake()
        return reply

    async def _signed_batch(self, zone: ZoneConfig, given: Json) -> Json:
        signed = self._verified(given)
        self.desk.sql.transaction(lambda: self._admit(signed, []))
        return Status(self.desk.parts).of_batch(given["batch_id"], zone)

    def _admit(self, signed: SignedRequest, rates: list[Rate]) -> None:
        admission, now = Admission(self.desk.sql), self.desk.parts.now()
        admission.use_nonce(signed.nonce, now)
        for rate in (ANY, *rates):
            admission.charge(rate, now)

    def _once(self, signed: SignedRequest, name: str, rates: list[Rate], work: Callable[[], Json]) -> Json:
        """Do the work for an idempotency key once, and give its first answer from then on."""
        self._admit(signed, rates)
        admission, now = Admission(self.desk.sql), self.desk.parts.now()
        if first := admission.first_response(name, signed.body_hash, now):
            return {"reply": first, "replayed": True}
        reply = work()
        admission.keep_response(name, signed.body_hash, reply, now)
        return {"reply": reply, "replayed": False}

    def _own(self, body: Any) -> Any:
        if body.zone_id != self.desk.parts.zone_id:
            raise Invalid(f"zone_id is not {self.desk.parts.zone_id}")
        return body
