"""The published articles as rows of the state object, in the order of the index."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from sluice.core.json_text import encode_json
from sluice.core.news.article import Article
from sluice.core.ports import Sql

_TABLES: Final = (
    """create table if not exists published_article (
      id text primary key, place integer not null, data text not null, changed_at_ms integer not null
    ) strict, without rowid""",
    # `changes` counts the changes of the articles; a snapshot was written after the first `written` of them.
    """create table if not exists snapshot_state (
      id integer primary key check (id = 1), changes integer not null, written integer not null,
      changed_at_ms integer not null, index_version integer not null, is_legacy integer not null
    ) strict""",
    "insert or ignore into snapshot_state values (1, 0, -1, 0, 0, 0)",
)
# The text and title of the page, which belong to the publisher and are not served.
_UNPUBLISHED: Final = frozenset({"extractedContent", "pageTitle"})


def publishable(article: Article) -> dict[str, Any]:
    """Returns an article without what was read from its page."""
    return {name: value for name, value in article.data.items() if name not in _UNPUBLISHED}


class PublishedRows:
    """Every change is one synchronous step, so that a snapshot never sees half of it."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        for statement in _TABLES:
            sql.run(statement)

    @property
    def changes(self) -> int:
        return self._state("changes")

    @property
    def is_dirty(self) -> bool:
        """Whether the articles have changed since the last snapshot was written, or none was."""
        return self._state("changes") != self._state("written")

    @property
    def changed_at_ms(self) -> int:
        return self._state("changed_at_ms")

    @property
    def index_version(self) -> int:
        return self._state("index_version")

    @property
    def is_legacy(self) -> bool:
        return bool(self._state("is_legacy"))

    def list_ids(self) -> list[str]:
        return [str(row["id"]) for row in self._sql.rows("select id from published_article order by place")]

    def list_changed_after(self, time_ms: int) -> set[str]:
        rows = self._sql.rows("select id from published_article where changed_at_ms > ?", time_ms)
        return {str(row["id"]) for row in rows}

    def read_all(self) -> list[dict[str, Any]]:
        rows = self._sql.rows("select data, changed_at_ms from published_article order by place")
        return [{**json.loads(str(row["data"])), "changedAt": row["changed_at_ms"]} for row in rows]

    def count_second_looks(self) -> int:
        """Returns how many articles another analyst than the intended one has judged."""
        sql = "select count(*) from published_article where json_extract(data, '$.secondLook') is not null"
        return int(self._sql.value(sql) or 0)

    def replace(self, articles: Mapping[str, Mapping[str, Any]], ids: Sequence[str], now_ms: int) -> None:
        """Stores these articles, and keeps of the others only those in the index."""
        self._sql.transaction(lambda: self._replace(articles, ids, now_ms))

    def mark_written(self, changes: int) -> None:
        self._sql.run("update snapshot_state set written = ?", changes)

    def describe(self, *, index_version: int, is_legacy: bool, changed_at_ms: int = 0) -> None:
        """Stores which index the articles belong to, and whether they are of the older architecture."""
        self._sql.run(
            "update snapshot_state set index_version = ?, is_legacy = ?, changed_at_ms = max(changed_at_ms, ?)",
            index_version,
            int(is_legacy),
            changed_at_ms,
        )

    def _replace(self, articles: Mapping[str, Mapping[str, Any]], ids: Sequence[str], now_ms: int) -> None:
        before = self.list_ids()
        changed = [self._store(article_id, data, now_ms) for article_id, data in articles.items()]
        self._keep_in_order(encode_json(list(ids)))
        if any(changed) or self.list_ids() != before:
            self._sql.run(
                "update snapshot_state set changes = changes + 1, changed_at_ms = max(?, changed_at_ms + 1)", now_ms
            )

    def _store(self, article_id: str, data: Mapping[str, Any], now_ms: int) -> bool:
        return bool(
            self._sql.execute(
                """insert into published_article values (?, 0, ?, ?) on conflict (id) do update
                set data = excluded.data, changed_at_ms = excluded.changed_at_ms where data <> excluded.data""",
                article_id,
                encode_json(data),
                now_ms,
            )
        )

    def _keep_in_order(self, ids: str) -> None:
        """Deletes what is not in the index, and gives each article its place there; the index is JSON."""
        self._sql.run("delete from published_article where id not in (select value from json_each(?))", ids)
        self._sql.run(
            """update published_article set place = wanted.key from json_each(?) as wanted
            where wanted.value = published_article.id and place <> wanted.key""",
            ids,
        )

    def _state(self, name: str) -> int:
        return int(self._sql.rows("select * from snapshot_state")[0][name] or 0)
