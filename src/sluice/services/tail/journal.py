"""Stores events for a while and returns the newest first."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Kv
from sluice.services.tail.tail_events import Record, TailEvent

PREFIX: Final = "log:"
# KV lists keys in ascending order; counting down from this time puts the newest first. It lasts until the year 2286.
LAST_MS: Final = 9_999_999_999_999


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The failures of all Workers, and with `stores_successes` also what the others logged."""

    kv: Kv
    retention_s: int
    stores_successes: bool = False

    async def store_events(self, events: Iterable[TailEvent], *, now_ms: int, unique: str) -> list[Record]:
        """Write a batch as one value, because KV charges for writes. Return the stored records."""
        records = [event.as_json() for event in events if self._is_stored(event)]
        if records:
            key = f"{PREFIX}{LAST_MS - now_ms:013d}:{unique}"
            await self.kv.put_json(key, records, ttl_s=self.retention_s)
        return records

    def _is_stored(self, event: TailEvent) -> bool:
        return event.is_failure or (self.stores_successes and not event.is_silent)

    async def newest_records(self, limit: int) -> list[Record]:
        listing = await self.kv.list(PREFIX, limit=limit)
        keys = [key.name for key in listing.keys]
        batches = await self.kv.get_many(keys)
        records: list[Record] = [record for key in keys for record in reversed(json.loads(batches[key] or "[]"))]
        return records[:limit]
