"""The index of stored pages in D1: which copies a purge must find, and what analytics know about pages."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Database, Row
from sluice.core.preload.caching.freshness import MAX_AHEAD_S
from sluice.core.preload.priority import Facts
from sluice.core.preload.purges import PurgeScope, list_url_prefixes

# A copy that a purge still has to look at: it carries a lower number.
_IS_OLDER: Final = "seq < ?1 AND seen_seq < ?1"
# The visits of a page in a month: as the site states them, or as they were counted here.
_VIEWS: Final = "max(coalesce(monthly_pageviews, 0), coalesce(visits, 0))"
ANY_SEQ: Final = 2**52  # above the number of every purge
MONTH_S: Final = 30 * 86_400


@dataclass(frozen=True, slots=True)
class Page:
    """One variant of a page."""

    url: str
    variant: str


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """What somebody tells about a page; None where nothing is said."""

    url: str
    monthly_pageviews: int | None
    published_at: float | None
    post_id: int | None


@dataclass(frozen=True, slots=True)
class PageIndex:
    database: Database
    zone_id: str

    async def store(
        self,
        page: Page,
        *,
        hashed: str,
        stored_at: float,
        fresh_until: float,
        size: int,
        tags: Sequence[str],
        seq: int,
    ) -> None:
        """Note a page before its copy is stored, so that there is never a copy that no purge finds."""
        key = [self.zone_id, page.url, page.variant]
        statements: list[tuple[str, Sequence[object]]] = [
            (
                """INSERT INTO cached_pages
                     (zone_id, url, variant, key_hash, stored_at, fresh_until, size_bytes, indexed_at, seq, first_seq)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?5, ?8, ?8)
                   ON CONFLICT (zone_id, url, variant) DO UPDATE SET key_hash = excluded.key_hash,
                     stored_at = excluded.stored_at, fresh_until = excluded.fresh_until, renewed_at = NULL,
                     size_bytes = excluded.size_bytes, indexed_at = excluded.indexed_at, seq = excluded.seq""",
                [*key, hashed, stored_at, fresh_until, size, seq],
            ),
            ("DELETE FROM page_tags WHERE zone_id = ? AND url = ? AND variant = ?", key),
        ]
        if tags:
            rows = "INSERT OR IGNORE INTO page_tags SELECT ?, value, ?, ? FROM json_each(?)"
            statements.append((rows, [*key, json.dumps(list(tags))]))
        await self.database.batch(statements)

    async def renew(self, page: Page, *, renewed_at: float, fresh_until: float, stored_before: float) -> bool:
        """Note that a copy has not changed; return False when there is none that was stored up to then."""
        result = await self.database.run(
            """UPDATE cached_pages SET renewed_at = ?, fresh_until = ?
               WHERE zone_id = ? AND url = ? AND variant = ? AND stored_at <= ?""",
            *(renewed_at, fresh_until, self.zone_id, page.url, page.variant, stored_before),
        )
        return result.changes > 0

    async def mark_unreadable(self, page: Page, *, stored_before: float) -> None:
        """Count a copy that was stored up to then as missing. Its row stays, so that the object is found and removed."""
        await self.database.run(
            """UPDATE cached_pages SET fresh_until = 0
               WHERE zone_id = ? AND url = ? AND variant = ? AND stored_at <= ? AND fresh_until > 0""",
            *(self.zone_id, page.url, page.variant, stored_before),
        )

    async def load_renewed_at(self, page: Page) -> float | None:
        """Return when a copy was last found unchanged; None when that never happened."""
        renewed_at = await self.database.value(
            "SELECT renewed_at FROM cached_pages WHERE zone_id = ? AND url = ? AND variant = ?",
            *(self.zone_id, page.url, page.variant),
        )
        return None if renewed_at is None else float(renewed_at)

    async def remove(
        self, pages: Sequence[Page], *, below_seq: int | None = None, latest_seq: int, removed_at: float
    ) -> None:
        """Forget the pages, and note that they were stored; with a number, not those whose copy is newer."""
        keys = json.dumps([[page.url, page.variant] for page in pages])
        chosen = "zone_id = ? AND (url, variant) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))"
        newer = "SELECT url, variant FROM cached_pages WHERE zone_id = ? AND seq >= ?"
        if below_seq is not None:
            chosen += f" AND (url, variant) NOT IN ({newer} AND url IN (SELECT value ->> 0 FROM json_each(?)))"  # noqa: S608
        values = [self.zone_id, keys, *(() if below_seq is None else (self.zone_id, below_seq, keys))]
        noted = f"""INSERT INTO removed_pages SELECT zone_id, url, variant, ?, ? FROM cached_pages WHERE {chosen}
          ON CONFLICT (zone_id, url, variant) DO UPDATE SET seq = excluded.seq, removed_at = excluded.removed_at"""  # noqa: S608
        deleted = [(f"DELETE FROM {table} WHERE {chosen}", values) for table in ("page_tags", "cached_pages")]  # noqa: S608
        await self.database.batch([(noted, [latest_seq, removed_at, *values]), *deleted])

    async def list_tagged(self, tags: Iterable[str], limit: int, *, below_seq: int) -> list[Page]:
        """Return pages with one of the tags whose copies are older than a purge."""
        rows = await self.database.all(
            f"""SELECT DISTINCT url, variant FROM page_tags JOIN cached_pages USING (zone_id, url, variant)
               WHERE {_IS_OLDER} AND zone_id = ?2 AND tag IN (SELECT value FROM json_each(?3)) LIMIT ?4""",  # noqa: S608
            *(below_seq, self.zone_id, json.dumps(list(tags)), limit),
        )
        return [parse_page(row) for row in rows]

    async def list_prefixed(self, prefixes: Iterable[str], limit: int, *, below_seq: int) -> list[Page]:
        """Return pages below one of the URLs whose copies are older than a purge."""
        beginnings = [start for prefix in prefixes for start in list_url_prefixes(prefix)]
        rows = await self.database.all(
            f"""SELECT DISTINCT url, variant FROM cached_pages JOIN json_each(?3) AS start
                 ON url = rtrim(start.value, '?') OR substr(url, 1, length(start.value)) = start.value
               WHERE {_IS_OLDER} AND zone_id = ?2 LIMIT ?4""",  # noqa: S608
            *(below_seq, self.zone_id, json.dumps(beginnings), limit),
        )
        return [parse_page(row) for row in rows]

    async def list_variants(self, urls: Iterable[str], *, below_seq: int = ANY_SEQ) -> list[Page]:
        """Return the stored variants of these pages, or those whose copies are older than a purge."""
        rows = await self.database.all(
            f"""SELECT url, variant FROM cached_pages
               WHERE {_IS_OLDER} AND zone_id = ?2 AND url IN (SELECT value FROM json_each(?3))""",  # noqa: S608
            *(below_seq, self.zone_id, json.dumps(list(urls))),
        )
        return [parse_page(row) for row in rows]

    async def list_any(self, limit: int, *, below_seq: int) -> list[Page]:
        """Return any pages whose copies are older than a purge; a caller that removes them calls again for more."""
        rows = await self.database.all(
            f"SELECT url, variant FROM cached_pages WHERE {_IS_OLDER} AND zone_id = ?2 LIMIT ?3",  # noqa: S608
            *(below_seq, self.zone_id, limit),
        )
        return [parse_page(row) for row in rows]

    async def count_queries(self, path: str, *, but: str) -> int:
        """Return how many queries of a path have stored copies, besides one; ? and @ are neighbours in ASCII."""
        sql = "SELECT count(DISTINCT url) FROM cached_pages WHERE zone_id = ? AND url > ? AND url < ? AND url != ?"
        return int(await self.database.value(sql, self.zone_id, f"{path}?", f"{path}@", but) or 0)

    async def load_purges(self, after_seq: int, limit: int) -> list[PurgeScope]:
        """Return the newest purges with a higher number."""
        rows = await self.database.all(
            """SELECT tags, urls, everything, prefixes FROM purge_log WHERE zone_id = ? AND seq > ?
               ORDER BY seq DESC LIMIT ?""",
            *(self.zone_id, after_seq, limit),
        )
        return [_parse_scope(row) for row in rows]

    async def load_facts(self, urls: Sequence[str]) -> dict[str, Facts]:
        """Return what is known about these pages."""
        rows = await self.database.all(
            "SELECT * FROM page_facts WHERE zone_id = ? AND url IN (SELECT value FROM json_each(?))",
            *(self.zone_id, json.dumps(list(urls))),
        )
        return {str(row["url"]): _parse_facts(row) for row in rows}

    async def load_busiest(self, limit: int) -> dict[str, Facts]:
        """Return the pages with the most traffic."""
        rows = await self.database.all(
            f"SELECT * FROM page_facts WHERE zone_id = ? ORDER BY {_VIEWS} DESC LIMIT ?",  # noqa: S608
            *(self.zone_id, limit),
        )
        return {str(row["url"]): _parse_facts(row) for row in rows}

    async def mark_seen(self, pages: Sequence[Page], seq: int) -> None:
        """Note that a soft purge has looked at these pages and left their copies."""
        keys = json.dumps([[page.url, page.variant] for page in pages])
        await self.database.run(
            """UPDATE cached_pages SET seen_seq = max(seen_seq, ?) WHERE zone_id = ? AND (url, variant) IN
                 (SELECT value ->> 0, value ->> 1 FROM json_each(?))""",
            *(seq, self.zone_id, keys),
        )

    async def list_expiring(self, limit: int, *, now: float, before: float, min_life_s: float) -> list[str]:
        """Return the URLs of pages that expire before a time: the most visited first, then those that expire first.

        A page that was stored in the future counts as expired: the clock was set back, and nobody knows how old it is.
        """
        rows = await self.database.all(
            f"""SELECT url, max({_VIEWS}) AS views, min(fresh_until) AS expires_at
               FROM cached_pages LEFT JOIN page_facts USING (zone_id, url)
               WHERE zone_id = ? AND (fresh_until < ? OR stored_at > ?) AND fresh_until - max(stored_at, coalesce(renewed_at, 0)) >= ?
               GROUP BY url ORDER BY views DESC, expires_at LIMIT ?""",  # noqa: S608
            *(self.zone_id, before, now + MAX_AHEAD_S, min_life_s, limit),
        )
        return [str(row["url"]) for row in rows]

    async def forget_facts(self) -> None:
        await self.database.run("DELETE FROM page_facts WHERE zone_id = ?", self.zone_id)

    async def list_expired(self, limit: int, *, before: float) -> list[Page]:
        """Return pages whose copies have not been fresh since then."""
        rows = await self.database.all(
            "SELECT url, variant FROM cached_pages WHERE zone_id = ? AND fresh_until < ? LIMIT ?",
            *(self.zone_id, before, limit),
        )
        return [parse_page(row) for row in rows]

    async def merge_facts(self, facts: Iterable[KnownFacts]) -> None:
        """Store what is known; a field that is None stays as it is."""
        rows = json.dumps([[each.url, each.monthly_pageviews, each.published_at, each.post_id] for each in facts])
        await self.database.run(
            """INSERT INTO page_facts (zone_id, url, monthly_pageviews, published_at, post_id)
               SELECT ?, value ->> 0, coalesce(value ->> 1, old.monthly_pageviews, 0),
                 coalesce(CAST(value ->> 2 AS REAL), old.published_at), coalesce(value ->> 3, old.post_id)
               FROM json_each(?) LEFT JOIN page_facts AS old ON old.zone_id = ? AND old.url = value ->> 0 WHERE true
               ON CONFLICT (zone_id, url) DO UPDATE SET monthly_pageviews = excluded.monthly_pageviews,
                 published_at = excluded.published_at, post_id = excluded.post_id""",
            *(self.zone_id, rows, self.zone_id),
        )

    async def add_visits(self, visits: Mapping[str, int], now: float) -> None:
        """Add visits of stored pages; former ones fade within a month, so that the sum is about that of a month."""
        await self.database.run(
            f"""INSERT INTO page_facts (zone_id, url, monthly_pageviews, visits, visits_at)
               SELECT ?1, key, 0, value, ?2 FROM json_each(?3)
               WHERE EXISTS (SELECT 1 FROM cached_pages WHERE zone_id = ?1 AND url = key)
                 OR EXISTS (SELECT 1 FROM page_facts WHERE zone_id = ?1 AND url = key)
               ON CONFLICT (zone_id, url) DO UPDATE SET visits_at = excluded.visits_at,
                 visits = excluded.visits + visits * max(0.0, 1 - (excluded.visits_at - visits_at) / {MONTH_S}.0)""",  # noqa: S608
            *(self.zone_id, now, json.dumps(visits)),
        )

    async def forget_unvisited(self, before: float) -> None:
        """Delete what is only known from visits, if there is no copy and nobody has come since then."""
        await self.database.run(
            """DELETE FROM page_facts WHERE zone_id = ?1 AND monthly_pageviews = 0 AND published_at IS NULL
                 AND post_id IS NULL AND visits_at < ?2
                 AND NOT EXISTS (SELECT 1 FROM cached_pages WHERE zone_id = ?1 AND cached_pages.url = page_facts.url)""",
            *(self.zone_id, before),
        )


def parse_page(row: Row) -> Page:
    return Page(str(row["url"]), str(row["variant"]))


def _parse_scope(row: Row) -> PurgeScope:
    return PurgeScope(
        tags=frozenset(json.loads(str(row["tags"]))),
        urls=frozenset(json.loads(str(row["urls"]))),
        everything=bool(row["everything"]),
        prefixes=tuple(json.loads(str(row["prefixes"]))),
    )


def _parse_facts(row: Row) -> Facts:
    published_at, post_id = row["published_at"], row["post_id"]
    return Facts(
        published_at=None if published_at is None else float(published_at),
        monthly_pageviews=int(max(row["monthly_pageviews"] or 0, row["visits"] or 0)),
        post_id=None if post_id is None else int(post_id),
    )
