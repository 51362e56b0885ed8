"""The purges of a zone in D1: what each covered, which pages it has removed, and how many."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sluice.core.ports import Database
from sluice.core.preload.purge_list import Mark
from sluice.core.preload.purges import Purge
from sluice.services.preload.discovery.page_index import Page, parse_page


@dataclass(frozen=True, slots=True)
class RemovedPage:
    page: Page
    is_stored: bool  # again


@dataclass(frozen=True, slots=True)
class PurgeLog:
    database: Database
    zone_id: str

    async def add(self, purge: Purge) -> None:
        """Log a purge, once; a copy that is being stored right now is checked against this log afterwards."""
        await self.database.run(
            """INSERT OR IGNORE INTO purge_log (purge_id, zone_id, idempotency_key, nonce, tags, urls, everything,
                 prefixes, created_at, seq, soft) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
            *(purge.purge_id, self.zone_id, purge.idempotency_key, purge.nonce, json.dumps(purge.tags)),
            *(json.dumps(purge.urls), int(purge.everything), json.dumps(purge.prefixes), purge.created_at),
            *(purge.seq, int(purge.soft)),
        )

    async def count_replaced(self, purge_id: str, *, soft: bool) -> int:
        """Return how many pages that a purge covered have a newer copy by now; 0 if it is not of this kind."""
        count = await self.database.value(
            """SELECT count(*) FROM purge_log AS purge JOIN cached_pages AS page ON page.zone_id = purge.zone_id
                 AND page.seq >= purge.seq AND page.first_seq < purge.seq
               WHERE purge_id = ? AND purge.zone_id = ? AND soft = ? AND purge.seq > 0 AND (everything
                 OR url IN (SELECT value FROM json_each(urls))
                 OR EXISTS (SELECT 1 FROM page_tags AS tagged JOIN json_each(purge.tags) AS named ON tag = named.value
                   WHERE tagged.zone_id = page.zone_id AND tagged.url = page.url AND tagged.variant = page.variant)
                 OR EXISTS (SELECT 1 FROM json_each(prefixes) WHERE url = value
                   OR (substr(url, 1, length(value)) = value
                     AND (substr(value, -1) = '/' OR substr(url, length(value) + 1, 1) IN ('/', '?')))))""",
            *(purge_id, self.zone_id, int(soft)),
        )
        return int(count or 0)

    async def find_covered(self, marks: Mapping[str, Mark], limit: int) -> tuple[set[str], list[Page]]:
        """Return which of these purges cover stored copies that are older, and some copies that may not be served at all."""
        rows = json.dumps([[scope, mark.seq, mark.hard_seq] for scope, mark in marks.items()])
        tagged = "page_tags JOIN cached_pages USING (zone_id, url, variant)"
        below = """substr(scope, 1, 2) = 'p:' AND substr(url, 1, length(scope) - 2) = substr(scope, 3) AND
          (substr(scope, -1) = '/' OR substr(url, length(scope) - 1, 1) IN ('', '/', '?'))"""
        kinds = [
            ("cached_pages", "scope = '*'"),
            (tagged, "substr(scope, 1, 2) = 't:' AND tag = substr(scope, 3)"),
            ("cached_pages", "substr(scope, 1, 2) = 'u:' AND url = substr(scope, 3)"),
            ("cached_pages", below),
        ]
        any_kind = " OR ".join(
            f"EXISTS (SELECT 1 FROM {table} WHERE zone_id = ?2 AND seq < mark.value ->> 1 AND {condition})"  # noqa: S608
            for table, condition in kinds
        )
        asked = [f"SELECT mark.value ->> 0 AS scope FROM json_each(?1) AS mark WHERE {any_kind}"]  # noqa: S608
        asked += [
            f"""SELECT url, variant, mark.value ->> 0 AS scope FROM json_each(?1) AS mark CROSS JOIN {table}
                WHERE zone_id = ?2 AND seq < mark.value ->> 2 AND {condition} LIMIT {int(limit)}"""  # noqa: S608
            for table, condition in kinds
        ]
        scopes, *pages = await self.database.batch([(sql, [rows, self.zone_id]) for sql in asked])
        found = dict.fromkeys(parse_page(row) for result in pages for row in result.rows)
        return {str(row["scope"]) for row in scopes.rows}, list(found)[:limit]

    async def list_removed(self, before: float, latest_seq: int, limit: int) -> list[RemovedPage]:
        """Return some pages that were removed before then, when no later purge than this was known."""
        rows = await self.database.all(
            """SELECT url, variant, EXISTS (SELECT 1 FROM cached_pages AS page WHERE page.zone_id = removed.zone_id
                 AND page.url = removed.url AND page.variant = removed.variant) AS is_stored
               FROM removed_pages AS removed WHERE zone_id = ? AND removed_at < ? AND seq <= ? LIMIT ?""",
            *(self.zone_id, before, latest_seq, limit),
        )
        return [RemovedPage(parse_page(row), is_stored=bool(row["is_stored"])) for row in rows]

    async def forget_removed(self, pages: Sequence[Page], before: float) -> None:
        """Forget these pages, unless they were removed again since then."""
        await self.database.run(
            """DELETE FROM removed_pages WHERE zone_id = ? AND removed_at < ? AND (url, variant) IN
                 (SELECT value ->> 0, value ->> 1 FROM json_each(?))""",
            *(self.zone_id, before, json.dumps([[page.url, page.variant] for page in pages])),
        )

    async def finish(self, purge_id: str, removed: int) -> None:
        await self.database.run("UPDATE purge_log SET pages_purged = ? WHERE purge_id = ?", removed, purge_id)
