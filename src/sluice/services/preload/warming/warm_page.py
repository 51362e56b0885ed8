"""One page from the queue to its end: asked for, judged, stored, and every count settled in one step."""

from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin

from sluice.core.errors import Invalid, Oversized, Refused, SluiceError
from sluice.core.ports import Clock, FetchResponse, NewId, Sql
from sluice.core.preload.cache_bypass import bypassed_page
from sluice.core.preload.cache_keys import canonical_url
from sluice.core.preload.freshness import compute_freshness, unshareable_reason
from sluice.core.preload.retry_backoff import Kind, Verdict, delay_s, judge
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.queue.batches import Count
from sluice.services.preload.queue.dead_letters import DeadLetters
from sluice.services.preload.queue.queue import Entry, Queue, Wanted
from sluice.services.preload.serving.copies import Copies, Copy, copy_of
from sluice.services.preload.warming.origin import Origin, page_headers
from sluice.services.preload.zone.alerts import Alerts
from sluice.services.preload.zone.outbox import Outbox
from sluice.services.preload.zone.state import State

MAX_PAGE_BYTES: Final = 10 * 1024 * 1024
MAX_HOPS: Final = 5
MAX_HOLD_S: Final = 300.0  # the longest that one page's Retry-After stops the whole zone

# How each end of a page is counted in its batches and called in the log.
ENDS: Final[dict[Kind, tuple[Count, str]]] = {
    "store": ("done", "warmed"),
    "unchanged": ("done", "unchanged"),
    "gone": ("gone", "gone"),
    "redirect": ("skipped", "redirected"),
    "skipped": ("skipped", "skipped"),
    "failed": ("failed", "failed"),
}


