"""Purging: the copies that a purge covers are found in the index, removed everywhere, and warmed again."""

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Database, Sql
from sluice.core.preload.purges import Purge
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.queue.leases import Leases
from sluice.services.preload.serving.copies import CopyStore

CHUNK: Final = 200
MS_PER_PAGE: Final = 5  # for estimated_completion_ms: a guess, unmeasured


@dataclass(frozen=True, slots=True)
class Purger:
    zone_id: str
    sql: Sql
    database: Database
    copies: CopyStore
    known_pages: KnownPages
    leases: Leases

    def accept(self, purge: Purge) -> None:
        """Stores the purge; from now on it is carried out, whatever crashes."""
        body = json.dumps(purge.as_json())
        self.sql.run("INSERT OR IGNORE INTO purge VALUES (?, ?, ?)", purge.purge_id, body, purge.created_at)

    def estimate_ms(self, purge: Purge) -> int:
        """A guess of how long the purge takes."""
        pages = self.known_pages.count if purge.everything else len(purge.urls)
        return (pages + 10 * len(purge.tags) + 10) * MS_PER_PAGE

    async def carry_out_all(self) -> AsyncIterator[tuple[str, list[str]]]:
        """Carries out the accepted purges; yields each one's id with the URLs to be warmed again."""
        for row in self.sql.rows("SELECT body FROM purge ORDER BY created_at, id"):
            purge = Purge.from_json(json.loads(str(row["body"])))
            yield purge.purge_id, await self._carry_out(purge)

    def forget(self, purge_id: str) -> None:
        """Deletes a purge that is complete."""
        self.sql.run("DELETE FROM purge WHERE id = ?", purge_id)

    async def _carry_out(self, purge: Purge) -> list[str]:
        # Logged first: a page that is being stored right now is checked against the log afterwards.
        await self._log(purge)
        removed: dict[str, None] = dict.fromkeys(purge.urls)
        while pages := await self._find_copies(purge):
            self._forget_pages(pages)
            await self.copies.remove(pages)
            removed.update(dict.fromkeys(page.url for page in pages))
        await self._remove_unindexed(purge)
        await self.database.run(
            "UPDATE purge_log SET pages_purged = ? WHERE purge_id = ?", len(removed), purge.purge_id
        )
        return list(removed)

    async def _find_copies(self, purge: Purge) -> list[Page]:
        """Some of the pages that are still in the index; each round removes what it found."""
        index = self.copies.pages
        if purge.everything:
            return await index.list_any(CHUNK, stored_before=purge.created_at)
        tagged = await index.list_tagged(purge.tags, CHUNK) if purge.tags else []
        return tagged or (await index.list_variants(purge.urls) if purge.urls else [])

    def _forget_pages(self, pages: Sequence[Page]) -> None:
        self.known_pages.forget(pages)
        self.leases.mark_wanted_again([page.url for page in pages])

    async def _remove_unindexed(self, purge: Purge) -> None:
        """Removes pages that are not in the index yet because they are being stored right now."""
        if purge.everything:
            self.known_pages.forget_all()
        if purge.urls:
            pages = [Page(url, "") for url in purge.urls]
            self._forget_pages(pages)
            await self.copies.remove(pages)

    async def _log(self, purge: Purge) -> None:
        await self.database.run(
            """INSERT OR IGNORE INTO purge_log (purge_id, zone_id, idempotency_key, nonce, tags, urls, everything,
                 created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            *(purge.purge_id, self.zone_id, purge.idempotency_key, purge.nonce),
            *(json.dumps(purge.tags), json.dumps(purge.urls), int(purge.everything), purge.created_at),
        )
