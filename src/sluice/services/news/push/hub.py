"""The WebSub hub in the state object: confirms subscriptions, and sends the feeds to the subscribers."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError, Unavailable
from sluice.core.json_text import encode_json
from sluice.core.net.webhook import MAX_REPLY_BYTES, TIMEOUT_S
from sluice.core.ports import Clock, Fetch, Log, NewId
from sluice.services.news.push.hub_request import build_verification_url, sign_content
from sluice.services.news.push.subscription_rows import Subscription, SubscriptionRows
from sluice.services.news.push.topics import build_links, write_topic
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.state.outbox import Delivery, DeliveryKind, Outbox
from sluice.services.news.state.remote_state import HubRequest

_GONE: Final = 410


@dataclass(frozen=True, slots=True, kw_only=True)
class Hub:
    rows: SubscriptionRows
    outbox: Outbox
    build_snapshot: Callable[[], Snapshot]
    fetch: Fetch
    clock: Clock
    log: Log
    new_id: NewId

    def accept(self, request: HubRequest) -> None:
        """Plan the confirmation of a request; the subscriber has its answer before that."""
        self.rows.check_room(request["callback"], self.outbox.count_kind(DeliveryKind.VERIFICATION))
        self.outbox.add(DeliveryKind.VERIFICATION, request["callback"], encode_json(request), self._now_ms())

    def plan_deliveries(self) -> None:
        """Plan to send the feeds to everybody who has subscribed."""
        for subscription in self.rows.list_active(self._now_ms()):
            self.outbox.add(DeliveryKind.FEED, str(subscription.id), "", self._now_ms())

    async def confirm(self, delivery: Delivery) -> None:
        """Ask the callback once whether it meant it. Any other answer than the challenge leaves everything as it was."""
        request: HubRequest = json.loads(delivery.body)
        challenge = self.new_id()
        try:
            is_confirmed = await self._is_confirmed(build_verification_url(request, challenge), challenge)
        except SluiceError as error:
            self.log.error("subscription.unconfirmed", error, callback=request["callback"])
            return
        fields = {"mode": request["mode"], "topic": request["topic"], "callback": request["callback"]}
        self.log.event("subscription.confirmed" if is_confirmed else "subscription.refused", **fields)
        if is_confirmed and request["mode"] == "subscribe":
            until_ms = self._now_ms() + request["lease_s"] * 1000
            self.rows.subscribe(request["topic"], request["callback"], request["secret"], until_ms)
        elif is_confirmed:
            self.rows.unsubscribe(request["topic"], request["callback"])

    async def send_feed(self, delivery: Delivery) -> None:
        """Post the whole feed as it is now; a subscription that has ended gets nothing."""
        subscription = self.rows.find(delivery.target, self._now_ms())
        if subscription is None:
            return
        content_type, body = write_topic(subscription.topic, self.build_snapshot())
        response = await self.fetch(
            subscription.callback,
            method="POST",
            headers=(("Content-Type", content_type), *_build_headers(subscription, body)),
            body=body,
            max_bytes=MAX_REPLY_BYTES,
            timeout_s=TIMEOUT_S,
            follow=False,
        )
        if response.status == _GONE:
            self.rows.unsubscribe(subscription.topic, subscription.callback)
        elif not 200 <= response.status < 300:
            raise Unavailable(f"the subscriber answered {response.status}")

    async def _is_confirmed(self, url: str, challenge: str) -> bool:
        response = await self.fetch(url, max_bytes=MAX_REPLY_BYTES, timeout_s=TIMEOUT_S, follow=False, fresh=True)
        return 200 <= response.status < 300 and response.body == challenge.encode()

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)


def _build_headers(subscription: Subscription, body: bytes) -> tuple[tuple[str, str], ...]:
    signature = sign_content(subscription.secret, body) if subscription.secret else ""
    signed = (("X-Hub-Signature", signature),) if signature else ()
    return (("Link", build_links(subscription.topic)), *signed)
