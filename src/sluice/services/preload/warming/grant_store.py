"""How fast an origin is asked: never more at once, in a second or in a minute than the zone allows.

A request counts against a window from the moment it is granted until the window's length after its answer has ended.
The origin saw it somewhere in between, so however long requests travel, no window at the origin holds more than the
limit. Grants are written down before the request is sent, so a crash forgets none.
"""

from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Sql
from sluice.core.preload.zone_config import ZoneConfig

# The origin may still be clearing up when we have its last byte.
SETTLE_S: Final = 0.25
# The origin may work on long after we have stopped waiting for it.
SETTLE_AFTER_TIMEOUT_S: Final = 15.0
# Two clocks and their rounding.
MARGIN_S: Final = 0.02
WINDOWS_S: Final = (1.0, 60.0)


@dataclass(frozen=True, slots=True)
class Limits:
    concurrency: int
    per_second: int
    per_minute: int

    @classmethod
    def of(cls, zone: ZoneConfig) -> "Limits":
        return cls(zone.preload_max_concurrency, zone.preload_rps_limit, zone.preload_rpm_limit)


@dataclass(frozen=True, slots=True)
class Throttle:
    sql: Sql

    def wait_s(self, limits: Limits, now: float) -> float | None:
        """Seconds until one more request may go out; None when only the end of one under way can tell."""
        waits = [self._slot_wait_s(limits.concurrency, now)]
        for window_s, limit in zip(WINDOWS_S, (limits.per_second, limits.per_minute), strict=True):
            waits.append(self._window_wait_s(window_s + MARGIN_S, limit, now))
        known = [wait for wait in waits if wait is not None]
        return max(known) if len(known) == len(waits) else None

    def grant(self, now: float) -> int:
        """Write down a request that is about to be sent."""
        self.sql.execute("DELETE FROM flight WHERE ended_at < ? AND slot_until < ?", now - max(WINDOWS_S) - 1, now)
        return int(self.sql.value("INSERT INTO flight (granted_at) VALUES (?) RETURNING id", now) or 0)

    def end(self, flight_id: int, now: float, *, settle_s: float = SETTLE_S) -> None:
        self.sql.execute("UPDATE flight SET ended_at = ?, slot_until = ? WHERE id = ?", now, now + settle_s, flight_id)

    def abandon(self, now: float, hold_s: float) -> None:
        """After a crash: nobody will ever tell the end of these, so they count as under way for a while yet."""
        self.sql.execute(
            "UPDATE flight SET ended_at = max(?, granted_at + ?), slot_until = max(?, granted_at + ?) WHERE ended_at IS NULL",
            *(now, hold_s, now, hold_s),
        )

    def in_flight(self, now: float) -> int:
        return self._count("ended_at IS NULL OR slot_until > ?", now)

    def _slot_wait_s(self, limit: int, now: float) -> float | None:
        return self._wait_for("slot_until", limit, 0.0, now)

    def _window_wait_s(self, window_s: float, limit: int, now: float) -> float | None:
        return self._wait_for("ended_at", limit, window_s, now)

    def _wait_for(self, column: str, limit: int, window_s: float, now: float) -> float | None:
        """Until so many have stopped counting that one more fits; one without an end counts for ever."""
        over = self._count(f"{column} > ?", now - window_s)
        excess = self._count("ended_at IS NULL") + over - limit
        if excess < 0:
            return 0.0
        if excess >= over:
            return None
        ends = f"SELECT {column} FROM flight WHERE {column} > ? ORDER BY {column} LIMIT 1 OFFSET ?"  # noqa: S608
        return max(0.0, float(self.sql.value(ends, now - window_s, excess) or 0) + window_s - now)

    def _count(self, condition: str, *params: object) -> int:
        return int(self.sql.value(f"SELECT count(*) FROM flight WHERE {condition}", *params) or 0)  # noqa: S608
