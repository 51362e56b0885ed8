"""What a cache would have done, while it is only observed: pages whose replies differ between visitors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, TypedDict

from sluice.core.doc import Doc
from sluice.core.ports import Sql
from sluice.core.preload.members import Amount, EpochS

MAX_PAGES: Final = 1000
MAX_LISTED: Final = 200


class ObservedPage(TypedDict):
    url: str
    variant: Annotated[str, Doc("The variant of the page; empty for the plain one.")]
    compared: Amount
    differing: Amount
    differed_at: EpochS | None


class ObservedReply(TypedDict):
    observed: list[ObservedPage]


@dataclass(frozen=True, slots=True)
class ObservedPages:
    sql: Sql

    def compare(self, url: str, variant: str, digest: str, *, lifetime_s: int, now: float) -> bool:
        """Return whether a cache would have served this reply: the one before was the same, or has expired by now."""
        rows = self.sql.rows("SELECT digest, valid_until FROM observed WHERE url = ? AND variant = ?", url, variant)
        is_expired = not rows or float(rows[0]["valid_until"] or 0) <= now
        is_same = is_expired or rows[0]["digest"] == digest
        self.sql.run(
            """INSERT INTO observed (url, variant, digest, valid_until) VALUES (?, ?, ?, ?)
               ON CONFLICT (url, variant) DO UPDATE SET
                 compared = compared + ?, differing = differing + ?, differed_at = coalesce(?, differed_at),
                 digest = CASE WHEN valid_until <= ? THEN excluded.digest ELSE digest END,
                 valid_until = CASE WHEN valid_until <= ? THEN excluded.valid_until ELSE valid_until END""",
            *(url, variant, digest, now + lifetime_s, int(not is_expired), int(not is_same), None if is_same else now),
            *(now, now),
        )
        if is_expired:
            self._make_room()
        return is_same

    def list_pages(self) -> list[ObservedPage]:
        """Return the pages that were compared, those that differ most often first."""
        rows: Sequence[Any] = self.sql.rows(
            """SELECT url, variant, compared, differing, differed_at FROM observed
               ORDER BY differing DESC, compared DESC, url LIMIT ?""",
            MAX_LISTED,
        )
        return list(rows)

    def _make_room(self) -> None:
        """Drop the pages that have been equal for longest, so that their number stays bounded."""
        surplus = int(self.sql.value("SELECT count(*) FROM observed") or 0) - MAX_PAGES
        if surplus > 0:
            self.sql.run(
                """DELETE FROM observed WHERE (url, variant) IN (
                     SELECT url, variant FROM observed ORDER BY differing, valid_until LIMIT ?)""",
                surplus,
            )
