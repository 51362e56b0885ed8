"""Many compilations as one piece of work, of which what is done stays done."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.parallel import run_in_parallel
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Database
from sluice.services.compiler.cache.results import Compiled

MAX_CONCURRENT: Final = 3
MAX_ERROR_CHARS: Final = 500
RETENTION_S: Final = 7 * 24 * 3600

# A failure never takes the place of a success: of two runs at once, the one that got it done is right.
_RECORD: Final = """
insert into compile_items (owner, item_id, success, cache_key, rule_count, duration_ms, cached, error, recorded_ms)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (owner, item_id) do update set
    success = excluded.success, cache_key = excluded.cache_key, rule_count = excluded.rule_count,
    duration_ms = excluded.duration_ms, cached = excluded.cached, error = excluded.error,
    recorded_ms = excluded.recorded_ms
where compile_items.success = 0
"""


# Outcomes as they are told, by the ids of their items.
Outcomes = dict[str, dict[str, Any]]


class CompileOne(Protocol):
    """Compiles a configuration and keeps the result; what is kept already may be used, except on the path "warming"."""

    async def __call__(
        self, configuration: Configuration, *, content: Mapping[str, str], ttl_s: int, path: str
    ) -> Compiled: ...


@dataclass(frozen=True, slots=True)
class Item:
    """One list to compile; the id is its own among all of its owner."""

    id: str
    configuration: Configuration
    content: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemOutcome:
    """How it went: a cache key and a count, or an error."""

    id: str
    success: bool
    duration_ms: int
    cache_key: str | None = None
    rule_count: int | None = None
    cached: bool = False
    error: str | None = None

    @classmethod
    def refused(cls, item_id: str, error: str) -> "ItemOutcome":
        """Of an item that never ran."""
        return cls(id=item_id, success=False, duration_ms=0, error=error[:MAX_ERROR_CHARS])

    def as_json(self) -> dict[str, Any]:
        told: dict[str, Any] = {"id": self.id, "success": self.success, "durationMs": self.duration_ms}
        if not self.success:
            return told | {"error": self.error}
        return told | {"ruleCount": self.rule_count, "cacheKey": self.cache_key, "cached": self.cached}


@dataclass(frozen=True, slots=True, kw_only=True)
class Items:
    """`compile` does one; each outcome is in the database before the next item begins."""

    database: Database
    compile: CompileOne
    clock: Clock

    async def run(self, owner: str, items: Sequence[Item], *, ttl_s: int, path: str) -> list[ItemOutcome]:
        """All outcomes in the order of the items; those done before are not done again, those that failed are.

        Only a SluiceError is the failure of an item; anything else ends the run and leaves what is recorded.
        """
        known = await self.outcomes(owner)
        slots = asyncio.Semaphore(MAX_CONCURRENT)

        async def settled(item: Item) -> ItemOutcome:
            done = known.get(item.id)
            if done and done.success:
                return done
            async with slots:
                outcome = await self._compiled(item, ttl_s, path)
                await self._record(owner, outcome)
                return outcome

        return await run_in_parallel(settled(item) for item in items)

    async def outcomes(self, owner: str) -> dict[str, ItemOutcome]:
        """What is known of the owner's items, by their ids."""
        rows = await self.database.all("select * from compile_items where owner = ?", owner)
        return {row["item_id"]: _outcome(row) for row in rows}

    async def reject(self, owner: str, item_id: str, error: str) -> None:
        """Record an item that cannot be run at all."""
        await self._record(owner, ItemOutcome.refused(item_id, error))

    async def tidy(self) -> None:
        """Forget what was recorded a week ago."""
        before_ms = self._now_ms() - RETENTION_S * 1000
        await self.database.run("delete from compile_items where recorded_ms < ?", before_ms)

    async def _compiled(self, item: Item, ttl_s: int, path: str) -> ItemOutcome:
        began_ms = self._now_ms()
        try:
            compiled = await self.compile(item.configuration, content=item.content, ttl_s=ttl_s, path=path)
        except SluiceError as error:
            took_ms = self._now_ms() - began_ms
            return ItemOutcome(id=item.id, success=False, duration_ms=took_ms, error=str(error)[:MAX_ERROR_CHARS])
        return ItemOutcome(
            id=item.id,
            success=True,
            duration_ms=self._now_ms() - began_ms,
            cache_key=compiled.cache_key,
            rule_count=compiled.rule_count,
            cached=compiled.cached,
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
            self._now_ms(),
        )

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def outcome_of(item_id: str, known: Outcomes, lost: Mapping[str, str]) -> dict[str, Any]:
    """What is told of an item; without an outcome it went down with one of the steps that were lost."""
    reason = "; ".join(f"{step}: {error}" for step, error in lost.items()) or "not compiled"
    return known.get(item_id) or ItemOutcome.refused(item_id, reason).as_json()


def _outcome(row: Mapping[str, Any]) -> ItemOutcome:
    return ItemOutcome(
        id=row["item_id"],
        success=bool(row["success"]),
        duration_ms=row["duration_ms"],
        cache_key=row["cache_key"],
        rule_count=row["rule_count"],
        cached=bool(row["cached"]),
        error=row["error"],
    )
