"""The purges of a zone in D1: what each covered, and how many pages it has removed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from sluice.core.ports import Database
from sluice.core.preload.purge_list import Mark
from sluice.core.preload.purges import Purge
from sluice.services.preload.discovery.page_index import Page, parse_page


@dataclass(frozen=True, slots=True)
class CoveredPage:
    """A stored copy that a purge covers; `is_hard` when it may not even be served while the origin fails."""

    scope: str
    page: Page
    is_hard: bool


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

    async def list_covered(self, marks: Mapping[str, Mark], limit: int) -> list[CoveredPage]:
        """Return some stored copies that are older than the purges that cover them."""
        rows = json.dumps([[scope, mark.seq, mark.hard_seq] for scope, mark in marks.items()])
        chosen = f"""SELECT mark.value ->> 0 AS scope, url, variant, seq < mark.value ->> 2 AS is_hard
          FROM json_each(?1) AS mark CROSS JOIN {{}} WHERE zone_id = ?2 AND seq < mark.value ->> 1 AND {{}} LIMIT {int(limit)}"""  # noqa: S608
        tagged = "page_tags JOIN cached_pages USING (zone_id, url, variant)"
        below = """substr(scope, 1, 2) = 'p:' AND substr(url, 1, length(scope) - 2) = substr(scope, 3) AND
          (substr(scope, -1) = '/' OR substr(url, length(scope) - 1, 1) IN ('', '/', '?'))"""
        conditions = [
            ("cached_pages", "scope = '*'"),
            (tagged, "substr(scope, 1, 2) = 't:' AND tag = substr(scope, 3)"),
            ("cached_pages", "substr(scope, 1, 2) = 'u:' AND url = substr(scope, 3)"),
            ("cached_pages", below),
        ]
        results = await self.database.batch([(chosen.format(*each), [rows, self.zone_id]) for each in conditions])
        found = [row for result in results for row in result.rows][:limit]
        return [CoveredPage(str(row["scope"]), parse_page(row), is_hard=bool(row["is_hard"])) for row in found]

    async def finish(self, purge_id: str, removed: int) -> None:
        await self.database.run("UPDATE purge_log SET pages_purged = ? WHERE purge_id = ?", removed, purge_id)
