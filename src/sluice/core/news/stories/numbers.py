"""Reads the numbers of a headline with their types; numbers are compared with their own type only."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

_UNITS: Final = {
    **dict.fromkeys(("k", "thousand"), 1e3),
    **dict.fromkeys(("m", "mn", "mln", "million"), 1e6),
    **dict.fromkeys(("b", "bn", "billion"), 1e9),
    **dict.fromkeys(("t", "tn", "trillion"), 1e12),
}
_ADJECTIVE: Final = r"(?:(?:more|another|seized|additional|new|extra) )?"
_AMOUNT: Final = re.compile(
    r"(?P<sign>[$€£¥])?\s?(?P<digits>\d[\d,]*(?:\.\d+)?)\s?(?P<unit>k|thousand|m|mn|mln|million|b|bn|billion|t|tn|trillion)?\b"
    rf"(?P<rest>[\s-]?{_ADJECTIVE}(?:%|percent|per cent|basis[ -]points?|bps?\b|btc\b|bitcoins?|coins?|years?|days?|weeks?|"
    r"months?|hours?|dollars|zettahash\w*|zh/s|exahash\w*|eh/s|megawatts?\b|mw\b|gigawatts?\b|gw\b))?"
)
COUNTS: Final = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
_ANY_COUNT: Final = "|".join(COUNTS[1:])
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_WORDS: Final = {word: at for at, word in enumerate(COUNTS)} | {word: 10 * at for at, word in enumerate(_TENS, 2)}
_SPELLED: Final = re.compile(
    rf"\b({'|'.join(_WORDS)})(?:-({'|'.join(COUNTS[1:10])}))?(?:( hundred| dozen)\b|"
    r"(?=\s(?:thousand|million|billion|trillion|percent|per cent|basis|btc|bitcoins?\b|dollars|gigawatts?|megawatts?|zettahash)))"
)
_PHRASES: Final = (
    ("half a million", "500,000"),
    ("half a billion", "500 million"),
    (" a dollar", " $1"),
    (" to zero", " to 0%"),
)
_NO_SPAN: Final = re.compile(r"\b(?:one|single|24)[ -](?:day|hours?)\b")
_SPAN: Final = re.compile(
    rf"\b({_ANY_COUNT})[ -](?:daily |straight |consecutive )?(?:days?|weeks?|months?|years?|declines|losses|sessions)\b"
)
_COUNT: Final = re.compile(rf"\b({_ANY_COUNT})\b(?![ -](?:day|week|month|year|quarter|time|of)\b)")
_MONTHS: Final = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_SHORT: Final = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|"
    r"nov(?:ember)?|dec(?:ember)?)"
)
_DATE: Final = re.compile(rf"\b(?:(\d{{1,2}})(?:st|nd|rd|th)? {_SHORT}\b|{_SHORT}\.? (\d{{1,2}})\b(?!,\d|\d))")
_MONTH: Final = re.compile(
    rf"\b({'|'.join(month for month in _MONTHS if month != 'may')}|(?<=in )may|(?<=since )may|(?<=to )may|(?<=by )may)\b"
)
_QUARTER: Final = re.compile(r"\bq([1-4])\b|\b(first|second|third|fourth)[- ]quarter\b")
_ORDINALS: Final = ("", "first", "second", "third", "fourth")
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY: Final = re.compile(rf"\b({'|'.join(_WEEKDAYS)})\b")
_VERSION: Final = re.compile(r"\b(?:core|version|firmware|release|v)\s?(\d+(?:\.\d+)+)\b")
_FRACTIONS: Final = {
    "a tenth": ("percent", 10.0),
    "a quarter of": ("percent", 25.0),
    "a third of": ("percent", 33.0),
    "quarter-point": ("points", 25.0),
    "quarter point": ("points", 25.0),
    "half-point": ("points", 50.0),
}
_BY_UNIT: Final = (
    (("%", "percent", "per cent"), "percent"),
    (("basis", "bp"), "points"),
    (("btc", "bitcoin", "coin"), "coins"),
    (("year", "day", "week", "month", "hour"), "span"),
    (("dollars",), "money"),
    (("zettahash", "zh", "exahash", "eh"), "hash"),
    (("megawatt", "mw", "gigawatt", "gw"), "power"),
)
_LARGE: Final = ("zettahash", "zh", "gigawatt", "gw")  # a thousand of the smaller unit
_MONTHS_OF_YEAR: Final = 12
_VAGUE: Final = frozenset({"count", "month", "span", "weekday", "year"})
LARGE_COUNT: Final = 1_000
_MAX_STEP: Final = 0.05  # a round number is given more exactly than its zeros say


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its type. `step` is how exactly it is given: 1,000 for $126K, 100 for $101.2K."""

    type: str
    value: float
    step: float = 0.0

    @property
    def is_specific(self) -> bool:
        """Whether two events hardly share it by chance."""
        return self.type not in _VAGUE or self.value != int(self.value) or self.value >= 13

    def equals(self, other: "Number") -> bool:
        if {self.type, other.type} == {"percent", "points"}:
            points = {each.type: each.value * (100 if each.type == "percent" else 1) for each in (self, other)}
            return abs(points["percent"] - points["points"]) < 1e-6
        # "$130,000" and "the 130K mark"
        is_alike = self.type == other.type or (
            {self.type, other.type} == {"count", "money"} and self.value >= LARGE_COUNT
        )
        return is_alike and abs(self.value - other.value) <= max(self.step, other.step) / 2 + 1e-9


