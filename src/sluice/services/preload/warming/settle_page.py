"""What an attempt means for its entry: every count, log line and alert is written in one step without an await."""

from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin

from sluice.core.errors import Invalid
from sluice.core.ports import NewId
from sluice.core.preload.caching.cache_keys import canonical_url
from sluice.core.preload.caching.freshness import compute_freshness
from sluice.core.preload.caching.request_rules import page_bypass_reason
from sluice.core.preload.circuit_breaker import Breaker
from sluice.core.preload.incidents import REDIRECT_LOOP_REASONS, IncidentInputs
from sluice.core.preload.queue_entries import QueueEntry, WantedPage
from sluice.core.preload.retry_backoff import backoff_s
from sluice.core.preload.warming_outcomes import (
    EdgeOnly,
    Failed,
    FetchAgain,
    Gone,
    OriginHealth,
    Outcome,
    Redirect,
    Retry,
    Skipped,
    Stored,
    TimedOutPage,
    Unchanged,
    detail_of,
)
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.queue.batches import Batches, Count
from sluice.services.preload.queue.dead_letters import DeadLetterQueue
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.serving.copies import Copy
from sluice.services.preload.zone.alerts import ZoneAlerts
from sluice.services.preload.zone.outbox import Outbox
from sluice.services.preload.zone.state import ZoneState

