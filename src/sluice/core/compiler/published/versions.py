"""The versions of a published list: numbers and times that only grow, and the names of its patches."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final

MAX_VERSIONS: Final = 30
RESOURCE: Final = "list"
_MINUTES_OF_DAY: Final = 24 * 60
PATCH_PATTERN: Final = r"[0-9]{4}\.[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{1,6}-m-[0-9]{1,12}-[0-9]{1,9}\.patch"
_PATCH: Final = re.compile(PATCH_PATTERN)


class ListState(StrEnum):
    FRESH = "fresh"
    DEGRADED = "degraded"
    FAILED = "failed"


class SourceState(StrEnum):
    OK = "ok"
    LAST_GOOD = "last-good"
    MIRROR = "mirror"
    FAILED = "failed"


class BuildOutcome(StrEnum):
    PUBLISHED = "published"
    UNCHANGED = "unchanged"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class VersionStamp:
    """What tells a version from others; `minute` counts minutes since 1970 and grows by at least one each time."""

    version: int
    created_s: int
    minute: int


def stamp_version(previous: VersionStamp | None, now_s: float) -> VersionStamp:
    """Return the stamp of the next version: no clock that was set back makes a version look older than the last."""
    now = int(now_s)
    if previous is None:
        return VersionStamp(1, now, now // 60)
    return VersionStamp(previous.version + 1, max(now, previous.created_s + 1), max(now // 60, previous.minute + 1))


def name_patch(stamp: VersionStamp, period_minutes: int) -> str:
    """Return the file name of the patch that leads from this version to the next.

    One client takes the time from the date and the minute of the day, the other from the epoch and the period.
    """
    day, minute = divmod(stamp.minute, _MINUTES_OF_DAY)
    date = datetime.fromtimestamp(day * 86_400, UTC)
    epoch = min(stamp.created_s // 60, stamp.minute)
    return f"{date.year}.{date.month}.{date.day}.{minute}-m-{epoch}-{period_minutes}.patch"


def is_patch_name(name: str) -> bool:
    return _PATCH.fullmatch(name) is not None
