"""Refreshes the snapshot, and removes the copies of the older one from the cache in front of the API."""

from dataclasses import dataclass

from sluice.core.errors import SluiceError
from sluice.core.ports import Log, PublicCache
from sluice.services.news.serve.stored_snapshot import CACHE_TAGS, SnapshotMemory
from sluice.services.news.state.remote_state import RemoteNewsState


@dataclass(frozen=True, slots=True)
class SnapshotRefresh:
    state: RemoteNewsState
    cache: PublicCache
    log: Log
    memory: SnapshotMemory

    async def run(self) -> bool:
        """Return whether the snapshot has changed. Copies that cannot be purged expire by themselves."""
        if not await self.state.refresh():
            return False
        self.memory.forget_first_page()
        try:
            await self.cache.purge(CACHE_TAGS)
        except SluiceError as error:
            self.log.error("purge.failed", error)
        return True
