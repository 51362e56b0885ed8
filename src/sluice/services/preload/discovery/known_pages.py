"""What the zone's object remembers about warmed pages: enough to ask the origin for changes only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from sluice.core.headers import header_value
from sluice.core.ports import HeaderPairs, Sql
from sluice.services.preload.discovery.page_index import Page


@dataclass(frozen=True, slots=True)
class KnownPages:
    sql: Sql

    def store(self, page: Page, headers: HeaderPairs, *, now: float, fresh_until: float) -> None:
        """Note a page whose copy is in R2."""
        validators = (header_value(headers, "etag") or None, header_value(headers, "last-modified") or None)
        self.sql.run(
            "INSERT OR REPLACE INTO page VALUES (?, ?, ?, ?, ?, ?)",
            *(page.url, page.variant, now, fresh_until, *validators),
        )

    def renew(self, page: Page, *, now: float, fresh_until: float) -> None:
        """Note that a page was warmed again without a change."""
        self.sql.run(
            "UPDATE page SET warmed_at = ?, fresh_until = ? WHERE url = ? AND variant = ?",
            *(now, fresh_until, page.url, page.variant),
        )

    def distrust(self, page: Page) -> None:
        """Note that a page's copy cannot be read: it is to be fetched whole, whether it has changed or not."""
        self.sql.run(
            "UPDATE page SET fresh_until = 0, etag = NULL, last_modified = NULL WHERE url = ? AND variant = ?",
            *(page.url, page.variant),
        )

    def load_validators(self, page: Page) -> HeaderPairs:
        """Return the headers that ask for a page only if it has changed."""
        rows = self.sql.rows("SELECT * FROM page WHERE url = ? AND variant = ?", page.url, page.variant)
        if not rows:
            return ()
        names = (("if-none-match", "etag"), ("if-modified-since", "last_modified"))
        return tuple((name, str(rows[0][column])) for name, column in names if rows[0][column])

    def forget(self, pages: Sequence[Page]) -> None:
        keys = json.dumps([[page.url, page.variant] for page in pages])
        self.sql.run(
            "DELETE FROM page WHERE (url, variant) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))", keys
        )

    def forget_all(self) -> None:
        self.sql.run("DELETE FROM page")

    def is_current(self, url: str, variant: str, modified_at: float | None, now: float) -> bool:
        """Return whether a page was warmed after its last change, and its copy is still fresh."""
        if modified_at is None:
            return False
        return bool(
            self.sql.value(
                "SELECT 1 FROM page WHERE url = ? AND variant = ? AND warmed_at > ? AND warmed_at <= ? AND fresh_until > ?",
                *(url, variant, modified_at, now, now),
            )
        )

    def list_current(self, pages: Sequence[tuple[str, float | None]], now: float) -> set[str]:
        """Return the URLs, of those given with the time of their last change, that were warmed after it and are still fresh."""
        rows = self.sql.rows(
            """SELECT page.url FROM json_each(?) AS wanted JOIN page ON page.url = wanted.value ->> 0 AND page.variant = ''
               WHERE page.warmed_at > CAST(wanted.value ->> 1 AS REAL) AND page.warmed_at <= ? AND page.fresh_until > ?""",
            *(json.dumps([[url, at] for url, at in pages if at is not None]), now, now),
        )
        return {str(row["url"]) for row in rows}

    def list_oldest(self, limit: int) -> list[str]:
        """Return the URLs of the pages warmed longest ago."""
        rows = self.sql.rows("SELECT DISTINCT url FROM page ORDER BY warmed_at LIMIT ?", limit)
        return [str(row["url"]) for row in rows]

    @property
    def count(self) -> int:
        return int(self.sql.value("SELECT count(*) FROM page") or 0)
