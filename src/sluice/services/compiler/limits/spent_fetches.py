"""The fetches that failed attempts have made: all attempts of one request share its allowance."""

from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Clock, Database

RETENTION_S: Final = 7 * 24 * 3600
_ADD: Final = """
insert into spent_fetches (owner, item_id, fetches, at_ms) values (?, ?, ?, ?)
on conflict do update set fetches = fetches + excluded.fetches, at_ms = excluded.at_ms
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpentFetches:
    """Counts fetches by the id of a job or a workflow, and that of an item of a batch, which is "" for a single list."""

    database: Database
    clock: Clock

    async def load(self, owner: str) -> dict[str, int]:
        """Return what was spent for each item."""
        rows = await self.database.all("select item_id, fetches from spent_fetches where owner = ?", owner)
        return {row["item_id"]: row["fetches"] for row in rows}

    async def add(self, owner: str, item_id: str, fetches: int) -> None:
        """Add what a failed attempt has spent."""
        if fetches:
            await self.database.run(_ADD, owner, item_id, fetches, self._now_ms())

    async def delete_expired(self) -> None:
        """Delete counts that are a week old: no job is retried for that long."""
        await self.database.run("delete from spent_fetches where at_ms < ?", self._now_ms() - RETENTION_S * 1000)

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)
