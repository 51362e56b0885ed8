"""The Durable Object's side of the run lease: who holds it, and the last announced value of each key."""

from collections.abc import Sequence
from typing import Final

from sluice.core.errors import Conflict
from sluice.core.ports import Row, Sql
from sluice.services.news.run_lease.lease import Announcement, LastAnnouncement, LeaseGrant

_TABLES: Final = (
    """create table if not exists holder (
      id integer primary key check (id = 1), token text not null, until_ms integer not null
    ) strict""",
    "insert or ignore into holder values (1, '', 0)",
    """create table if not exists announced (
      key text primary key, version integer not null, first_at_ms integer not null, was_present integer not null,
      value text
    ) strict, without rowid""",
)
MAX_VALUE_BYTES: Final = 1_900_000  # a row holds 2 MB


class RunLock:
    """Grants the lease: it stores a row for the holder, and one for each key. Callers of the object have the same methods."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        for statement in _TABLES:
            sql.run(statement)

    async def acquire(self, token: str, now_ms: int, lease_ms: int) -> LeaseGrant:
        """Grant the lease with what was last announced, or say how long another holder's lease lasts."""
        # A lease that could not last so long is of a clock that was set back.
        self._sql.run("update holder set until_ms = ?1 where until_ms > ?1", now_ms + lease_ms)
        changed = self._sql.execute(
            "update holder set token = ?, until_ms = ? where token = '' or until_ms <= ?",
            token,
            now_ms + lease_ms,
            now_ms,
        )
        if not changed:
            until_ms = int(self._sql.value("select until_ms from holder") or 0)
            return LeaseGrant(is_granted=False, wait_ms=min(until_ms - now_ms, lease_ms))
        rows = self._sql.rows("select key, version, first_at_ms, was_present from announced")
        return LeaseGrant(is_granted=True, announced={str(row["key"]): _parse(row) for row in rows})

    async def renew(self, token: str, until_ms: int) -> None:
        """Extend the lease. Only its holder may, so no other run has begun to write."""
        if not self._sql.execute("update holder set until_ms = ? where token = ?", until_ms, token):
            raise Conflict("the run took longer than its lease, and another run has begun")

    async def announce(self, token: str, until_ms: int, now_ms: int, announcements: Sequence[Announcement]) -> None:
        await self.renew(token, until_ms)
        for announcement in announcements:
            self._announce(announcement, now_ms)

    async def load_announced(self, key: str) -> str | None:
        value = self._sql.value("select value from announced where key = ?", key)
        return None if value is None else str(value)

    async def release(self, token: str) -> None:
        self._sql.run("update holder set token = '', until_ms = 0 where token = ?", token)

    async def is_healthy(self) -> bool:
        """Return whether the object's database answers."""
        return self._sql.value("select count(*) from holder") == 1

    def _announce(self, announcement: Announcement, now_ms: int) -> None:
        value = announcement.value
        self._sql.run(
            """insert into announced values (?, ?, ?, ?, ?) on conflict (key) do update set
            version = excluded.version, was_present = max(was_present, excluded.was_present), value = excluded.value""",
            announcement.key,
            announcement.version,
            now_ms,
            int(announcement.was_present),
            value if len(value.encode()) <= MAX_VALUE_BYTES else None,
        )


def _parse(row: Row) -> LastAnnouncement:
    return LastAnnouncement(int(row["version"] or 0), int(row["first_at_ms"] or 0), bool(row["was_present"]))
