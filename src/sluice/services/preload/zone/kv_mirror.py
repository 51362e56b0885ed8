"""The mirror of the queue and of the dead letters in KV, for those who read KV only."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_json
from sluice.core.ports import Clock, Kv, Log
from sluice.services.preload.queue.dead_letters import DeadLetter, DeadLetterQueue
from sluice.services.preload.queue.queue import Queue, QueueCounters, QueuedPage, entry_as_json
from sluice.services.preload.zone.state import ZoneState

MAX_MIRRORED: Final = 1000
INTERVAL_S: Final = 10.0
WRITES_IN_A_ROW: Final = 5  # a second apart, before other work may go on


@dataclass(slots=True)
class KvMirror:
    zone_id: str
    state: ZoneState
    queue: Queue
    dead_letters: DeadLetterQueue
    kv: Kv
    clock: Clock
    log: Log
    _is_writing: bool = field(default=False)

    async def write(self) -> None:
        """Write what has changed."""
        await self._write_until_current(self.queue.load_tallies())

    async def write_if_due(self, tallies: QueueCounters) -> None:
        """Write what has changed, if the last write is a few seconds ago: KV charges for each."""
        is_old = self.clock.now() - self.state.get("mirrored_at", default=0) >= INTERVAL_S
        if is_old or not tallies.depth:
            await self._write_until_current(tallies)

    async def _write_until_current(self, tallies: QueueCounters) -> None:
        """Write until nothing has changed: one writer at a time, and what changes meanwhile is written again."""
        if self._is_writing:
            return
        self._is_writing = True
        try:
            for _ in range(WRITES_IN_A_ROW):
                if not await self._write_changes(tallies):
                    break
                tallies = self.queue.load_tallies()
        finally:
            self._is_writing = False

    async def _write_changes(self, tallies: QueueCounters) -> bool:
        """Return False when nothing has changed since the last write."""
        config = self.state.config
        if config is None:
            return False
        is_wanted = config.preload_queue_backend == "kv"
        changes, dead_changes = [tallies.changes, is_wanted], [tallies.dead_changes, is_wanted]
        before = self.state.get("mirrored"), self.state.get("mirrored_dead")
        if changes != before[0]:
            await self._write_queue(tallies.depth, is_wanted=is_wanted)
            self.state.put(mirrored=changes, mirrored_at=self.clock.now())
        if dead_changes != before[1]:
            await self._write_dead_letters(is_wanted=is_wanted)
            self.state.put(mirrored_dead=dead_changes, mirrored_at=self.clock.now())
        return before != (changes, dead_changes)

    async def _write_queue(self, depth: int, *, is_wanted: bool) -> None:
        key = f"preload-queue:{self.zone_id}"
        if depth and (not is_wanted or depth > MAX_MIRRORED):
            await self._replace(key, None)
        else:
            entries = self.queue.list_in_order(MAX_MIRRORED) if depth else []
            await self._replace(key, [entry_as_json(entry) for entry in entries])

    async def _write_dead_letters(self, *, is_wanted: bool) -> None:
        key, count = f"preload-dlq:{self.zone_id}", self.dead_letters.count
        if count and (not is_wanted or count > MAX_MIRRORED):
            await self._replace(key, None)
        else:
            await self._replace(key, self.dead_letters.list_oldest(MAX_MIRRORED) if count else [])

    async def _replace(self, key: str, entries: Sequence[QueuedPage | DeadLetter] | None) -> None:
        """Write a mirror; None deletes it, because half a mirror would mislead."""
        try:
            if entries is None:
                await self.kv.delete(key)
            else:
                await self.kv.put_text(key, encode_json(entries))
        except SluiceError as error:
            self.log.event("mirror.failed", key_name=key, reason=str(error))