@dataclass(frozen=True, slots=True)
class Warming:
    zone_id: str
    sql: Sql
    clock: Clock
    origin: Origin
    copies: Copies
    new_id: NewId

    async def warm(self, entry: Entry, zone: ZoneConfig, flight: int, era: int) -> None:
        """See the page through; whatever happens, it is settled."""
        asked_at = self.clock.now()
        page = Page(entry.url, entry.variant)
        validators = KnownPages(self.sql).validators(page)
        answer, verdict = await self._asked(entry, zone, flight, validators)
        latency_ms = round((self.clock.now() - asked_at) * 1000, 1)
        try:
            verdict, copy = await self._kept(page, zone, answer, verdict, asked_at)
        except SluiceError as error:
            copy = None
            verdict = Verdict(kind="retry", health=verdict.health, status=verdict.status, reason=f"storing: {error}")
        self._settle(entry, zone, verdict, copy, latency_ms=latency_ms, era=era)

    async def _asked(
        self, entry: Entry, zone: ZoneConfig, flight: int, validators: tuple[tuple[str, str], ...]
    ) -> tuple[FetchResponse | None, Verdict]:
        headers = (*page_headers(entry.variant), *validators)
        try:
            answer = await self.origin.ask(entry.url, zone, flight=flight, headers=headers, max_bytes=MAX_PAGE_BYTES)
        except Oversized as error:
            return None, Verdict(kind="skipped", health="neutral", reason=str(error))
        except Refused as error:
            return None, Verdict(kind="failed", health="neutral", reason=str(error))
        except SluiceError as error:
            return None, Verdict(kind="retry", health="trouble", reason=str(error))
        verdict = judge(answer.status, answer.headers, self.clock.now())
        if verdict.kind == "unchanged" and not validators:
            return answer, replace(verdict, kind="skipped", reason="status 304 to a request without conditions")
        return answer, verdict

    async def _kept(
        self, page: Page, zone: ZoneConfig, answer: FetchResponse | None, verdict: Verdict, asked_at: float
    ) -> tuple[Verdict, Copy | None]:
        """Store or remove the copy, as the verdict says."""
        if verdict.kind == "gone":
            await self.copies.remove([page])
            return verdict, None
        if answer is None or verdict.kind not in {"store", "unchanged"}:
            return verdict, None
        if verdict.kind == "unchanged":
            renewed = await self.copies.renew(page, answer.headers, zone, asked_at)
            return replace(verdict, reason="" if renewed else "again"), None
        if reason := unshareable_reason(answer.status, answer.headers, page.url, zone):
            await self.copies.remove([page])
            return replace(verdict, kind="skipped", reason=reason), None
        copy = copy_of(page, answer.headers, answer.body, zone, self.clock.now())
        outcome = await self.copies.store(copy, asked_at)
        told = {"stored": "", "edge-only": "edge only: R2 refused it", "purged": "again"}[outcome]
        return replace(verdict, reason=told), copy if outcome == "stored" else None

    def _settle(
        self, entry: Entry, zone: ZoneConfig, verdict: Verdict, copy: Copy | None, *, latency_ms: float, era: int
    ) -> None:
        now = self.clock.now()
        if verdict.kind == "redirect":
            verdict = self._redirected(entry, zone, verdict, now)
        self._note_page(entry, zone, verdict, copy, now)
        status = self._move(entry, zone, verdict, now)
        Outbox(self.sql).log(
            *(self.zone_id, entry.url, status),
            now=now,
            http_status=verdict.status,
            latency_ms=int(latency_ms),
            trigger_name=entry.trigger,
            attempt=entry.attempt,
            detail=verdict.reason[:500] or None,
        )
        Alerts(self.sql).count_result(now, ok=verdict.kind not in {"retry", "failed"}, latency_ms=latency_ms)
        self._tell_breaker(verdict, zone, era, now)
        self.review(now)

    def review(self, now: float) -> None:
        depth, breaker = Queue(self.sql).depth, State(self.sql).breaker
        Alerts(self.sql).review(self.zone_id, now=now, depth=depth, breaker=breaker, new_id=self.new_id())

    def _note_page(self, entry: Entry, zone: ZoneConfig, verdict: Verdict, copy: Copy | None, now: float) -> None:
        known, page = KnownPages(self.sql), Page(entry.url, entry.variant)
        if copy is not None:
            known.keep(page, copy.headers, now=now, fresh_until=copy.fresh_until)
        elif verdict.kind == "unchanged" and not verdict.reason:
            known.renewed(page, now=now, fresh_until=now + compute_freshness((), entry.url, zone).edge_s)
        elif verdict.kind not in {"retry", "failed"}:
            known.forget([page])

    def _move(self, entry: Entry, zone: ZoneConfig, verdict: Verdict, now: float) -> str:
        """Take the page out of the queue, or put it off; returns what the log says of it."""
        queue, dead = Queue(self.sql), DeadLetters(self.sql)
        if verdict.kind in {"store", "unchanged"} and verdict.reason == "again":
            queue.unlease(entry)
            return "again"
        if verdict.kind == "retry" and entry.attempt < zone.preload_retry_max:
            self._put_off(entry, verdict, now)
            return "retry"
        if verdict.kind in {"retry", "failed"}:
            dead.add(entry, status=verdict.status, reason=verdict.reason, now=now)
            queue.finish(entry, "failed", now)
            return "failed"
        count, called = ENDS[verdict.kind]
        dead.remove(entry.url, entry.variant)
        queue.finish(entry, count, now)
        return "edge_only" if verdict.reason.startswith("edge only") else called

    def _put_off(self, entry: Entry, verdict: Verdict, now: float) -> None:
        wait_s = max(delay_s(entry.attempt), verdict.retry_after_s or 0)
        Queue(self.sql).retry(entry, now + wait_s, now)
        if verdict.status == 429:
            # The origin speaks for all its pages: asking for the others meanwhile would only earn more of the same.
            State(self.sql).put("hold_until", now + min(MAX_HOLD_S, verdict.retry_after_s or 0))

    def _redirected(self, entry: Entry, zone: ZoneConfig, verdict: Verdict, now: float) -> Verdict:
        """Have the page warmed to which this one leads, if it is one of ours."""
        try:
            target = canonical_url(urljoin(entry.url, verdict.reason), zone)
        except (Invalid, ValueError) as error:
            return replace(verdict, kind="skipped", reason=f"redirects to {verdict.reason[:300]}: {error}")
        if target != entry.url and entry.hops < MAX_HOPS and not bypassed_page(target):
            wanted = Wanted(
                url=target,
                variant=entry.variant,
                priority=entry.priority,
                trigger=entry.trigger,
                post_id=entry.post_id,
                hops=entry.hops + 1,
            )
            for row in self.sql.rows("SELECT batch_id FROM membership WHERE entry_id = ?", entry.id):
                Queue(self.sql).enqueue(
                    [wanted], str(row["batch_id"]), now=now, max_depth=zone.preload_queue_max_depth + 1
                )
        return verdict

    def _tell_breaker(self, verdict: Verdict, zone: ZoneConfig, era: int, now: float) -> None:
        state = State(self.sql)
        breaker = state.breaker
        if breaker.era != era:
            return
        match verdict.health:
            case "good":
                state.keep_breaker(breaker.answered())
            case "neutral":
                state.keep_breaker(breaker.refused())
            case "trouble":
                state.keep_breaker(
                    breaker.failed(
                        now,
                        threshold=zone.preload_circuit_breaker_threshold,
                        max_backoff_s=zone.preload_circuit_breaker_max_backoff_s,
                    )
                )