def find_numbers(text: str) -> Iterator[Number]:
    """Yield the numbers of a text in lower case."""
    readers: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Number]], ...] = (
        (_DATE, _read_date),
        (_QUARTER, lambda found: Number("quarter", float(found[1] or _ORDINALS.index(found[2])))),
        (_VERSION, _read_version),
        (_SPAN, lambda found: Number("span", float(COUNTS.index(found[1])))),
        (_WEEKDAY, lambda found: Number("weekday", float(_WEEKDAYS.index(found[1])))),
        (_MONTH, lambda found: Number("month", float(_MONTHS.index(found[1])))),
        (_AMOUNT, _read_amount),
        (_COUNT, lambda found: Number("count", float(COUNTS.index(found[1])))),
    )
    for phrase, figure in _PHRASES:
        text = text.replace(phrase, figure)
    text = _NO_SPAN.sub(" ", _SPELLED.sub(_spell, text))
    yield from (Number(*number) for phrase, number in _FRACTIONS.items() if phrase in text)
    for pattern, read in readers:
        yield from map(read, pattern.finditer(text))
        # What one pattern took is not there for the next.
        text = pattern.sub(" ", text)


def _spell(found: "re.Match[str]") -> str:
    value = _WORDS[found[1]] + (_WORDS[found[2]] if found[2] else 0)
    return str(value * {" hundred": 100, " dozen": 12}.get(found[3] or "", 1))


def _read_date(found: "re.Match[str]") -> Number:
    month = (found[2] or found[3])[:3]
    number = next(at for at, name in enumerate(_MONTHS) if name.startswith(month))
    return Number("date", 100.0 * number + int(found[1] or found[4]))


def _read_version(found: "re.Match[str]") -> Number:
    return Number("version", sum(float(part) / 1000**at for at, part in enumerate(found[1].split(".")[:4])))


def _read_amount(found: "re.Match[str]") -> Number:
    digits = found["digits"].replace(",", "")
    unit = _UNITS.get(found["unit"] or "", 1.0)
    value = float(digits) * unit
    rest = re.sub(rf"^[\s-]?{_ADJECTIVE}", "", found["rest"] or "")
    kind = "money" if found["sign"] else _find_type(rest)
    if rest.startswith(_LARGE):
        value *= 1_000
    if rest.startswith("month") and value >= _MONTHS_OF_YEAR:
        value /= _MONTHS_OF_YEAR  # "60 months" are "five years"
    if not kind:
        kind = "year" if 1990 <= value <= 2100 and unit == 1 else "count"
    is_rounded = kind in {"money", "coins"} or unit > 1
    return Number(kind, value, min(_place(digits) * unit, _MAX_STEP * value) if is_rounded else 0.0)


def _find_type(rest: str) -> str:
    return next((kind for starts, kind in _BY_UNIT if rest.startswith(starts)), "")


def _place(digits: str) -> float:
    """Return the place of the last digit that is not zero."""
    whole, _, part = digits.partition(".")
    if part:
        return float(10 ** -len(part))
    return float(10 ** (len(whole) - len(whole.rstrip("0")))) if whole.strip("0") else 1.0
