"""Purging: what was purged is looked up in the index, taken away everywhere, and warmed again."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sluice.core.ports import Clock, Database, Sql
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.serving.copies import Copies

SITE_TAG: Final = "site"  # purging this tag is purging everything
CHUNK: Final = 200
MS_PER_PAGE: Final = 5  # measured nowhere: a guess for estimated_completion_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Purge:
    """One accepted purge, of canonical URLs."""

    purge_id: str
    idempotency_key: str
    nonce: str
    tags: tuple[str, ...]
    urls: tuple[str, ...]
    everything: bool
    created_at: float


@dataclass(frozen=True, slots=True)
class Purging:
    zone_id: str
    sql: Sql
    clock: Clock
    database: Database
    copies: Copies

    def accept(self, purge: Purge) -> None:
        """Write the purge down; from now on it happens, whatever dies."""
        self.sql.execute(
            "INSERT OR IGNORE INTO purge VALUES (?, ?, ?)", purge.purge_id, json.dumps(asdict(purge)), purge.created_at
        )

    async def run(self) -> list[tuple[str, list[str]]]:
        """Carry out what was accepted; returns each purge's id with the pages to be warmed again."""
        finished = []
        for row in self.sql.rows("SELECT id, body FROM purge ORDER BY created_at, id"):
            given = json.loads(str(row["body"]))
            purge = Purge(**{**given, "tags": tuple(given["tags"]), "urls": tuple(given["urls"])})
            finished.append((purge.purge_id, await self._carry_out(purge)))
        return finished

    def done(self, purge_id: str) -> None:
        self.sql.execute("DELETE FROM purge WHERE id = ?", purge_id)

    async def _carry_out(self, purge: Purge) -> list[str]:
        # Logged first: a page being stored right now looks here afterwards.
        await self._log(purge)
        removed: dict[str, None] = dict.fromkeys(purge.urls)
        pages = await self._next_pages(purge)
        while pages:
            self._forget(pages)
            await self.copies.remove(pages)
            removed.update(dict.fromkeys(page.url for page in pages))
            pages = await self._next_pages(purge)
        await self._forget_unindexed(purge)
        await self.database.run(
            "UPDATE purge_log SET pages_purged = ? WHERE purge_id = ?", len(removed), purge.purge_id
        )
        return list(removed)

    async def _next_pages(self, purge: Purge) -> list[Page]:
        """Pages that are still in the index: each round removes what it got."""
        index = self.copies.pages
        if purge.everything:
            return await index.some(CHUNK, stored_before=purge.created_at)
        tagged = await index.tagged(purge.tags, CHUNK) if purge.tags else []
        return tagged or (await index.forms_of(purge.urls) if purge.urls else [])

    def _forget(self, pages: Sequence[Page]) -> None:
        KnownPages(self.sql).forget(pages)
        Queue(self.sql).fetch_again([page.url for page in pages])

    async def _forget_unindexed(self, purge: Purge) -> None:
        """A page may be on its way into the index: its address is known here in any case."""
        if purge.everything:
            KnownPages(self.sql).forget_all()
        named = [Page(url, "") for url in purge.urls]
        if named:
            self._forget(named)
            await self.copies.remove(named)

    async def _log(self, purge: Purge) -> None:
        await self.database.run(
            """INSERT OR IGNORE INTO purge_log (purge_id, zone_id, idempotency_key, nonce, tags, urls, everything,
                 created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)""",
            *(purge.purge_id, self.zone_id, purge.idempotency_key, purge.nonce),
            *(json.dumps(purge.tags), json.dumps(purge.urls), int(purge.everything), purge.created_at),
        )
