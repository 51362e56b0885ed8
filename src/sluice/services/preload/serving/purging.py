"""Purging: the copies that a purge covers are found in the index, warmed again, and removed, a few in each round.

The purge holds before: from its number on, old copies are not valid (`core/preload/purge_list.py`). Removing them
follows in the alarm, at most 40 calls a ring. They are found by their numbers, so no newer copy is removed. A copy that
is stored while its purge comes is checked against the log, and stays indexed. One whose isolate dies before that, after
the row was removed, is in no index: so the objects of removed pages are deleted once more before the purge is forgotten.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import NotFound
from sluice.core.ports import Sql
from sluice.core.preload.members import EpochS
from sluice.core.preload.purges import Purge
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.purge_lists.log import PurgeLog
from sluice.services.preload.purge_lists.marks import KEPT_S, PurgeMarks
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.serving.copy_store import CopyStore

CALLS: Final = 40  # to the platform in one round: the free plan allows an invocation 50
PAGES: Final = CALLS - 6  # of one round, each removed from the edge by a call: six more find, log and remove them all
MARKS: Final = 200  # old purges looked at by one run
REMOVED: Final = 400  # removed pages looked at by one run: R2 deletes 1,000 objects by one call
PROGRESS_KEPT_S: Final = 7 * 86_400


class PurgeProgress(TypedDict):
    purge_id: str
    state: Annotated[Literal["removing", "done"], Doc("No data centre serves an old copy in either state.")]
    pages_removed: Annotated[int, Doc("Pages whose old copy is gone; each variant counts.", minimum=0)]
    created_at: EpochS
    finished_at: EpochS | None


@dataclass(frozen=True, slots=True)
class PurgeRound:
    """The copies that one round removes. `urls` were named by the purge, and are warmed whether they were stored or not."""

    urls: Sequence[str]
    indexed: Sequence[Page]

    @property
    def pages(self) -> list[Page]:
        """The copies, and the pages that are named; a copy that is being stored right now checks the log itself."""
        return list(dict.fromkeys([*self.indexed, *(Page(url, "") for url in self.urls)]))

    @property
    def is_last(self) -> bool:
        return not self.urls and not self.indexed


@dataclass(slots=True)
class Purger:
    zone_id: str
    sql: Sql
    log: PurgeLog
    copies: CopyStore
    known_pages: KnownPages
    queue: Queue
    marks: PurgeMarks
    # Whether a purge was accepted that is not complete; a new object looks into its table first.
    is_waiting: bool = False

    def accept(self, purge: Purge) -> None:
        """Store the purge; from now on it is carried out, whatever crashes."""
        purge_id, at = purge.purge_id, purge.created_at
        purge = replace(purge, seq=self.marks.add(purge))
        self.sql.run("INSERT OR IGNORE INTO purge VALUES (?, ?, ?)", purge_id, json.dumps(purge.as_json()), at)
        self.sql.run("INSERT OR IGNORE INTO purge_progress (id, created_at) VALUES (?, ?)", purge_id, at)
        self.sql.run(
            "INSERT OR IGNORE INTO purge_url SELECT ?, value FROM json_each(?)", purge_id, json.dumps(purge.urls)
        )
        if purge.everything:
            self.known_pages.forget_all()
        self.is_waiting = True

    def load_next(self) -> Purge | None:
        """Return the oldest purge that is not complete."""
        rows = self.sql.rows("SELECT body FROM purge ORDER BY body ->> '$.seq', created_at, id LIMIT 1")
        purge = Purge.from_json(json.loads(str(rows[0]["body"]))) if rows else None
        # One that an earlier version accepted has no number of its own.
        return purge if purge is None or purge.seq else replace(purge, seq=self.marks.latest())

    def is_accepted(self, purge: Purge) -> bool:
        """Return whether the purge is accepted and not complete."""
        return bool(self.sql.rows("SELECT 1 FROM purge WHERE id = ?", purge.purge_id))

    async def find(self, purge: Purge) -> PurgeRound:
        """Return some of the copies that the purge still has to remove."""
        await self.log.add(purge)
        if urls := self._load_urls(purge):
            return _limit(urls, await self.copies.pages.list_variants(urls, below_seq=purge.seq))
        return PurgeRound((), await self._find_indexed(purge))

    async def remove(self, purge: Purge, found: PurgeRound, now: float) -> None:
        """Remove the copies of a round, then store the progress."""
        if found.is_last:
            await self._finish(purge, now)
            return
        self.known_pages.forget(found.pages)
        self.queue.mark_wanted_again([page.url for page in found.pages])
        if purge.soft:
            await self.copies.pages.mark_seen(found.indexed, purge.seq)
        else:
            await self.copies.remove(found.indexed, below_seq=purge.seq)
            self._count_removed(purge.purge_id, len(found.indexed))
        self.sql.run(
            "DELETE FROM purge_url WHERE purge_id = ? AND url IN (SELECT value FROM json_each(?))",
            *(purge.purge_id, json.dumps(list(found.urls))),
        )

    async def describe(self, purge_id: str) -> PurgeProgress:
        """Return what has become of a purge; raise NotFound for an unknown one."""
        rows = self.sql.rows("SELECT * FROM purge_progress WHERE id = ?", purge_id)
        if not rows:
            raise NotFound(f"there is no purge {purge_id} in this zone; purges are kept for 7 days")
        row: dict[str, Any] = rows[0]
        # The copies of a soft purge stay until they are replaced, which may be long after its last round.
        replaced = await self.log.count_replaced(purge_id, soft=True)
        return {
            "purge_id": purge_id,
            "state": "removing" if row["finished_at"] is None else "done",
            "pages_removed": int(row["pages_removed"] or 0) + replaced,
            "created_at": row["created_at"],
            "finished_at": row["finished_at"],
        }

    def forget_old(self, now: float) -> None:
        self.sql.run("DELETE FROM purge_progress WHERE finished_at < ?", now - PROGRESS_KEPT_S)

    async def forget_marks(self, now: float, *, latest_seq: int) -> None:
        """Delete the rows of old purges, but not of one that still covers a stored copy: that copy goes first."""
        if not await self._look_again(now - KEPT_S, latest_seq):
            return
        if not (old := self.marks.list_old(now, MARKS, latest_seq=latest_seq)):
            return
        kept, pages = await self.log.find_covered(old, PAGES)
        self.marks.forget({scope: mark for scope, mark in old.items() if scope not in kept})
        if pages:
            self.known_pages.forget(pages)
            await self.copies.remove(pages, below_seq=max(mark.hard_seq for mark in old.values()))

    async def _look_again(self, before: float, latest_seq: int) -> bool:
        """Delete the objects of pages that were removed before, unless they are stored again; return whether that is all.

        By then nobody is storing a copy any more who had begun before the removal.
        """
        removed = await self.log.list_removed(before, latest_seq, REMOVED)
        if removed:
            await self.copies.remove_objects([each.page for each in removed if not each.is_stored])
            await self.log.forget_removed([each.page for each in removed], before)
        return len(removed) < REMOVED

    def _load_urls(self, purge: Purge) -> list[str]:
        rows = self.sql.rows("SELECT url FROM purge_url WHERE purge_id = ? LIMIT ?", purge.purge_id, PAGES)
        return [str(row["url"]) for row in rows]

    async def _find_indexed(self, purge: Purge) -> list[Page]:
        index, seq = self.copies.pages, purge.seq
        if purge.everything:
            return await index.list_any(PAGES, below_seq=seq)
        tagged = await index.list_tagged(purge.tags, PAGES, below_seq=seq) if purge.tags else []
        if tagged or not purge.prefixes:
            return tagged
        return await index.list_prefixed(purge.prefixes, PAGES, below_seq=seq)

    async def _finish(self, purge: Purge, now: float) -> None:
        """Take a purge that is complete off the list of work; its progress is kept for a while."""
        self._count_removed(purge.purge_id, await self.log.count_replaced(purge.purge_id, soft=False))
        removed = int(self.sql.value("SELECT pages_removed FROM purge_progress WHERE id = ?", purge.purge_id) or 0)
        self.sql.run("UPDATE purge_progress SET finished_at = ? WHERE id = ?", now, purge.purge_id)
        self.sql.run("DELETE FROM purge WHERE id = ?", purge.purge_id)
        self.is_waiting = self.load_next() is not None
        await self.log.finish(purge.purge_id, removed)

    def _count_removed(self, purge_id: str, count: int) -> None:
        self.sql.run("UPDATE purge_progress SET pages_removed = pages_removed + ? WHERE id = ?", count, purge_id)


def _limit(urls: Sequence[str], indexed: Sequence[Page]) -> PurgeRound:
    """Return the first URLs whose variants fit into one round; at least one URL, however many variants it has."""
    taken: list[str] = []
    count = 0
    for url in urls:
        count += max(1, sum(page.url == url for page in indexed))
        if taken and count > PAGES:
            break
        taken.append(url)
    return PurgeRound(taken, [page for page in indexed if page.url in set(taken)])
