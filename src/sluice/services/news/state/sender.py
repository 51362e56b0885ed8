"""Sends what waits in the outbox when the alarm rings."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.net.webhook import post_alert
from sluice.core.ports import Clock, Fetch, Log
from sluice.services.news.state.outbox import Delivery, DeliveryKind, Outbox

_AT_ONCE: Final = 50  # in one alarm, one after the other; the next alarm sends the rest

# Sends one delivery; raises a SluiceError if it was not received.
Send = Callable[[Delivery], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sender:
    outbox: Outbox
    send_by_kind: Mapping[DeliveryKind, Send]
    clock: Clock
    log: Log

    async def run(self) -> None:
        """Send everything that is due. What fails is tried again later."""
        for delivery in self.outbox.list_due(self._now_ms(), _AT_ONCE):
            try:
                await self.send_by_kind[delivery.kind](delivery)
            except SluiceError as error:
                is_kept = self.outbox.retry(delivery, self._now_ms())
                self.log.error(
                    "delivery.failed", error, kind=delivery.kind, target=delivery.target, is_given_up=not is_kept
                )
            else:
                self.outbox.remove(delivery)

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)


@dataclass(frozen=True, slots=True)
class AlertSender:
    """Posts alerts to ALERT_WEBHOOK_URL; without one they are only logged."""

    fetch: Fetch
    url: str
    log: Log

    async def send(self, delivery: Delivery) -> None:
        self.log.event("alert", body=delivery.body)
        if self.url:
            await post_alert(self.fetch, self.url, delivery.body, f"news-alert-{delivery.id}")
