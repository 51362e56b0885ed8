"""From URLs to entries: canonical, with a priority, in every variant, in a batch; what finds no room is logged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import BadField, Invalid
from sluice.core.preload.caching.cache_keys import canonical_url, list_variants
from sluice.core.preload.caching.request_rules import page_bypass_reason
from sluice.core.preload.members import Amount, AnyTrigger
from sluice.core.preload.priority import NOTHING_KNOWN, Facts, compute_priority
from sluice.core.preload.queue_entries import WantedPage
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.zone.outbox import Outbox

MAX_OVERFLOW_LINES: Final = 100  # of one request; one more line reports the rest


class AcceptedReply(TypedDict):
    preload_batch_id: str
    status: Literal["accepted"]
    enqueued: Annotated[int, Doc("Pages of this batch in the queue; each variant counts.")]
    queue_depth: Amount


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOrder:
    """Canonical URLs that are wanted together; `priority` replaces the computed one."""

    batch_id: str
    trigger: AnyTrigger
    urls: Sequence[str]
    priority: float | None = None


def canonicalize_urls(urls: Sequence[str], config: ZoneConfig, *, field: str = "urls") -> list[str]:
    """Return the canonical URLs without duplicates; raise Invalid that names every URL that is not a page of the zone."""
    canonical: dict[str, None] = {}
    mistakes = []
    for position, url in enumerate(urls):
        try:
            canonical[canonical_url(url, config)] = None
        except Invalid as error:
            mistakes.append(BadField(f"{field}[{position}]", str(error)))
    if mistakes:
        raise Invalid.from_fields(mistakes)
    return list(canonical)


@dataclass(frozen=True, slots=True)
class Enqueuer:
    zone_id: str
    batches: Batches
    queue: Queue
    outbox: Outbox

    def enqueue(self, order: PageOrder, config: ZoneConfig, facts: Mapping[str, Facts], now: float) -> AcceptedReply:
        """Put the pages of an order into the queue."""
        self.batches.open(order.batch_id, order.trigger, now)
        cacheable = [url for url in order.urls if page_bypass_reason(url, config) is None]
        variants = list_variants(config)
        if skipped := (len(order.urls) - len(cacheable)) * len(variants):
            self.batches.add_settled(order.batch_id, "skipped", skipped)
        wanted = list(_build_pages(cacheable, variants, order, facts, now))
        result = self.queue.enqueue(wanted, order.batch_id, now=now, max_depth=config.preload_queue_max_depth)
        self._log_overflow(result.dropped, now)
        return {
            "preload_batch_id": order.batch_id,
            "status": "accepted",
            "enqueued": result.queued,
            "queue_depth": result.depth,
        }

    def _log_overflow(self, dropped: Sequence[str], now: float) -> None:
        for url in dropped[:MAX_OVERFLOW_LINES]:
            self.outbox.add_log(self.zone_id, url, "queue_overflow", now=now, detail="the queue is full")
        if (more := len(dropped) - MAX_OVERFLOW_LINES) > 0:
            detail = f"the queue is full: this page and {more - 1} more"
            self.outbox.add_log(self.zone_id, dropped[MAX_OVERFLOW_LINES], "queue_overflow", now=now, detail=detail)


def _build_pages(
    urls: Iterable[str], variants: Sequence[str], order: PageOrder, facts: Mapping[str, Facts], now: float
) -> Iterator[WantedPage]:
    for url in urls:
        known = facts.get(url, NOTHING_KNOWN)
        priority = compute_priority(order.trigger, known, now) if order.priority is None else order.priority
        for variant in variants:
            yield WantedPage(url=url, variant=variant, priority=priority, trigger=order.trigger, post_id=known.post_id)
