"""Keeps events for a while, newest first."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sluice.services.tail.events import Event, as_json

PREFIX: Final = "log:"
# KV lists keys in ascending order; counting down from here puts the newest first. Good until the year 2286.
LAST_MS: Final = 9_999_999_999_999


class Store(Protocol):
    """Where batches of records are kept, in the order of their keys."""

    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None) -> None: ...
    async def names(self, prefix: str, *, limit: int) -> list[str]: ...
    async def get_many(self, keys: Iterable[str]) -> dict[str, str | None]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Journal:
    """The events of all Workers."""

    store: Store
    retention_s: int

    async def keep(self, events: Iterable[Event], *, now_ms: int, unique: str) -> list[dict[str, Any]]:
        """Write one batch as one value, because writes are what KV charges for; returns what was written."""
        records = [as_json(event) for event in events if not event.silent]
        if records:
            key = f"{PREFIX}{LAST_MS - now_ms:013d}:{unique}"
            await self.store.put_json(key, records, ttl_s=self.retention_s)
        return records

    async def latest(self, limit: int) -> list[dict[str, Any]]:
        """The newest records first, at most `limit`."""
        keys = await self.store.names(PREFIX, limit=limit)
        batches = await self.store.get_many(keys)
        records = [record for key in keys for record in reversed(json.loads(batches[key] or "[]"))]
        return records[:limit]
