"""Copies as visitors may get them: what a purge covers is not there, and after a soft purge only while the origin fails."""

from dataclasses import dataclass, replace

from sluice.core.preload.purge_list import Verdict
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.purge_lists.reader import PurgeReader
from sluice.services.preload.serving.copies import Copy
from sluice.services.preload.serving.copy_store import CopyStore


@dataclass(frozen=True, slots=True)
class CheckedCopies(CopyStore):
    reader: PurgeReader

    async def load_from_edge(self, page: Page) -> Copy | None:
        # Read first: a request to the origin that follows must know its number.
        await self.reader.read()
        return await self._check(await CopyStore.load_from_edge(self, page))

    async def load_from_bucket(self, page: Page) -> Copy | None:
        return await self._check(await CopyStore.load_from_bucket(self, page))

    async def is_valid(self, copy: Copy) -> bool:
        """Whether a copy that is not stored yet is still right."""
        return await self._check(copy) is not None

    async def _check(self, copy: Copy | None) -> Copy | None:
        if copy is None or (known := await self.reader.read()) is None:
            return None
        match known.purges.judge(copy.page.url, copy.tags, copy.seq):
            case Verdict.VALID:
                return copy if known.is_checked else replace(copy, is_unchecked=True)
            case Verdict.SOFT:
                return replace(copy, freshness=replace(copy.freshness, lifetime_s=0, while_revalidate_s=0))
            case Verdict.PURGED:
                return None
