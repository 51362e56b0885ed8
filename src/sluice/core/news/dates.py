"""Reads the times that feeds and news services write: RFC 3339, RFC 2822 and what people make of them."""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

# An earlier time comes from a wrong clock: the first Bitcoin block is of this day.
_EARLIEST: Final = datetime(2009, 1, 3, tzinfo=UTC)
_MAX_CHARS: Final = 80
_MONTHS: Final = {
    name: number
    for number, names in enumerate(
        (
            *("jan ene janv gen", "feb févr fév", "mar mär mars märz", "apr abr avr", "may mai mag", "jun juin giu"),
            *("jul juil lug", "aug ago août", "sep set", "oct okt ott", "nov", "dec dez dic déc"),
        ),
        start=1,
    )
    for name in names.split()
}
_ZONES: Final = {
    **dict.fromkeys(("", "gmt", "ut", "utc", "z", "wet"), 0),
    "est": -5,
    "edt": -4,
    "cst": -6,
    "cdt": -5,
    "mst": -7,
    "mdt": -6,
    "pst": -8,
    "pdt": -7,
    "cet": 1,
    "mez": 1,
    "met": 1,
    "bst": 1,
    "cest": 2,
    "mesz": 2,
    "eet": 2,
    "eest": 3,
    "msk": 3,
    "ist": 5.5,
    "hkt": 8,
    "sgt": 8,
    "jst": 9,
    "kst": 9,
    "aest": 10,
    "aedt": 11,
}
_CLOCK: Final = r"(?:[\s,]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?\s*([ap]\.?m\.?)?)?"
_ZONE: Final = r"\s*(?:([+-])(\d{2}):?(\d{2})|\(?([a-z]{0,4})\)?)\s*(?:\([^)]*\))?"
_DAY_FIRST: Final = re.compile(
    rf"(?:[^\W\d]+\.?,?\s+)?(\d{{1,2}})\.?[\s-]+([^\W\d]+)\.?[\s-]+(\d{{4}}|\d{{2}}){_CLOCK}{_ZONE}"
)
_MONTH_FIRST: Final = re.compile(
    rf"(?:[^\W\d]+\.?,\s+)?([^\W\d]+)\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?,?\s+(\d{{4}}){_CLOCK}{_ZONE}"
)
_ASCTIME: Final = re.compile(r"(?:[a-z]+\s+)?([a-z]+)\s+(\d{1,2})\s+(\d{2}:\d{2}:\d{2})\s+(?:([a-z]{1,4})\s+)?(\d{4})")
_SLASHES: Final = re.compile(r"(\d{4})/(\d{1,2})/(\d{1,2})")
_END_OF_DAY: Final = re.compile(r"[T ]24:00(?::00)?")
_YEAR_MONTH: Final = re.compile(r"\d{4}-\d{2}")
_UNIX: Final = re.compile(r"\d{10}(?:\d{3})?")
_ISO_ZONE: Final = re.compile(r"\s*(?:utc|gmt)$", re.IGNORECASE)


def parse_time(value: object) -> datetime | None:
    """Return the time in UTC; a time without a zone is UTC. None for a text that is no time, or one before Bitcoin."""
    if not isinstance(value, str) or not value.strip() or len(value) > _MAX_CHARS:
        return None
    text = " ".join(value.split())
    try:
        time = _parse_iso(text) or _parse_words(text.lower())
        moment = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC) if time else None
    except (ValueError, OverflowError):
        return None
    return moment if moment and moment >= _EARLIEST else None


def _parse_iso(text: str) -> datetime | None:
    if _YEAR_MONTH.fullmatch(text):
        return datetime.fromisoformat(f"{text}-01")
    if _UNIX.fullmatch(text):
        return datetime.fromtimestamp(int(text[:10]), UTC)
    plain = _ISO_ZONE.sub("+00:00", _SLASHES.sub(r"\1-\2-\3", text)).upper()
    midnight, is_end_of_day = _END_OF_DAY.subn("T00:00", plain)
    try:
        return datetime.fromisoformat(midnight) + timedelta(days=is_end_of_day)
    except ValueError:
        return None


def _parse_words(text: str) -> datetime | None:
    text = _ASCTIME.sub(r"\1 \2, \5 \3 \4", text).strip()
    if found := _DAY_FIRST.fullmatch(text):
        day, month, year, *rest = found.groups()
    elif found := _MONTH_FIRST.fullmatch(text):
        month, day, year, *rest = found.groups()
    else:
        return None
    number = next((_MONTHS[month[:size]] for size in (4, 3) if month[:size] in _MONTHS), None)
    hour, minute, second, half, sign, hours, minutes, zone = rest
    if number is None or (zone or "") not in _ZONES:
        return None
    offset = timedelta(hours=int(hours or 0), minutes=int(minutes or 0)) * (-1 if sign == "-" else 1)
    if not sign:
        offset = timedelta(hours=_ZONES[zone or ""])
    start = datetime(_whole_year(int(year)), number, int(day), tzinfo=timezone(offset))
    return start + timedelta(
        hours=_whole_hour(int(hour or 0), half), minutes=int(minute or 0), seconds=int(second or 0)
    )


def _whole_year(year: int) -> int:
    return year if year > 99 else year + (2000 if year < 70 else 1900)


def _whole_hour(hour: int, half: str | None) -> int:
    """Return the time with hour 24 as the midnight at the end of the day."""
    if hour > 24:
        raise ValueError("a day has 24 hours")
    return hour if not half else hour % 12 + (12 if half.startswith("p") else 0)
