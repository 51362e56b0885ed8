"""The Durable Object's side of the run lease: who holds it, and the last announced version, in the object's database."""

from typing import Final

from sluice.core.errors import Conflict
from sluice.core.ports import Sql

_TABLE: Final = """
create table if not exists run_lock (
  id integer primary key check (id = 1),
  token text not null,
  until_ms integer not null,
  version integer not null,
  announced_at_ms integer not null
)
"""


class RunLock:
    """The only row of the table."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._sql.execute(_TABLE)
        self._sql.execute("insert or ignore into run_lock values (1, '', 0, 0, 0)")

    def acquire(self, token: str, now_ms: int, lease_ms: int) -> dict[str, int] | None:
        """Returns what was last announced; None while another holder's lease lasts."""
        changed = self._sql.execute(
            "update run_lock set token = ?, until_ms = ? where token = '' or until_ms <= ?",
            token,
            now_ms + lease_ms,
            now_ms,
        )
        if not changed:
            return None
        row = self._sql.rows("select version, announced_at_ms from run_lock")[0]
        return {"version": int(row["version"] or 0), "announced_at_ms": int(row["announced_at_ms"] or 0)}

    def announce(self, token: str, version: int, now_ms: int, lease_ms: int) -> None:
        """Stores the version and renews the lease. Only the holder may, so no other run has begun to write."""
        changed = self._sql.execute(
            "update run_lock set version = ?, announced_at_ms = ?, until_ms = ? where token = ?",
            version,
            now_ms,
            now_ms + lease_ms,
            token,
        )
        if not changed:
            raise Conflict("the run took longer than its lease, and another run has begun")

    def release(self, token: str) -> None:
        self._sql.execute("update run_lock set token = '', until_ms = 0 where token = ?", token)

    def is_healthy(self) -> bool:
        """Whether the object's database answers."""
        return self._sql.value("select count(*) from run_lock") == 1
