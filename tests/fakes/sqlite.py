"""Real SQLite with Cloudflare's limits and conversions, for D1 and for Durable Objects."""

import re
import sqlite3
import weakref
from typing import Any, Final

from fakes.binding import JsError, check_sendable

_LIMITS: Final = {
    sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 100,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000,
    sqlite3.SQLITE_LIMIT_LENGTH: 2_000_000,
    sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50,
}
_TRANSACTION: Final = re.compile(r"\s*(begin|commit|end|rollback|savepoint|release)\b", re.IGNORECASE)


class Engine:
    """One database in memory; its error messages start with `prefix`."""

    def __init__(self, prefix: str = "") -> None:
        self._prefix = prefix
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        # Python warns about a connection that is not closed before it is collected.
        weakref.finalize(self, self._connection.close)
        self._connection.execute("pragma foreign_keys = on")
        for limit, value in _LIMITS.items():
            self._connection.setlimit(limit, value)

    @property
    def total_changes(self) -> int:
        return self._connection.total_changes

    @property
    def last_row_id(self) -> int:
        return int(self._connection.execute("select last_insert_rowid()").fetchone()[0])

    def execute(self, sql: str, params: list[object]) -> list[dict[str, Any]]:
        """Return all rows, with numbers as in JavaScript."""
        if _TRANSACTION.match(sql):
            raise JsError(f"{self._prefix}To execute a transaction, please use the API instead of SQL statements.")
        values = [_bind_value(value) for value in params]
        try:
            cursor = self._connection.execute(sql, values)
            names = [column[0] for column in cursor.description or ()]
            return [dict(zip(names, map(_to_js_number, row), strict=True)) for row in cursor.fetchall()]
        except sqlite3.Error as error:
            raise JsError(self._prefix + _build_message(error)) from error

    def script(self, sql: str) -> None:
        """Run several statements, as in a migration file."""
        self._connection.executescript(sql)

    def begin(self) -> None:
        self._connection.execute("begin")

    def commit(self) -> None:
        self._connection.execute("commit")

    def rollback(self) -> None:
        self._connection.execute("rollback")


def _bind_value(value: object) -> object:
    """Return the value as bound: JavaScript has no integers, so numbers are REAL. A bool would become text and is refused."""
    check_sendable(value)
    if isinstance(value, bool | list | dict):
        raise JsError(f"Type '{type(value).__name__}' not supported for value '{value}'")
    return float(value) if isinstance(value, int) else value


def _to_js_number(value: Any) -> Any:
    number = float(value) if isinstance(value, int) else value
    return int(number) if isinstance(number, float) and number.is_integer() and abs(number) < 2**53 else number


def _build_message(error: sqlite3.Error) -> str:
    text = str(error)
    if "too large" in text or "too big" in text:
        return "statement too long: SQLITE_TOOBIG"
    if "number of bindings" in text or "bindings supplied" in text:
        return "Wrong number of parameter bindings for SQL query."
    extended = getattr(error, "sqlite_errorname", "SQLITE_ERROR")
    if extended.startswith("SQLITE_CONSTRAINT"):
        return f"{text}: SQLITE_CONSTRAINT (extended: {extended})"
    return f"{text}: {extended}"
