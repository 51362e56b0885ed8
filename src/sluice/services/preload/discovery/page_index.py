"""The index of stored pages in D1: what a purge must find, and what analytics know."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Database, Row
from sluice.core.preload.priority import Facts

MAX_TAG_ROWS: Final = 20  # 5 parameters each, 100 in a statement


@dataclass(frozen=True, slots=True)
class Page:
    """One form of a page."""

    url: str
    variant: str


@dataclass(frozen=True, slots=True)
class Pages:
    database: Database
    zone_id: str

    async def keep(
        self, page: Page, *, hashed: str, stored_at: float, fresh_until: float, size: int, tags: Sequence[str]
    ) -> None:
        """Note a page before its copy is stored, so that there is never a copy that no purge finds."""
        place = [self.zone_id, page.url, page.variant]
        statements: list[tuple[str, Sequence[object]]] = [
            (
                "INSERT OR REPLACE INTO cached_pages VALUES (?, ?, ?, ?, ?, ?, ?)",
                [*place, hashed, stored_at, fresh_until, size],
            ),
            ("DELETE FROM page_tags WHERE zone_id = ? AND url = ? AND variant = ?", place),
        ]
        for at in range(0, len(tags), MAX_TAG_ROWS):
            some = tags[at : at + MAX_TAG_ROWS]
            rows = ", ".join(["(?, ?, ?, ?)"] * len(some))
            values = [value for tag in some for value in (self.zone_id, tag, page.url, page.variant)]
            statements.append((f"INSERT OR IGNORE INTO page_tags VALUES {rows}", values))  # noqa: S608
        await self.database.batch(statements)

    async def remove(self, pages: Sequence[Page]) -> None:
        for at in range(0, len(pages), 25):
            statements: list[tuple[str, Sequence[object]]] = []
            for page in pages[at : at + 25]:
                place = [self.zone_id, page.url, page.variant]
                for table in ("cached_pages", "page_tags"):
                    sql = f"DELETE FROM {table} WHERE zone_id = ? AND url = ? AND variant = ?"  # noqa: S608
                    statements.append((sql, place))
            await self.database.batch(statements)

    async def tagged(self, tags: Iterable[str], limit: int) -> list[Page]:
        rows = await self.database.all(
            """SELECT DISTINCT url, variant FROM page_tags
               WHERE zone_id = ? AND tag IN (SELECT value FROM json_each(?)) LIMIT ?""",
            *(self.zone_id, json.dumps(list(tags)), limit),
        )
        return [_page(row) for row in rows]

    async def forms_of(self, urls: Iterable[str]) -> list[Page]:
        """The stored forms of these pages."""
        rows = await self.database.all(
            "SELECT url, variant FROM cached_pages WHERE zone_id = ? AND url IN (SELECT value FROM json_each(?))",
            *(self.zone_id, json.dumps(list(urls))),
        )
        return [_page(row) for row in rows]

    async def some(self, limit: int, *, stored_before: float) -> list[Page]:
        """Any pages stored up to then; whoever removes them asks again for more."""
        rows = await self.database.all(
            "SELECT url, variant FROM cached_pages WHERE zone_id = ? AND stored_at <= ? LIMIT ?",
            *(self.zone_id, stored_before, limit),
        )
        return [_page(row) for row in rows]

    async def purged_since(self, page: Page, tags: Sequence[str], since: float) -> bool:
        """Whether a purge that covers the page was asked for after its content was."""
        found = await self.database.all(
            """SELECT 1 FROM purge_log WHERE zone_id = ? AND created_at > ? AND (everything = 1
                 OR EXISTS (SELECT 1 FROM json_each(urls) WHERE value = ?)
                 OR EXISTS (SELECT 1 FROM json_each(tags) WHERE value IN (SELECT value FROM json_each(?)))) LIMIT 1""",
            *(self.zone_id, since, page.url, json.dumps(list(tags))),
        )
        return bool(found)

    async def facts(self, urls: Sequence[str]) -> dict[str, Facts]:
        """What is known of these pages."""
        rows = await self.database.all(
            "SELECT * FROM page_facts WHERE zone_id = ? AND url IN (SELECT value FROM json_each(?))",
            *(self.zone_id, json.dumps(list(urls))),
        )
        return {str(row["url"]): _facts(row) for row in rows}

    async def busiest(self, limit: int) -> dict[str, Facts]:
        rows = await self.database.all(
            "SELECT * FROM page_facts WHERE zone_id = ? ORDER BY monthly_pageviews DESC LIMIT ?", self.zone_id, limit
        )
        return {str(row["url"]): _facts(row) for row in rows}

    async def learn(self, facts: Iterable[tuple[str, Facts]]) -> None:
        await self.database.batch(
            [
                (
                    "INSERT OR REPLACE INTO page_facts VALUES (?, ?, ?, ?, ?)",
                    [self.zone_id, url, known.monthly_pageviews, known.published_at, known.post_id],
                )
                for url, known in facts
            ]
        )


def _page(row: Row) -> Page:
    return Page(str(row["url"]), str(row["variant"]))


def _facts(row: Row) -> Facts:
    published_at, post_id = row["published_at"], row["post_id"]
    return Facts(
        published_at=None if published_at is None else float(published_at),
        monthly_pageviews=int(row["monthly_pageviews"] or 0),
        post_id=None if post_id is None else int(post_id),
    )
