"""The published articles as rows of the state object, and their order, that of the index, in one row.

The object keeps a copy in memory while it lives: a run of the processor then reads a few rows, not every article.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.json_text import encode_json
from sluice.core.news.article import Article
from sluice.core.ports import Sql

_TABLES: Final = (
    """create table if not exists article (
      id text primary key, data text not null, changed_at_ms integer not null
    ) strict, without rowid""",
    "create table if not exists article_order (id integer primary key check (id = 1), ids text not null) strict",
    "insert or ignore into article_order values (1, '[]')",
    # `changes` counts the changes of the articles; a snapshot was written after the first `written` of them.
    """create table if not exists snapshot_state (
      id integer primary key check (id = 1), changes integer not null, written integer not null,
      changed_at_ms integer not null, index_version integer not null, is_legacy integer not null
    ) strict""",
    "insert or ignore into snapshot_state values (1, 0, -1, 0, 0, 0)",
)
# The text and title of the page, which belong to the publisher and are not served.
_UNPUBLISHED: Final = frozenset({"extractedContent", "pageTitle"})


def to_published(article: Article) -> Article:
    """Return an article without what was read from its page, and with what it is about."""
    # Only a request that publishes needs it.
    from sluice.core.news.topics.describe import describe_topics  # noqa: PLC0415 - rare

    kept = {name: value for name, value in article.data.items() if name not in _UNPUBLISHED}
    return Article({**kept, **describe_topics(article)})


@dataclass(frozen=True, slots=True)
class _Row:
    data: str
    changed_at_ms: int


@dataclass(slots=True)
class _StoredRows:
    """The rows as they are stored."""

    rows: dict[str, _Row]
    ids: list[str]


class PublishedRows:
    """Stores the published articles. Every change is one synchronous step, so that a snapshot never sees half of it."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._memory: _StoredRows | None = None
        for statement in _TABLES:
            sql.run(statement)

    @property
    def changes(self) -> int:
        return self._state("changes")

    @property
    def is_dirty(self) -> bool:
        """Whether the articles have changed since the last snapshot was written, or none was."""
        state = self._sql.rows("select changes, written from snapshot_state")[0]
        return state["changes"] != state["written"]

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
        copy = self._copy()
        return [article_id for article_id in copy.ids if article_id in copy.rows]

    def list_changed_around(self, time_ms: int, distance_ms: int) -> set[str]:
        """Return the articles that changed so near to a time, before it or, by a clock that was set back, after it."""
        rows = self._copy().rows
        return {article_id for article_id, row in rows.items() if abs(row.changed_at_ms - time_ms) < distance_ms}

    def read_all(self) -> list[Article]:
        rows = self._copy().rows
        found = (rows[article_id] for article_id in self.list_ids())
        return [Article({**json.loads(row.data), "changedAt": row.changed_at_ms}) for row in found]

    def replace(self, articles: Mapping[str, Article], ids: Sequence[str], now_ms: int) -> None:
        """Store these articles, and keep of the others only those in the index."""
        before = self._copy()
        kept = set(ids)
        texts = {each: encode_json(article.data) for each, article in articles.items() if each in kept}
        changed = {
            article_id: _Row(text, now_ms)
            for article_id, text in texts.items()
            if article_id not in before.rows or before.rows[article_id].data != text
        }
        removed = [article_id for article_id in before.rows if article_id not in kept]
        if not changed and not removed and before.ids == list(ids):
            return
        self._sql.transaction(lambda: self._store(changed, removed, encode_json(list(ids)), now_ms))
        rows = {article_id: row for article_id, row in {**before.rows, **changed}.items() if article_id in kept}
        self._memory = _StoredRows(rows, list(ids))

    def mark_written(self, changes: int) -> None:
        self._sql.run("update snapshot_state set written = ?", changes)

    def describe(self, *, index_version: int, is_legacy: bool, changed_at_ms: int = 0) -> None:
        """Store which index the articles belong to, and whether they are of the older architecture."""
        self._sql.run(
            "update snapshot_state set index_version = ?, is_legacy = ?, changed_at_ms = max(changed_at_ms, ?)",
            index_version,
            int(is_legacy),
            changed_at_ms,
        )

    def _store(self, changed: Mapping[str, _Row], removed: Sequence[str], ids: str, now_ms: int) -> None:
        for article_id, row in changed.items():
            self._sql.run("insert or replace into article values (?, ?, ?)", article_id, row.data, row.changed_at_ms)
        for article_id in removed:
            self._sql.run("delete from article where id = ?", article_id)
        self._sql.run("update article_order set ids = ?", ids)
        self._sql.run(
            "update snapshot_state set changes = changes + 1, changed_at_ms = max(?, changed_at_ms + 1)", now_ms
        )

    def _copy(self) -> _StoredRows:
        """Return the rows, which are read once in the life of the object."""
        if self._memory is None:
            rows = self._sql.rows("select id, data, changed_at_ms from article")
            by_id = {str(row["id"]): _Row(str(row["data"]), int(row["changed_at_ms"] or 0)) for row in rows}
            ids = json.loads(str(self._sql.value("select ids from article_order")))
            self._memory = _StoredRows(by_id, ids)
        return self._memory

    def _state(self, name: str) -> int:
        return int(self._sql.rows("select * from snapshot_state")[0][name] or 0)
