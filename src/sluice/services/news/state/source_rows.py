"""The sources in the state object: what each last answered, and whether the operator was told that it fails."""

import json
from typing import Final, Literal, NotRequired, TypedDict, cast

from sluice.core.json_text import encode_json
from sluice.core.ports import Sql
from sluice.services.news.state.remote_state import SourceReport, SourceState, StoredFeed, UpdateReport, UpdaterState

# Since the last run of the updater, which is due every hour or, by the document, less often.
OVERDUE_MS: Final = 150 * 60_000
FAILURES_TO_ALERT: Final = 2  # in a row; one failed run may be a restart at the other end
_MAX_SOURCES: Final = 1000
_TABLES: Final = (
    """create table if not exists source (
      name text primary key, last_success_ms integer, last_error text not null default '', last_error_ms integer,
      items integer not null default 0, conditional_hits integer not null default 0, failures integer not null default 0,
      is_alerted integer not null default 0, seen_ms integer not null
    ) strict, without rowid""",
    "create table if not exists feed (url text primary key, state text not null) strict, without rowid",
    """create table if not exists updater_run (
      id integer primary key check (id = 1), started_ms integer not null, finished_ms integer not null,
      is_alerted integer not null
    ) strict""",
    "insert or ignore into updater_run values (1, 0, 0, 0)",
)
_COUNT: Final = """
insert into source (name, seen_ms) values (?1, ?2) on conflict (name) do update set seen_ms = ?2
"""
_SUCCEED: Final = """
update source set last_success_ms = ?2, failures = 0, items = iif(?3 = 'read', ?4, items),
conditional_hits = conditional_hits + (?3 = 'unchanged') where name = ?1
"""
_FAIL: Final = "update source set last_error = ?2, last_error_ms = ?3, failures = failures + 1 where name = ?1"


_DESCRIBE: Final = """
select name, last_success_ms as lastSuccess, nullif(last_error, '') as lastError, last_error_ms as lastErrorAt, items,
conditional_hits as conditionalHits, failures from source order by name
"""


class Alert(TypedDict):
    """What the operator is told."""

    type: Literal["source-failing", "source-recovered", "updater-silent", "updater-recovered"]
    source: NotRequired[str]
    error: NotRequired[str]
    consecutiveFailures: NotRequired[int]
    lastRun: NotRequired[int]
    at: int


class SourceRows:
    """Stores what each source answered last; each run of the updater writes it."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        for statement in _TABLES:
            sql.run(statement)

    def begin_update(self, now_ms: int) -> dict[str, StoredFeed]:
        """Note that a run has started, and return what is known of each feed."""
        self._sql.run("update updater_run set started_ms = ?", now_ms)
        feeds = self._sql.rows("select url, state from feed")
        return {str(row["url"]): json.loads(str(row["state"])) for row in feeds}

    def finish_update(self, report: UpdateReport, now_ms: int) -> list[Alert]:
        """Store the report of a run; return the alerts that it gives rise to."""
        return self._sql.transaction(lambda: self._store(report, now_ms))

    def clamp_waits(self, now_ms: int) -> None:
        """Let the last run end now at the latest: the clock was set back."""
        self._sql.run("update updater_run set finished_ms = ?1 where finished_ms > ?1", now_ms)

    def next_check_ms(self) -> int | None:
        """Return when the updater is overdue unless it runs; None if it never ran, or the operator knows."""
        finished_ms = int(self._sql.value("select finished_ms from updater_run") or 0)
        return finished_ms + OVERDUE_MS if finished_ms and not self._is_overdue_alerted() else None

    def find_overdue(self, now_ms: int) -> list[Alert]:
        """Return an alert if the updater has been silent for too long, once."""
        due_ms = self.next_check_ms()
        if due_ms is None or now_ms < due_ms:
            return []
        self._sql.run("update updater_run set is_alerted = 1")
        return [{"type": "updater-silent", "lastRun": due_ms - OVERDUE_MS, "at": now_ms}]

    def _is_overdue_alerted(self) -> bool:
        return bool(self._sql.value("select is_alerted from updater_run"))

    def describe(self) -> UpdaterState:
        run = self._sql.rows("select started_ms as startedAt, finished_ms as finishedAt from updater_run")[0]
        return cast("UpdaterState", {**run, "sources": cast("list[SourceState]", self._sql.rows(_DESCRIBE))})

    def _store(self, report: UpdateReport, now_ms: int) -> list[Alert]:
        for source in report.sources[:_MAX_SOURCES]:
            self._store_source(source, now_ms)
        for url, state in report.feeds.items():
            self._sql.run("insert or replace into feed values (?, ?)", url, encode_json(state))
        self._forget_removed(report, now_ms)
        returned: list[Alert] = [{"type": "updater-recovered", "at": now_ms}] if self._is_overdue_alerted() else []
        self._sql.run("update updater_run set finished_ms = ?, is_alerted = 0", now_ms)
        return [*returned, *self._open_alerts(now_ms), *self._close_alerts(now_ms)]

    def _store_source(self, source: SourceReport, now_ms: int) -> None:
        name, outcome = source["name"], source["outcome"]
        self._sql.run(_COUNT, name, now_ms)
        if outcome == "failed":
            self._sql.run(_FAIL, name, source["error"], now_ms)
        elif outcome != "postponed":
            self._sql.run(_SUCCEED, name, now_ms, outcome, source["items"])

    def _forget_removed(self, report: UpdateReport, now_ms: int) -> None:
        """Forget sources that are no longer configured."""
        self._sql.run("delete from source where seen_ms <> ?", now_ms)
        if report.feeds:
            self._sql.run(
                "delete from feed where url not in (select value from json_each(?))", encode_json(list(report.feeds))
            )

    def _open_alerts(self, now_ms: int) -> list[Alert]:
        rows = self._sql.rows(
            "select name, last_error, failures from source where failures >= ? and is_alerted = 0", FAILURES_TO_ALERT
        )
        self._sql.run("update source set is_alerted = 1 where failures >= ?", FAILURES_TO_ALERT)
        return [
            {
                "type": "source-failing",
                "source": str(row["name"]),
                "error": str(row["last_error"]),
                "consecutiveFailures": int(row["failures"] or 0),
                "at": now_ms,
            }
            for row in rows
        ]

    def _close_alerts(self, now_ms: int) -> list[Alert]:
        rows = self._sql.rows("select name from source where failures = 0 and is_alerted = 1")
        self._sql.run("update source set is_alerted = 0 where failures = 0")
        return [{"type": "source-recovered", "source": str(row["name"]), "at": now_ms} for row in rows]
