"""From addresses to entries: canonical, scored, in all their forms, in a batch; what finds no room is logged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import BadField, Invalid
from sluice.core.ports import Sql
from sluice.core.preload.bypass import bypassed_page
from sluice.core.preload.canonical import canonical_url, variants_of
from sluice.core.preload.priority import NOTHING_KNOWN, Facts, priority
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.queue import Queue, Wanted
from sluice.services.preload.zone.outbox import Outbox

MAX_OVERFLOW_LINES: Final = 100  # of one request; a sitemap too large for the queue is told in one more line


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """Pages wanted together."""

    batch_id: str
    trigger: str
    urls: Sequence[str]
    override: float | None = None


def canonical_urls(urls: Sequence[str], zone: ZoneConfig) -> list[str]:
    """One spelling of each page once; Invalid names every address that is not a page of the zone."""
    found: dict[str, None] = {}
    mistakes = []
    for place, url in enumerate(urls):
        try:
            found[canonical_url(url, zone)] = None
        except Invalid as error:
            mistakes.append(BadField(f"urls[{place}]", str(error)))
    if mistakes:
        raise Invalid.from_fields(mistakes)
    return list(found)


@dataclass(frozen=True, slots=True)
class Enqueueing:
    zone_id: str
    sql: Sql

    def place(self, order: Order, zone: ZoneConfig, facts: Mapping[str, Facts], now: float) -> dict[str, Any]:
        """Put an order of canonical URLs into the queue; the documented answer."""
        batches, queue = Batches(self.sql), Queue(self.sql)
        batches.open(order.batch_id, order.trigger, now)
        allowed = [url for url in order.urls if bypassed_page(url) is None]
        forms = len(variants_of(zone))
        if skipped := (len(order.urls) - len(allowed)) * forms:
            batches.settled_at_once(order.batch_id, "skipped", skipped)
        wanted = list(_wanted(allowed, order, zone, facts, now))
        done = queue.enqueue(wanted, order.batch_id, now=now, max_depth=zone.preload_queue_max_depth)
        self._log_overflow(done.dropped, now)
        return {
            "preload_batch_id": order.batch_id,
            "status": "accepted",
            "enqueued": done.queued,
            "queue_depth": queue.depth,
        }

    def _log_overflow(self, dropped: Sequence[str], now: float) -> None:
        outbox = Outbox(self.sql)
        for url in dropped[:MAX_OVERFLOW_LINES]:
            outbox.log(self.zone_id, url, "queue_overflow", now=now, detail="the queue is full")
        if (more := len(dropped) - MAX_OVERFLOW_LINES) > 0:
            told = f"the queue is full: this page and {more - 1} more"
            outbox.log(self.zone_id, dropped[MAX_OVERFLOW_LINES], "queue_overflow", now=now, detail=told)


def _wanted(
    urls: Iterable[str], order: Order, zone: ZoneConfig, facts: Mapping[str, Facts], now: float
) -> Iterator[Wanted]:
    for url in urls:
        known = facts.get(url, NOTHING_KNOWN)
        score = priority(order.trigger, known, now) if order.override is None else order.override
        for variant in variants_of(zone):
            yield Wanted(url=url, variant=variant, priority=score, trigger=order.trigger, post_id=known.post_id)
