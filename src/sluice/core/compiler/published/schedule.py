"""When a list is rebuilt: a cron expression in UTC, evaluated once an hour.

The minute field is checked and ignored: each list gets its own minute from its name, so that not all begin together.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from itertools import pairwise
from typing import Final, Self

DEFAULT_SCHEDULE: Final = "0 */6 * * *"
_FIELDS: Final = (("minute", 0, 59), ("hour", 0, 23), ("day of month", 1, 31), ("month", 1, 12), ("day of week", 0, 7))
_MONTHS: Final = {
    name: at
    for at, name in enumerate(["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1)
}
_DAYS: Final = {name: at for at, name in enumerate(["sun", "mon", "tue", "wed", "thu", "fri", "sat"])}
_CYCLE_DAYS: Final = 28 * 365 + 7  # after which every date is on the same day of the week again
_CYCLE_START: Final = date(2024, 1, 1).toordinal()
_MAX_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class CronSchedule:
    """The hours in which a list is rebuilt. If both day fields are restricted, either of them is enough, as in cron."""

    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    either_day: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse five fields; raise ValueError, which names the bad one."""
        parts = text.split() if len(text) <= _MAX_CHARS else []
        if len(parts) != len(_FIELDS):
            raise ValueError("is not a cron expression of five fields, such as 0 */6 * * *")
        _, hours, days, months, weekdays = (
            frozenset(_parse_field(part, *field)) for part, field in zip(parts, _FIELDS, strict=True)
        )
        either = not parts[2].startswith("*") and not parts[4].startswith("*")
        schedule = cls(hours, days, months, frozenset(day % 7 for day in weekdays), either)
        if schedule.shortest_gap_minutes() is None:
            raise ValueError("is never due: no such day exists")
        return schedule

    def is_due(self, at: datetime) -> bool:
        """Return whether the list is rebuilt in the hour of this time."""
        return at.hour in self.hours and self._has_day(at)

    def shortest_gap_minutes(self) -> int | None:
        """Return the shortest time between two builds; None if there is never one."""
        return _find_shortest_gap(self)

    def list_days(self) -> list[int]:
        """Return the days of a whole calendar cycle on which it is due, and the first of the next cycle."""
        days = [day for day in range(_CYCLE_DAYS) if self._has_day(date.fromordinal(_CYCLE_START + day))]
        return [*days, days[0] + _CYCLE_DAYS] if days else []

    def _has_day(self, day: date) -> bool:
        if day.month not in self.months:
            return False
        on_day, on_weekday = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        return on_day or on_weekday if self.either_day else on_day and on_weekday


@lru_cache(maxsize=128)
def _find_shortest_gap(schedule: CronSchedule) -> int | None:
    days, hours = schedule.list_days(), sorted(schedule.hours)
    if not days:
        return None
    within = [later - earlier for earlier, later in pairwise(hours)]
    between = min(later - earlier for earlier, later in pairwise(days)) * 24 + hours[0] - hours[-1]
    return min([*within, between]) * 60


def own_minute(name: str) -> int:
    """Return the minute of the hour in which a list of this name is rebuilt."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4]) % 60


def _parse_field(text: str, what: str, low: int, high: int) -> Iterator[int]:
    for item in text.split(","):
        span, slash, step_text = item.partition("/")
        step = _parse_number(step_text, what) if slash else 1
        if span == "*":
            first, last = low, high
        else:
            begin, dash, end = span.partition("-")
            first = _parse_number(begin, what)
            last = _parse_number(end, what) if dash else high if slash else first
        if not (low <= first <= last <= high and step >= 1):
            raise ValueError(f"has a {what} outside of {low} to {high}: {item[:20]}")
        yield from range(first, last + 1, step)


def _parse_number(text: str, what: str) -> int:
    names = _MONTHS if what == "month" else _DAYS if what == "day of week" else {}
    if (named := names.get(text.lower())) is not None:
        return named
    if not (text.isascii() and text.isdigit() and len(text) <= 2):
        raise ValueError(f"has a {what} that is no number: {text[:20]!r}")
    return int(text)