MAX_HOPS: Final = 5
REDIRECT_LOOP_KEPT_S: Final = 600.0  # so long after the last one that was seen
MAX_HOLD_S: Final = 300.0  # the longest that one page's Retry-After stops the whole zone
CRASHES: Final = "the Worker crashed on it too often"


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt to warm a page; `status` is None without a response, `copy` is set when R2 holds a new one."""

    outcome: Outcome
    health: OriginHealth
    status: int | None
    latency_ms: float
    copy: Copy | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSettler:
    zone_id: str
    state: ZoneState
    queue: Queue
    batches: Batches
    dead_letters: DeadLetterQueue
    known_pages: KnownPages
    outbox: Outbox
    alerts: ZoneAlerts
    new_id: NewId

    def settle(self, entry: QueueEntry, config: ZoneConfig, attempt: Attempt, *, era: int, now: float) -> None:
        """Settle the entry, and report the attempt to the log, the breaker and the alerts.

        An attempt that ends after its lease, when another one has begun, settles nothing: the other one will.
        """
        if not self.queue.is_held(entry):
            return
        if isinstance(attempt.outcome, Redirect):
            outcome = self._follow_redirect(entry, config, attempt.outcome, now)
            attempt = replace(attempt, outcome=outcome)
        self._update_known_page(entry, config, attempt, now)
        status = self._settle_entry(entry, config, attempt, now)
        self.outbox.add_log(
            *(self.zone_id, entry.url, status),
            now=now,
            http_status=attempt.status,
            latency_ms=int(attempt.latency_ms),
            trigger_name=entry.trigger,
            attempt=entry.attempt,
            detail=detail_of(attempt.outcome)[:500] or None,
        )
        is_ok = not isinstance(attempt.outcome, Retry | TimedOutPage | Failed)
        self.alerts.count_result(now, ok=is_ok, latency_ms=attempt.latency_ms)
        self._update_breaker(attempt.health, config, era, now, entry)
        # While all is well a page changes nothing that is watched but the depth, which the cron looks at.
        if not is_ok or self.alerts.has_active():
            self.review_alerts(now)

    def give_up(self, entry: QueueEntry, now: float) -> None:
        """Settle a page on which the Worker crashed again and again."""
        self._move_to_dead_letters(entry, None, CRASHES, now)
        self.outbox.add_log(self.zone_id, entry.url, "failed", now=now, detail=CRASHES)

    def note_redirect_loop(self, url: str, now: float) -> None:
        """Note a page that redirects to itself, for the operator."""
        self.state.put(circle={"url": url[:500], "at": now})
        self.review_alerts(now)

    def review_alerts(self, now: float) -> None:
        loop = self.state.get("circle")
        redirect_loop_url = loop["url"] if loop and now - loop["at"] < REDIRECT_LOOP_KEPT_S else None
        watched = IncidentInputs(
            breaker=self.state.breaker,
            agent=self.state.agent,
            looping=self.state.looping_hosts,
            redirect_loop_url=redirect_loop_url,
        )
        self.alerts.review(now=now, watched=watched, new_id=self.new_id())

    def note_loop(self, host: str, now: float, *, loops: bool) -> None:
        """Note whether the requests to a host come back to us, and report a change."""
        before = self.state.looping_hosts
        if loops == (host in before):
            return
        self.state.put(looping_hosts=[*before, host] if loops else [each for each in before if each != host])
        self.review_alerts(now)

    def _update_known_page(self, entry: QueueEntry, config: ZoneConfig, attempt: Attempt, now: float) -> None:
        page = Page(entry.url, entry.variant)
        if attempt.copy is not None:
            self.known_pages.store(page, attempt.copy.headers, now=now, fresh_until=attempt.copy.fresh_until)
            return
        match attempt.outcome:
            case Unchanged():
                lifetime_s = compute_freshness((), entry.url, config).lifetime_s
                self.known_pages.renew(page, now=now, fresh_until=now + lifetime_s)
            case Retry() | TimedOutPage() | Failed():
                pass
            case _:
                self.known_pages.forget([page])

    def _settle_entry(self, entry: QueueEntry, config: ZoneConfig, attempt: Attempt, now: float) -> str:
        """Remove the entry from the queue, or delay it; return its status for the log."""
        match attempt.outcome:
            case FetchAgain():
                self.queue.give_back(entry)
                return "again"
            case (Retry() | TimedOutPage()) as failure if entry.attempt < config.preload_retry_max:
                self._delay(entry, failure, now)
                return "retry"
            case Retry(reason=reason) | TimedOutPage(reason=reason) | Failed(reason=reason):
                self._move_to_dead_letters(entry, attempt.status, reason, now)
                return "failed"
            case Stored():
                return self._finish(entry, "done", "warmed", now)
            case EdgeOnly():
                return self._finish(entry, "done", "edge_only", now)
            case Unchanged():
                return self._finish(entry, "done", "unchanged", now)
            case Gone():
                return self._finish(entry, "gone", "gone", now)
            case Redirect():
                return self._finish(entry, "skipped", "redirected", now)
            case Skipped():
                return self._finish(entry, "skipped", "skipped", now)

    def _finish(self, entry: QueueEntry, count: Count, status: str, now: float) -> str:
        if self.dead_letters.may_have_any:
            self.dead_letters.remove(entry.url, entry.variant)
        self.queue.finish(entry, count, now)
        return status

    def _move_to_dead_letters(self, entry: QueueEntry, status: int | None, reason: str, now: float) -> None:
        """Move an entry to the dead-letter queue."""
        self.dead_letters.add(entry, status=status, reason=reason, now=now)
        self.queue.finish(entry, "failed", now)

    def _delay(self, entry: QueueEntry, failure: Retry | TimedOutPage, now: float) -> None:
        if isinstance(failure, TimedOutPage):
            self.queue.retry(entry, now + backoff_s(entry.attempt), now, is_late=True)
            return
        if failure.is_lost and not entry.attempt:
            self.queue.repeat(entry)
            return
        after_s = failure.after_s or 0
        self.queue.retry(entry, now + max(backoff_s(entry.attempt), after_s), now)
        if failure.pauses_zone:
            self.state.put(hold_until=now + min(MAX_HOLD_S, after_s))

    def _follow_redirect(self, entry: QueueEntry, config: ZoneConfig, redirect: Redirect, now: float) -> Outcome:
        """Enqueue the target if it is a page of the zone, for the same batches."""
        try:
            target = canonical_url(urljoin(entry.url, redirect.to), config)
        except (Invalid, ValueError) as error:
            return Skipped(f"redirects to {redirect.to[:300]}: {error}")
        if target == entry.url:
            self.note_redirect_loop(entry.url, now)
            return Failed(f"it redirects to itself: {REDIRECT_LOOP_REASONS}")
        if entry.hops < MAX_HOPS and not page_bypass_reason(target, config):
            wanted = WantedPage(
                url=target,
                variant=entry.variant,
                priority=entry.priority,
                trigger=entry.trigger,
                post_id=entry.post_id,
                hops=entry.hops + 1,
            )
            # One more than the limit: this entry is about to leave the queue.
            max_depth = config.preload_queue_max_depth + 1
            for batch_id in self.batches.list_ids(entry.id):
                self.queue.enqueue([wanted], batch_id, now=now, max_depth=max_depth)
        return redirect

    def _count_trouble(self, breaker: Breaker, url: str, config: ZoneConfig, now: float) -> None:
        threshold = config.preload_circuit_breaker_threshold
        max_backoff_s = config.preload_circuit_breaker_max_backoff_s
        self.state.put_breaker(breaker.after_failure(now, url, threshold=threshold, max_backoff_s=max_backoff_s))

    def count_unreachable(self, config: ZoneConfig, now: float) -> None:
        """Count a visitor's connection that failed: it tells of the whole origin, so each counts like a page of its own."""
        self._count_trouble(self.state.breaker.at(now), f"{config.site_url}/#{now}", config, now)

    def _update_breaker(
        self, health: OriginHealth, config: ZoneConfig, era: int, now: float, entry: QueueEntry
    ) -> None:
        """Count an attempt for the breaker, but not one from before its last change, nor a page that keeps failing."""
        breaker = self.state.breaker
        keeps_failing = (
            health is OriginHealth.TROUBLE and entry.first_failed_at is not None and breaker.state == "closed"
        )
        if breaker.era != era or keeps_failing:
            return
        match health:
            case OriginHealth.GOOD:
                self.state.put_breaker(breaker.after_success())
            case OriginHealth.NEUTRAL:
                self.state.put_breaker(breaker.after_refusal())
            case OriginHealth.TROUBLE:
                self._count_trouble(breaker, entry.url, config, now)
            case OriginHealth.UNKNOWN:
                pass
