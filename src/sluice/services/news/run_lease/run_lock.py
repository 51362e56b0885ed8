"""A turn that one run holds at a time, and what was last announced under it; kept in a Durable Object, so never stale."""

from typing import Any, Final

from sluice.core.errors import Conflict
from sluice.platform.durable_objects import Sql

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
    """The one row of the object's own database."""

    def __init__(self, storage: Any) -> None:
        self._sql = Sql(storage)
        self._sql.execute(_TABLE)
        self._sql.execute("insert or ignore into run_lock values (1, '', 0, 0, 0)")

    def take(self, token: str, now_ms: int, lease_ms: int) -> dict[str, int] | None:
        """Whatever was announced before; None while another holder's lease lasts."""
        taken = self._sql.execute(
            "update run_lock set token = ?, until_ms = ? where token = '' or until_ms <= ?",
            token,
            now_ms + lease_ms,
            now_ms,
        )
        if not taken:
            return None
        row = self._sql.rows("select version, announced_at_ms from run_lock")[0]
        return {"version": int(row["version"] or 0), "announced_at_ms": int(row["announced_at_ms"] or 0)}

    def announce(self, token: str, version: int, now_ms: int, lease_ms: int) -> None:
        """Only the holder may, and so knows that nobody else has begun to write."""
        told = self._sql.execute(
            "update run_lock set version = ?, announced_at_ms = ?, until_ms = ? where token = ?",
            version,
            now_ms,
            now_ms + lease_ms,
            token,
        )
        if not told:
            raise Conflict("the run took longer than its lease, and another has begun")

    def release(self, token: str) -> None:
        self._sql.execute("update run_lock set token = '', until_ms = 0 where token = ?", token)

    def answers(self) -> bool:
        return self._sql.value("select count(*) from run_lock") == 1
