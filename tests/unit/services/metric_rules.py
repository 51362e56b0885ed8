"""The rules of Prometheus for a page of metrics, those that `promtool check metrics` names and a few that scrapes need."""

import re
from collections.abc import Iterator

_COMMENT = re.compile(r"# (HELP|TYPE) (\S+) (.+)")
_SAMPLE = re.compile(r'([A-Za-z_:][A-Za-z0-9_:]*)(\{(?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)*\})? (\S+)')
_ABBREVIATIONS = {"s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d"}
_OTHER_UNITS = {"milliseconds", "microseconds", "nanoseconds", "minutes", "hours", "days", "weeks"} | {
    f"{prefix}bytes" for prefix in ("kilo", "mega", "giga", "tera", "kibi", "mebi", "gibi")
}
_TYPES = {"counter", "gauge", "histogram", "summary", "untyped"}
_RESERVED_ENDS = ("_bucket", "_count", "_sum")


def find_violations(page: str) -> list[str]:
    """Return everything that is wrong with the names, descriptions and samples of a page; the pages here have no histograms."""
    return [
        *_check_format(page),
        *(f"{name}: {text}" for name, kind in _types(page) for text in _check_name(name, kind)),
    ]


def _types(page: str) -> list[tuple[str, str]]:
    return [
        (found[2], found[3]) for line in page.splitlines() if (found := _COMMENT.fullmatch(line)) and found[1] == "TYPE"
    ]


def _check_name(name: str, kind: str) -> Iterator[str]:
    words = name.split("_")
    if kind not in _TYPES:
        yield f"{kind} is no type"
    if (kind == "counter") != name.endswith("_total"):
        yield "counters, and only they, end in _total"
    if bad := _ABBREVIATIONS & set(words):
        yield f"{min(bad)} is an abbreviation of a unit"
    if bad := _OTHER_UNITS & set(words):
        yield f"{min(bad)} is not the base unit"
    if bad := _TYPES & set(words):
        yield f"{min(bad)} is a type, which is no part of a name"
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or name.endswith(_RESERVED_ENDS):
        yield "not a name in small letters, or one with a reserved end"


def _check_format(page: str) -> Iterator[str]:
    """Each metric is described by HELP and TYPE before its samples, all of which stand together and differ in their labels."""
    described: dict[str, list[str]] = {}
    series: set[str] = set()
    current = ""
    for line in page.splitlines():
        if comment := _COMMENT.fullmatch(line):
            current = comment[2]
            described.setdefault(current, []).append(comment[1])
        elif not (sample := _SAMPLE.fullmatch(line)):
            yield f"not a line of the format: {line}"
        else:
            float(sample[3])
            if sample[1] != current:
                yield f"{sample[1]} stands below {current or 'nothing'}"
            if line.rpartition(" ")[0] in series:
                yield f"twice: {line.rpartition(' ')[0]}"
            series.add(line.rpartition(" ")[0])
    yield from (f"{name} is described by {found}" for name, found in described.items() if found != ["HELP", "TYPE"])
    if page and not page.endswith("\n"):
        yield "the last line does not end"
