"""HTTP dates (RFC 9110, section 5.6.7): the one written form and the two old ones, without a clock."""

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


def format_http_date(moment: datetime) -> str:
    """`Sun, 06 Nov 1994 08:49:37 GMT`; the moment must know its time zone."""
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone has no HTTP date")
    utc = moment.astimezone(UTC)
    # By hand, because strftime follows the locale.
    day, month = _DAYS[utc.weekday()], _MONTHS[utc.month - 1]
    return f"{day}, {utc.day:02} {month} {utc.year:04} {utc:%H:%M:%S} GMT"


def parse_http_date(text: str | None) -> datetime | None:
    """The moment an HTTP date names, or None: a date nobody can read is to be ignored."""
    found = next(filter(None, (form.fullmatch(text or "") for form in _FORMS)), None)
    if found is None or found["month"] not in _MONTHS:
        return None
    month = _MONTHS.index(found["month"]) + 1
    day, hour, minute, second = (int(found[name]) for name in ("day", "hour", "minute", "second"))
    try:
        return datetime(_full_year(found["year"]), month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def _full_year(digits: str) -> int:
    year = int(digits)
    if len(digits) == 4:
        return year
    # HTTP was born in 1991, so a two-digit year from 70 on is of the last century.
    return 1900 + year if year >= 70 else 2000 + year
