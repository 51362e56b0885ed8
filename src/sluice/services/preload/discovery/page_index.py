"""The index of stored pages in D1: which copies a purge must find, and what analytics know about pages."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Database, Row
from sluice.core.preload.priority import Facts
from sluice.core.preload.purges import PurgeScope

MAX_TAG_ROWS: Final = 20  # 4 parameters each, of 100 in a statement
MAX_REMOVED: Final = 25  # pages removed by one batch of two statements each


@dataclass(frozen=True, slots=True)
class Page:
    """One variant of a page."""

    url: str
    variant: str


@dataclass(frozen=True, slots=True)
class PageIndex:
    database: Database
    zone_id: str

    async def store(
        self, page: Page, *, hashed: str, stored_at: float, fresh_until: float, size: int, tags: Sequence[str]
    ) -> None:
        """Notes a page before its copy is stored, so that there is never a copy that no purge finds."""
        key = [self.zone_id, page.url, page.variant]
        statements: list[tuple[str, Sequence[object]]] = [
            (
                "INSERT OR REPLACE INTO cached_pages VALUES (?, ?, ?, ?, ?, ?, ?)",
                [*key, hashed, stored_at, fresh_until, size],
            ),
            ("DELETE FROM page_tags WHERE zone_id = ? AND url = ? AND variant = ?", key),
        ]
        for at in range(0, len(tags), MAX_TAG_ROWS):
            chunk = tags[at : at + MAX_TAG_ROWS]
            rows = ", ".join(["(?, ?, ?, ?)"] * len(chunk))
            values = [value for tag in chunk for value in (self.zone_id, tag, page.url, page.variant)]
            statements.append((f"INSERT OR IGNORE INTO page_tags VALUES {rows}", values))  # noqa: S608
        await self.database.batch(statements)

    async def remove(self, pages: Sequence[Page]) -> None:
        for at in range(0, len(pages), MAX_REMOVED):
            statements: list[tuple[str, Sequence[object]]] = []
            for page in pages[at : at + MAX_REMOVED]:
                key = [self.zone_id, page.url, page.variant]
                for table in ("cached_pages", "page_tags"):
                    sql = f"DELETE FROM {table} WHERE zone_id = ? AND url = ? AND variant = ?"  # noqa: S608
                    statements.append((sql, key))
            await self.database.batch(statements)

    async def list_tagged(self, tags: Iterable[str], limit: int) -> list[Page]:
        rows = await self.database.all(
            """SELECT DISTINCT url, variant FROM page_tags
               WHERE zone_id = ? AND tag IN (SELECT value FROM json_each(?)) LIMIT ?""",
            *(self.zone_id, json.dumps(list(tags)), limit),
        )
        return [_parse_page(row) for row in rows]

    async def list_variants(self, urls: Iterable[str]) -> list[Page]:
        """The stored variants of these pages."""
        rows = await self.database.all(
            "SELECT url, variant FROM cached_pages WHERE zone_id = ? AND url IN (SELECT value FROM json_each(?))",
            *(self.zone_id, json.dumps(list(urls))),
        )
        return [_parse_page(row) for row in rows]

    async def list_any(self, limit: int, *, stored_before: float) -> list[Page]:
        """Any pages stored up to then; a caller that removes them calls again for more."""
        rows = await self.database.all(
            "SELECT url, variant FROM cached_pages WHERE zone_id = ? AND stored_at <= ? LIMIT ?",
            *(self.zone_id, stored_before, limit),
        )
        return [_parse_page(row) for row in rows]

    async def load_purges(self, since: float, limit: int) -> list[PurgeScope]:
        """The newest purges that were accepted after that time."""
        rows = await self.database.all(
            """SELECT tags, urls, everything FROM purge_log WHERE zone_id = ? AND created_at > ?
               ORDER BY created_at DESC LIMIT ?""",
            *(self.zone_id, since, limit),
        )
        return [_parse_scope(row) for row in rows]

    async def load_facts(self, urls: Sequence[str]) -> dict[str, Facts]:
        """What is known about these pages."""
        rows = await self.database.all(
            "SELECT * FROM page_facts WHERE zone_id = ? AND url IN (SELECT value FROM json_each(?))",
            *(self.zone_id, json.dumps(list(urls))),
        )
        return {str(row["url"]): _parse_facts(row) for row in rows}

    async def load_busiest(self, limit: int) -> dict[str, Facts]:
        """The pages with the most traffic."""
        rows = await self.database.all(
            "SELECT * FROM page_facts WHERE zone_id = ? ORDER BY monthly_pageviews DESC LIMIT ?", self.zone_id, limit
        )
        return {str(row["url"]): _parse_facts(row) for row in rows}

    async def store_facts(self, facts: Iterable[tuple[str, Facts]]) -> None:
        await self.database.batch(
            [
                (
                    "INSERT OR REPLACE INTO page_facts VALUES (?, ?, ?, ?, ?)",
                    [self.zone_id, url, known.monthly_pageviews, known.published_at, known.post_id],
                )
                for url, known in facts
            ]
        )


def _parse_page(row: Row) -> Page:
    return Page(str(row["url"]), str(row["variant"]))


def _parse_scope(row: Row) -> PurgeScope:
    return PurgeScope(
        tags=frozenset(json.loads(str(row["tags"]))),
        urls=frozenset(json.loads(str(row["urls"]))),
        everything=bool(row["everything"]),
    )


def _parse_facts(row: Row) -> Facts:
    published_at, post_id = row["published_at"], row["post_id"]
    return Facts(
        published_at=None if published_at is None else float(published_at),
        monthly_pageviews=int(row["monthly_pageviews"] or 0),
        post_id=None if post_id is None else int(post_id),
    )
