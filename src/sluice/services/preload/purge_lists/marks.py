"""The purges of a zone as its object keeps them: one row for each tag, URL or prefix, with the number of its latest purge.

Numbers and not times decide everywhere: a Worker's clock stands still between events, and no two machines agree. A row
goes only when no stored copy is older than its purge (`Purger.forget_marks`), so neither a crash nor a soft purge makes
an old copy valid again.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Row, Sql
from sluice.core.preload.purge_list import EVERYTHING, MAX_MARKS, Mark, PurgeList, PurgeVerdict, list_scopes
from sluice.core.preload.purges import Purge

# No edge keeps a copy longer than 300 s, and nobody reads a list that is older than that.
KEPT_S: Final = 660.0


@dataclass(frozen=True, slots=True)
class PurgeMarks:
    sql: Sql

    def add(self, purge: Purge) -> int:
        """Give a purge its number; from now on older copies of what it covers are not valid."""
        seq = int(self.sql.value("UPDATE tally SET n = n + 1 WHERE name = 'purge_seq' RETURNING n") or 0)
        self.sql.run(
            """INSERT INTO mark SELECT value, ?, ?, ? FROM json_each(?) WHERE true
               ON CONFLICT (scope) DO UPDATE SET seq = excluded.seq, hard_seq = max(hard_seq, excluded.hard_seq),
                 at = excluded.at""",
            *(seq, 0 if purge.soft else seq, purge.created_at, json.dumps(list_scopes(purge))),
        )
        if int(self.sql.value("SELECT count(*) FROM mark") or 0) > MAX_MARKS:
            self._replace_all(purge.created_at)
        return seq

    def load(self) -> PurgeList:
        return PurgeList(self.latest(), _parse_marks(self.sql.rows("SELECT scope, seq, hard_seq FROM mark")))

    def latest(self) -> int:
        """Return the number of the latest purge."""
        return int(self.sql.value("SELECT n FROM tally WHERE name = 'purge_seq'") or 0)

    async def judge(self, url: str, tags: Collection[str], seq: int) -> PurgeVerdict:
        """Return what purges after this number say about a copy of a page."""
        return self.load().judge(url, tags, seq)

    def list_old(self, now: float, limit: int, *, latest_seq: int) -> dict[str, Mark]:
        """Return the oldest rows, up to a number, of purges that are carried out and of which no edge has an older copy any more."""
        rows = self.sql.rows(
            """SELECT scope, seq, hard_seq FROM mark WHERE at < ? AND seq <= ? AND NOT EXISTS (SELECT 1 FROM purge)
               ORDER BY at LIMIT ?""",
            *(now - KEPT_S, latest_seq, limit),
        )
        return _parse_marks(rows)

    def forget(self, marks: Mapping[str, Mark]) -> None:
        """Delete rows that no later purge has changed."""
        self.sql.run(
            """DELETE FROM mark WHERE (scope, seq) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?))""",
            json.dumps([[scope, mark.seq] for scope, mark in marks.items()]),
        )

    def _replace_all(self, now: float) -> None:
        """Store one purge of everything in place of very many rows."""
        [row] = self.sql.rows("SELECT max(seq) AS seq, max(hard_seq) AS hard_seq FROM mark")
        self.sql.run("DELETE FROM mark")
        self.sql.run("INSERT INTO mark VALUES (?, ?, ?, ?)", EVERYTHING, row["seq"], row["hard_seq"], now)


def _parse_marks(rows: Iterable[Row]) -> dict[str, Mark]:
    return {str(row["scope"]): Mark(int(row["seq"] or 0), int(row["hard_seq"] or 0)) for row in rows}
