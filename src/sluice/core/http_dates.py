"""HTTP dates (RFC 9110, section 5.6.7): formats the current form, parses it and the two obsolete ones, needs no clock."""

import re
from datetime import UTC, datetime

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_TIME = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2})"
_FORMS = (
    re.compile(rf"[A-Z][a-z]{{2}}, (?P<day>[0-9]{{2}}) (?P<month>[A-Z][a-z]{{2}}) (?P<year>[0-9]{{4}}) {_TIME} GMT"),
    re.compile(rf"[A-Z][a-z]+, (?P<day>[0-9]{{2}})-(?P<month>[A-Z][a-z]{{2}})-(?P<year>[0-9]{{2}}) {_TIME} GMT"),
    re.compile(rf"[A-Z][a-z]{{2}} (?P<month>[A-Z][a-z]{{2}}) (?P<day>[0-9 ][0-9]) {_TIME} (?P<year>[0-9]{{4}})"),
)


def format_http_date(time: datetime) -> str:
    """Format as `Sun, 06 Nov 1994 08:49:37 GMT`; raise ValueError for a time without a time zone."""
    if time.tzinfo is None:
        raise ValueError("a time without a time zone has no HTTP date")
    utc = time.astimezone(UTC)
    # Not strftime, which follows the locale.
    day, month = _DAYS[utc.weekday()], _MONTHS[utc.month - 1]
    return f"{day}, {utc.day:02} {month} {utc.year:04} {utc:%H:%M:%S} GMT"


def parse_http_date(text: str | None) -> datetime | None:
    """Parse an HTTP date; return None for any other text, because a malformed date is to be ignored."""
    match = next(filter(None, (form.fullmatch(text or "") for form in _FORMS)), None)
    if match is None or match["month"] not in _MONTHS:
        return None
    month = _MONTHS.index(match["month"]) + 1
    day, hour, minute, second = (int(match[name]) for name in ("day", "hour", "minute", "second"))
    try:
        return datetime(_full_year(match["year"]), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 4:
        return year
    # HTTP exists since 1991, so a two-digit year from 70 on belongs to the last century.
    return 1900 + year if year >= 70 else 2000 + year
