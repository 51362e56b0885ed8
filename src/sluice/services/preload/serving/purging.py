"""Purging: the copies that a purge covers are found in the index, warmed again, and removed, a few in each round."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import NotFound
from sluice.core.ports import Database, Sql
from sluice.core.preload.purges import Purge
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.purge_lists.marks import PurgeMarks
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.serving.copy_store import CopyStore

CALLS: Final = 40  # to the platform in one round: the free plan allows an invocation 50
PAGES: Final = CALLS - 6  # of one round, each removed from the edge by a call: six more find, log and remove them all
KEPT_S: Final = 7 * 86_400  # how long the progress of a purge is known


@dataclass(frozen=True, slots=True)
class PurgeRound:
    """The copies that one round removes. `urls` were named by the purge, and are warmed whether they were stored or not."""

    urls: Sequence[str]
    indexed: Sequence[Page]

    @property
    def pages(self) -> list[Page]:
        """All copies, also those that are not in the index yet because they are being stored right now."""
        return list(dict.fromkeys([*self.indexed, *(Page(url, "") for url in self.urls)]))

    @property
    def is_last(self) -> bool:
        return not self.urls and not self.indexed


@dataclass(slots=True)
class Purger:
    zone_id: str
    sql: Sql
    database: Database
    copies: CopyStore
    known_pages: KnownPages
    queue: Queue
    marks: PurgeMarks
    # Whether a purge was accepted that is not complete; a new object looks into its table first.
    is_waiting: bool = False

    def accept(self, purge: Purge) -> None:
        """Stores the purge; from now on it is carried out, whatever crashes."""
        purge_id, at = purge.purge_id, purge.created_at
        self.sql.run("INSERT OR IGNORE INTO purge VALUES (?, ?, ?)", purge_id, json.dumps(purge.as_json()), at)
        self.sql.run("INSERT OR IGNORE INTO purge_progress (id, created_at) VALUES (?, ?)", purge_id, at)
        self.sql.run(
            "INSERT OR IGNORE INTO purge_url SELECT ?, value FROM json_each(?)", purge_id, json.dumps(purge.urls)
        )
        self.marks.add(purge)
        if purge.everything:
            self.known_pages.forget_all()
        self.is_waiting = True

    def load_next(self) -> Purge | None:
        """The oldest purge that is not complete."""
        rows = self.sql.rows("SELECT body FROM purge ORDER BY created_at, id LIMIT 1")
        return Purge.from_json(json.loads(str(rows[0]["body"]))) if rows else None

    async def find(self, purge: Purge) -> PurgeRound:
        """Some of the copies that the purge still has to remove."""
        # Logged first: a page that is being stored right now is checked against the log afterwards.
        await self._log(purge)
        if urls := self._load_urls(purge):
            return _limit(urls, await self.copies.pages.list_variants(urls))
        return PurgeRound((), await self._find_indexed(purge))

    async def remove(self, purge: Purge, found: PurgeRound, now: float) -> None:
        """Removes the copies of a round, then stores the progress."""
        if found.is_last:
            await self._finish(purge, now)
            return
        self.known_pages.forget(found.pages)
        self.queue.mark_wanted_again([page.url for page in found.pages])
        if purge.soft:
            await self.copies.pages.touch(found.indexed, now)
        else:
            await self.copies.remove(found.pages)
        self.sql.run(
            "UPDATE purge_progress SET pages_removed = pages_removed + ? WHERE id = ?",
            *(len(found.indexed), purge.purge_id),
        )
        self.sql.run(
            "DELETE FROM purge_url WHERE purge_id = ? AND url IN (SELECT value FROM json_each(?))",
            *(purge.purge_id, json.dumps(list(found.urls))),
        )

    def describe(self, purge_id: str) -> dict[str, Any]:
        """What has become of a purge; raises NotFound for an unknown one."""
        rows = self.sql.rows("SELECT * FROM purge_progress WHERE id = ?", purge_id)
        if not rows:
            raise NotFound(f"there is no purge {purge_id} in this zone; purges are kept for 7 days")
        [row] = rows
        return {
            "purge_id": purge_id,
            "state": "removing" if row["finished_at"] is None else "done",
            "pages_removed": row["pages_removed"],
            "created_at": row["created_at"],
            "finished_at": row["finished_at"],
        }

    def forget_old(self, now: float) -> None:
        self.sql.run("DELETE FROM purge_progress WHERE finished_at < ?", now - KEPT_S)
        self.marks.forget_old(now)

    def _load_urls(self, purge: Purge) -> list[str]:
        rows = self.sql.rows("SELECT url FROM purge_url WHERE purge_id = ? LIMIT ?", purge.purge_id, PAGES)
        return [str(row["url"]) for row in rows]

    async def _find_indexed(self, purge: Purge) -> list[Page]:
        index, at = self.copies.pages, purge.created_at
        if purge.everything:
            return await index.list_any(PAGES, stored_before=at)
        tagged = await index.list_tagged(purge.tags, PAGES, stored_before=at) if purge.tags else []
        if tagged or not purge.prefixes:
            return tagged
        return await index.list_prefixed(purge.prefixes, PAGES, stored_before=at)

    async def _finish(self, purge: Purge, now: float) -> None:
        """Takes a purge that is complete off the list of work; its progress is kept for a while."""
        removed = self.describe(purge.purge_id)["pages_removed"]
        await self.database.run("UPDATE purge_log SET pages_purged = ? WHERE purge_id = ?", removed, purge.purge_id)
        self.sql.run("UPDATE purge_progress SET finished_at = ? WHERE id = ?", now, purge.purge_id)
        self.sql.run("DELETE FROM purge WHERE id = ?", purge.purge_id)
        self.is_waiting = self.load_next() is not None

    async def _log(self, purge: Purge) -> None:
        await self.database.run(
            """INSERT OR IGNORE INTO purge_log (purge_id, zone_id, idempotency_key, nonce, tags, urls, everything,
                 prefixes, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            *(purge.purge_id, self.zone_id, purge.idempotency_key, purge.nonce, json.dumps(purge.tags)),
            *(json.dumps(purge.urls), int(purge.everything), json.dumps(purge.prefixes), purge.created_at),
        )


def _limit(urls: Sequence[str], indexed: Sequence[Page]) -> PurgeRound:
    """The first URLs whose variants fit into one round; at least one URL, however many variants it has."""
    taken: list[str] = []
    count = 0
    for url in urls:
        count += max(1, sum(page.url == url for page in indexed))
        if taken and count > PAGES:
            break
        taken.append(url)
    return PurgeRound(taken, [page for page in indexed if page.url in set(taken)])
