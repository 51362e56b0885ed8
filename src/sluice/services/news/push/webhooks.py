"""Webhooks for new stories, signed as in the Standard Webhooks specification."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.net.webhook import post_json
from sluice.core.news.stories import Story
from sluice.core.ports import Clock, Fetch, NewId
from sluice.services.news.push.subscription_rows import SubscriptionRows
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.state.outbox import Delivery, DeliveryKind, Outbox
from sluice.services.news.state.remote_state import CreatedWebhook

# A story that was completed longer ago was not found just now: the object has read it from an older store.
_NEW_MS: Final = 3_600_000
_REMEMBERED_MS: Final = 60 * 24 * 3_600_000
_MAX_STORIES: Final = 50
_PREFIX: Final = "whsec_"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    rows: SubscriptionRows
    outbox: Outbox
    fetch: Fetch
    clock: Clock
    new_id: NewId

    def create(self, url: str) -> CreatedWebhook:
        """Add a webhook with a secret of its own."""
        secret = _PREFIX + b64encode(bytes.fromhex(self.new_id())).decode()
        webhook: CreatedWebhook = {"id": self.new_id(), "url": url, "secret": secret, "created_ms": self._now_ms()}
        self.rows.add_webhook(webhook)
        return webhook

    def plan_deliveries(self, snapshot: Snapshot) -> None:
        """Plan to send every story that is new and complete, once, to every webhook."""
        now_ms = self._now_ms()
        recent = {story.id: story for story in snapshot.stories if _is_recent(story, now_ms)}
        new = self.rows.announce_stories(list(recent), now_ms)[:_MAX_STORIES]
        if new:
            self.rows.forget_stories(now_ms - _REMEMBERED_MS)
            body = encode_body([recent[story_id] for story_id in new], now_ms)
            for webhook in self.rows.list_webhooks():
                self.outbox.add(DeliveryKind.WEBHOOK, webhook["id"], body, now_ms)

    async def send(self, delivery: Delivery) -> None:
        webhook = self.rows.find_webhook(delivery.target)
        if webhook is None:
            return
        message_id, body = f"msg_{delivery.id}", encode_utf8(delivery.body)
        time = str(int(self.clock.now()))
        headers = (
            ("webhook-id", message_id),
            ("webhook-timestamp", time),
            ("webhook-signature", sign_message(webhook["secret"], message_id, time, body)),
        )
        await post_json(self.fetch, webhook["url"], body, headers)

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)


def encode_body(stories: Sequence[Story], now_ms: int) -> str:
    return encode_json({"type": "stories.created", "timestamp": now_ms, "data": [story.as_json() for story in stories]})


def sign_message(secret: str, message_id: str, time: str, body: bytes) -> str:
    """Return the signature of the id, the time and the body."""
    key = b64decode(secret.removeprefix(_PREFIX))
    digest = hmac.new(key, f"{message_id}.{time}.".encode() + body, "sha256").digest()
    return f"v1,{b64encode(digest).decode()}"


def _is_recent(story: Story, now_ms: int) -> bool:
    return story.lead.is_complete and now_ms - story.lead.article.number("processedAt") < _NEW_MS
