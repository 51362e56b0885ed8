"""One leased page: fetch it from the origin, store or remove its copy, settle its entry."""

from dataclasses import dataclass
from typing import Final, assert_never

from sluice.core.errors import ConnectionLost, LimitReached, Oversized, Preempted, Refused, SluiceError, TimedOut
from sluice.core.ports import Clock, Content, FetchResponse, HeaderPairs
from sluice.core.preload.caching.freshness import unshareable_reason
from sluice.core.preload.queue_entries import QueueEntry
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
    Storable,
    Stored,
    TimedOutPage,
    Unchanged,
    classify_response,
    health_of,
)
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.serving.copies import Copy, Revalidation, build_copy
from sluice.services.preload.serving.copy_store import CopyStore, StoreResult
from sluice.services.preload.warming.origin import MAX_PAGE_BYTES, Origin, OriginWait, page_headers
from sluice.services.preload.warming.settle_page import Attempt, PageSettler

PURGED_MEANWHILE: Final = FetchAgain("it was purged while it was fetched")
COPY_IS_MISSING: Final = FetchAgain("it has not changed, but its stored copy is missing")
# It says nothing about the page or the origin, and the next alarm has limits of its own.
OVER_LIMIT: Final = FetchAgain("this alarm has done as much as the platform allows")
# What an attempt without a response leads to.
NoResponse = Skipped | Failed | Retry | TimedOutPage | FetchAgain
UNEXPECTED_304: Final = Skipped("status 304 to a request without conditions")


@dataclass(frozen=True, slots=True)
class PageWarmer:
    clock: Clock
    origin: Origin
    copies: CopyStore
    known_pages: KnownPages
    settler: PageSettler

    async def warm(self, entry: QueueEntry, config: ZoneConfig, grant_id: int, era: int, wait: OriginWait) -> None:
        """Warm a leased page; its entry is settled whatever happens. `wait` lets others end the wait for the origin."""
        fetched_at, seq = self.clock.now(), self.copies.latest_seq()
        page = Page(entry.url, entry.variant)
        validators = self.known_pages.load_validators(page)
        response = await self._fetch_page(page, config, grant_id, validators, wait)
        latency_ms = round(max(0.0, self.clock.now() - fetched_at) * 1000, 1)  # the clock may step back
        if isinstance(response, FetchResponse):
            outcome, copy = await self._store_or_remove(
                page, config, response, Revalidation(validators, fetched_at, seq)
            )
            attempt = Attempt(outcome, health_of(response.status), response.status, latency_ms, copy)
        else:
            is_alive = isinstance(response, TimedOutPage) and self.settler.alerts.has_answered_since(fetched_at)
            health = OriginHealth.UNKNOWN if is_alive else _health_without_response(response, entry.attempt)
            attempt = Attempt(response, health, None, latency_ms, None)
        self.settler.settle(entry, config, attempt, era=era, now=self.clock.now())

    async def _fetch_page(
        self, page: Page, config: ZoneConfig, grant_id: int, validators: HeaderPairs, wait: OriginWait
    ) -> FetchResponse | NoResponse:
        headers = (*page_headers(page.variant), *validators)
        try:
            return await self.origin.fetch_granted(
                page.url, config, grant_id=grant_id, headers=headers, max_bytes=MAX_PAGE_BYTES, wait=wait
            )
        except Oversized as error:
            return Skipped(str(error))
        except Refused as error:
            return Failed(str(error))
        except LimitReached:
            return OVER_LIMIT
        except TimedOut as error:
            return TimedOutPage(str(error), was_preempted=isinstance(error, Preempted))
        except SluiceError as error:
            return Retry(str(error), is_lost=isinstance(error, ConnectionLost))

    async def _store_or_remove(
        self, page: Page, config: ZoneConfig, response: FetchResponse, validated: Revalidation
    ) -> tuple[Outcome, Copy | None]:
        """Apply the response to the stored copy; a store that fails is a reason to try again."""
        try:
            match classify_response(response.status, response.headers, self.clock.now()):
                case Storable():
                    return await self._store_copy(page, config, response, validated.seq)
                case Unchanged() if validated.conditions:
                    is_renewed = await self.copies.renew(page, response.headers, config, validated)
                    return Unchanged() if is_renewed else COPY_IS_MISSING, None
                case Unchanged():
                    return UNEXPECTED_304, None
                case Gone() as gone:
                    await self.copies.remove([page])
                    return gone, None
                case (Redirect() | Skipped() | Retry() | Failed()) as outcome:
                    return outcome, None
        except LimitReached:
            return OVER_LIMIT, None
        except SluiceError as error:
            return Retry(f"storing: {error}"), None

    async def _store_copy(
        self, page: Page, config: ZoneConfig, response: FetchResponse, seq: int
    ) -> tuple[Outcome, Copy | None]:
        if reason := unshareable_reason(response.status, response.headers, page.url, config):
            await self.copies.remove([page])
            return Skipped(reason), None
        content = Content(response.body, len(response.body))
        now, status, headers = self.clock.now(), response.status, response.headers
        copy = build_copy(page, status, headers, content, config=config, now=now, seq=seq)
        match await self.copies.store(copy, config):
            case StoreResult.STORED:
                return Stored(), copy
            case StoreResult.EDGE_ONLY:
                return EdgeOnly(), None
            case StoreResult.PURGED:
                return PURGED_MEANWHILE, None


def _health_without_response(outcome: NoResponse, attempt: int) -> OriginHealth:
    """Return what a missing response says of the origin's health: nothing if the page is too large, or was not asked for."""
    match outcome:
        case TimedOutPage(was_preempted=True):
            return OriginHealth.UNKNOWN
        case Retry(is_lost=True) if not attempt:
            return OriginHealth.UNKNOWN
        case Retry() | TimedOutPage():
            return OriginHealth.TROUBLE
        case Skipped() | Failed() | FetchAgain():
            return OriginHealth.NEUTRAL
        case _:
            assert_never(outcome)
