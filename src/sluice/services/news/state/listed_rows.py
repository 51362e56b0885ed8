"""What the sources list and is known: remembered as long as they list it, so that it is not processed again."""

import json
from collections.abc import Sequence
from typing import Final

from sluice.core.json_text import encode_json
from sluice.core.news.article import Marks
from sluice.core.ports import Sql
from sluice.services.news.state.remote_state import UpdateReport

MAX_PER_SOURCE: Final = 500  # a feed has 200 articles at most; the rest is what it listed before
MAX_REMEMBERED: Final = 30_000  # of all sources together, 130 bytes each
_TABLE: Final = "create table if not exists listed (source text primary key, items text not null) strict, without rowid"


class ListedRows:
    """Stores what each source lists, in one row. A source that fails or has not changed keeps what it has."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        sql.run(_TABLE)

    def read(self) -> list[Marks]:
        """Return what is remembered, of each source the latest."""
        rows = self._sql.rows("select items from listed")
        share = MAX_REMEMBERED // max(1, len(rows))
        return [item for row in rows for item in json.loads(str(row["items"]))[:share]]

    def store(self, report: UpdateReport) -> None:
        """Store what a run of the updater has listed, and forget sources that are no longer configured."""
        for source, items in report.listed.items():
            self._merge(source, items)
        names = [source["name"] for source in report.sources]
        self._sql.run("delete from listed where source not in (select value from json_each(?))", encode_json(names))

    def _merge(self, source: str, items: Sequence[Marks]) -> None:
        stored = self._sql.value("select items from listed where source = ?", source)
        listed = {(item[0], item[1]) for item in items}
        before = [item for item in json.loads(str(stored or "[]")) if (item[0], item[1]) not in listed]
        text = encode_json([*items, *before][:MAX_PER_SOURCE])
        if text != stored:
            self._sql.run("insert or replace into listed values (?, ?)", source, text)
