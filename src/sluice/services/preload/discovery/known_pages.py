"""What the zone's object remembers of pages it has warmed: enough to ask the origin for changes only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sluice.core.header_values import header_value
from sluice.core.ports import HeaderPairs, Row, Sql
from sluice.services.preload.discovery.page_index import Page


@dataclass(frozen=True, slots=True)
class KnownPages:
    sql: Sql

    def keep(self, page: Page, headers: HeaderPairs, *, now: float, fresh_until: float) -> None:
        """Note a page whose copy is in R2."""
        validators = (header_value(headers, "etag") or None, header_value(headers, "last-modified") or None)
        self.sql.execute(
            "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?)",
            page.url,
            page.variant,
            now,
            fresh_until,
            *validators,
        )

    def renewed(self, page: Page, *, now: float, fresh_until: float) -> None:
        self.sql.execute(
            "UPDATE page SET warmed_at = ?, fresh_until = ? WHERE url = ? AND variant = ?",
            *(now, fresh_until, page.url, page.variant),
        )

    def validators(self, page: Page) -> HeaderPairs:
        """The headers that ask for a page only if it has changed."""
        found = self.sql.rows("SELECT * FROM page WHERE url = ? AND variant = ?", page.url, page.variant)
        if not found:
            return ()
        names = (("if-none-match", "etag"), ("if-modified-since", "last_modified"))
        return tuple((name, str(found[0][column])) for name, column in names if found[0][column])

    def forget(self, pages: Sequence[Page]) -> None:
        given = json.dumps([[page.url, page.variant] for page in pages])
        self.sql.execute(
            """DELETE FROM page WHERE (url, variant) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))""", given
        )

    def forget_all(self) -> None:
        self.sql.execute("DELETE FROM page")

    def is_current(self, url: str, variant: str, modified_at: float | None, now: float) -> bool:
        """Whether a page was warmed after its last change, and its copy is still fresh."""
        if modified_at is None:
            return False
        return bool(
            self.sql.value(
                "SELECT 1 FROM page WHERE url = ? AND variant = ? AND warmed_at > ? AND fresh_until > ?",
                *(url, variant, modified_at, now),
            )
        )

    def oldest(self, limit: int) -> list[Row]:
        """The pages warmed longest ago."""
        return self.sql.rows("SELECT DISTINCT url FROM page ORDER BY warmed_at LIMIT ?", limit)
