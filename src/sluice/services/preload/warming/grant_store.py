"""The grants of a zone: stored in SQL before each request is sent, so that a crash forgets none.

The arithmetic is in `sluice.core.preload.rate_limits`. The few grants that still count are loaded once and kept in memory.
"""

from bisect import insort
from dataclasses import replace

from sluice.core.ports import Scalar, Sql
from sluice.core.preload.rate_limits import (
    MAX_HOLD_S,
    MINUTE_S,
    SETTLE_S,
    Grant,
    OriginLimits,
    count_in_flight,
    next_grant_wait_s,
)
from sluice.core.waits import clamp_wait


class GrantStore:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql
        self._under_way: dict[int, Grant] = {}
        self._finished: list[Grant] = []  # ordered by their end
        self._load()

    @property
    def grants(self) -> list[Grant]:
        """The grants that still count, ordered by their end, those under way last."""
        return [*self._finished, *self._under_way.values()]

    def next_wait_s(self, limits: OriginLimits, now: float) -> float | None:
        """Return the seconds until one more request may be sent; None when that depends on a request that is under way."""
        self._clamp_if_set_back(now)
        return next_grant_wait_s(self.grants, limits, now)

    def count_in_flight(self, now: float) -> int:
        self._clamp_if_set_back(now)
        return count_in_flight(self.grants, now)

    def grant(self, now: float) -> int:
        """Store a request that is about to be sent; return its id."""
        grant_id = int(self._sql.value("INSERT INTO flight (granted_at) VALUES (?) RETURNING id", now) or 0)
        self._under_way[grant_id] = Grant(now)
        self._forget_in_memory(now)
        return grant_id

    def end(self, grant_id: int, now: float, *, settle_s: float = SETTLE_S) -> None:
        """Store the end of a request; its slot is free after `settle_s`."""
        self._sql.run("UPDATE flight SET ended_at = ?, slot_until = ? WHERE id = ?", now, now + settle_s, grant_id)
        grant = self._under_way.pop(grant_id, None)
        if grant is not None:
            insort(self._finished, replace(grant, ended_at=now, slot_until=now + settle_s), key=lambda each: each.end)

    def abandon(self, now: float, hold_s: float) -> None:
        """End all requests after a crash. Nobody will see their real end, so they count as under way for `hold_s`."""
        self._sql.run(
            "UPDATE flight SET ended_at = max(?, granted_at + ?), slot_until = max(?, granted_at + ?) WHERE ended_at IS NULL",
            *(now, hold_s, now, hold_s),
        )
        self._load()
        self._clamp(now)

    def forget_old(self, now: float) -> None:
        """Delete the rows of grants that no longer count."""
        self._sql.run("DELETE FROM flight WHERE ended_at < ? AND slot_until < ?", now - MINUTE_S - 1, now)
        self._forget_in_memory(now)

    def _clamp_if_set_back(self, now: float) -> None:
        if self._finished and self._finished[-1].end > now + MAX_HOLD_S:
            self._clamp(now)

    def _clamp(self, now: float) -> None:
        """Let no grant count for longer than one that is abandoned now: the clock was set back since it was stored."""
        latest = now + MAX_HOLD_S
        self._sql.run(
            "UPDATE flight SET ended_at = min(ended_at, ?), slot_until = min(slot_until, ?) WHERE ended_at > ? OR slot_until > ?",
            *(latest, latest, latest, latest),
        )
        self._finished = [_clamp_end(each, now) for each in self._finished]

    def _forget_in_memory(self, now: float) -> None:
        while self._finished and not self._finished[0].still_counts(now):
            del self._finished[0]

    def _load(self) -> None:
        rows = self._sql.rows("SELECT * FROM flight ORDER BY ended_at")
        grants = {
            int(row["id"] or 0): _parse_grant(row["granted_at"], row["ended_at"], row["slot_until"]) for row in rows
        }
        self._under_way = {grant_id: grant for grant_id, grant in grants.items() if grant.ended_at is None}
        self._finished = [grant for grant in grants.values() if grant.ended_at is not None]


def _clamp_end(grant: Grant, now: float) -> Grant:
    return replace(
        grant,
        ended_at=clamp_wait(grant.end, now, MAX_HOLD_S),
        slot_until=None if grant.slot_until is None else clamp_wait(grant.slot_until, now, MAX_HOLD_S),
    )


def _parse_grant(granted_at: Scalar, ended_at: Scalar, slot_until: Scalar) -> Grant:
    return Grant(
        float(granted_at or 0),
        None if ended_at is None else float(ended_at),
        None if slot_until is None else float(slot_until),
    )
