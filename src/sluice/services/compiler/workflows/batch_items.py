"""The items of a batch: each outcome is stored as soon as it is known, so that a repeated run compiles only the rest."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NotRequired, Protocol, TypedDict

from sluice.core.compiler.stage_metrics import Amount, Duration
from sluice.core.errors import SluiceError
from sluice.core.parallel import run_in_parallel
from sluice.core.ports import Clock, Database, DatabaseRow
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import ListSummary
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.limits.spent_fetches import SpentFetches

MAX_CONCURRENT: Final = 3
MAX_ERROR_CHARS: Final = 500
RETENTION_S: Final = 7 * 24 * 3600

# A failure never replaces a success: if two runs overlap, the successful one counts.
_RECORD: Final = """
insert into compile_items
    (owner, item_id, success, cache_key, rule_count, duration_ms, cached, error, permanent, recorded_ms)
values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (owner, item_id) do update set
    success = excluded.success, cache_key = excluded.cache_key, rule_count = excluded.rule_count,
    duration_ms = excluded.duration_ms, cached = excluded.cached, error = excluded.error,
    permanent = excluded.permanent, recorded_ms = excluded.recorded_ms
where compile_items.success = 0
"""


class JobItem(TypedDict):
    """One list of a batch: its cache key and count, or its error."""

    id: str
    success: bool
    durationMs: Duration
    ruleCount: NotRequired[Amount]
    cacheKey: NotRequired[str]
    cached: NotRequired[bool]
    error: NotRequired[str]


# Outcomes as JSON values, by the ids of their items.
Outcomes = dict[str, JobItem]


# Makes sure that the list of an order is in the cache; whether a cached list is enough is up to the implementation.
CompileOne = Callable[[CompileOrder], Awaitable[ListSummary]]


class ItemObserver(Protocol):
    """Follows the items of a run, by their places."""

    def begin(self, place: int) -> None: ...
    def end(self, place: int, *, success: bool) -> None: ...


class _NoWatch:
    def begin(self, place: int) -> None: ...
    def end(self, place: int, *, success: bool) -> None: ...


NOBODY: Final = _NoWatch()


@dataclass(frozen=True, slots=True)
class Item:
    """One list to compile; the id is unique among the items of its owner."""

    id: str
    order: CompileOrder


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """The outcome of an item: a cache key and a count, or an error; a permanent one is not retried."""

    id: str
    success: bool
    duration_ms: int
    cache_key: str | None = None
    rule_count: int | None = None
    cached: bool = False
    error: str | None = None
    permanent: bool = False

    @classmethod
    def rejection(cls, item_id: str, error: str) -> "ItemOutcome":
        """Return the outcome of an item that never ran."""
        return cls(id=item_id, success=False, duration_ms=0, error=error[:MAX_ERROR_CHARS], permanent=True)

    def as_json(self) -> JobItem:
        values: JobItem = {"id": self.id, "success": self.success, "durationMs": self.duration_ms}
        if not self.success:
            return {**values, "error": self.error or ""}
        return {**values, "ruleCount": self.rule_count or 0, "cacheKey": self.cache_key or "", "cached": self.cached}


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemRunner:
    """Runs items; each outcome is in the database before the next item starts."""

    database: Database
    spent: SpentFetches
    compile: CompileOne
    clock: Clock

    async def run(self, owner: str, items: Sequence[Item], *, watch: ItemObserver = NOBODY) -> list[ItemOutcome]:
        """Return all outcomes in the order of the items. Items that are done or hopeless are not compiled again.

        Only a SluiceError counts as the failure of an item; any other exception ends the run.
        """
        known = await self.load_outcomes(owner)
        spent = await self.spent.load(owner) if known else {}
        slots = asyncio.Semaphore(MAX_CONCURRENT)

        async def run_item(place: int, item: Item) -> ItemOutcome:
            earlier = known.get(item.id)
            if earlier and (earlier.success or earlier.permanent):
                return earlier
            async with slots:
                watch.begin(place)
                allowance = FetchAllowance(item.order.allowance.limit, spent.get(item.id, 0))
                outcome = await self._compile(item.id, replace(item.order, allowance=allowance))
                if not outcome.success and not outcome.permanent:
                    await self.spent.add(owner, item.id, allowance.used - spent.get(item.id, 0))
                await self._record(owner, outcome)
                watch.end(place, success=outcome.success)
                return outcome

        return await run_in_parallel(run_item(place, item) for place, item in enumerate(items))

    async def load_outcomes(self, owner: str) -> dict[str, ItemOutcome]:
        """Return the stored outcomes of the owner's items, by their ids."""
        rows = await self.database.all("select * from compile_items where owner = ?", owner)
        return {row["item_id"]: _outcome_from_row(row) for row in rows}

    async def record_rejection(self, owner: str, item_id: str, error: str) -> None:
        """Store the outcome of an item that cannot run."""
        await self._record(owner, ItemOutcome.rejection(item_id, error))

    async def delete_expired(self) -> None:
        """Delete outcomes that are a week old."""
        before_ms = self._now_ms() - RETENTION_S * 1000
        await self.database.run("delete from compile_items where recorded_ms < ?", before_ms)

    async def _compile(self, item_id: str, order: CompileOrder) -> ItemOutcome:
        began_ms = self._now_ms()
        try:
            summary = await self.compile(order)
        except SluiceError as error:
            took_ms = max(self._now_ms() - began_ms, 0)
            return ItemOutcome(
                id=item_id,
                success=False,
                duration_ms=took_ms,
                error=str(error)[:MAX_ERROR_CHARS],
                permanent=not error.retryable,
            )
        return ItemOutcome(
            id=item_id,
            success=True,
            duration_ms=max(self._now_ms() - began_ms, 0),
            cache_key=summary.cache_key,
            rule_count=summary.rule_count,
            cached=summary.cached,
        )

    async def _record(self, owner: str, outcome: ItemOutcome) -> None:
        await self.database.run(
            _RECORD,
            owner,
            outcome.id,
            int(outcome.success),
            outcome.cache_key,
            outcome.rule_count,
            outcome.duration_ms,
            int(outcome.cached),
            outcome.error,
            int(outcome.permanent),
            self._now_ms(),
        )

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def find_outcome(item_id: str, known: Outcomes, failed_steps: Mapping[str, str]) -> JobItem:
    """Return the outcome of an item; an item without one belonged to one of the failed steps."""
    reason = "; ".join(f"{step}: {error}" for step, error in failed_steps.items()) or "not compiled"
    return known.get(item_id) or ItemOutcome.rejection(item_id, reason).as_json()


def _outcome_from_row(row: DatabaseRow) -> ItemOutcome:
    return ItemOutcome(
        id=row["item_id"],
        success=bool(row["success"]),
        duration_ms=row["duration_ms"],
        cache_key=row["cache_key"],
        rule_count=row["rule_count"],
        cached=bool(row["cached"]),
        error=row["error"],
        permanent=bool(row["permanent"]),
    )
