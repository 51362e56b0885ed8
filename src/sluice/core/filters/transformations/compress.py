"""Compress: hosts lines and bare domains become `||host^`, and what a wider such rule covers goes.

A line that blocks one host and its subdomains has that `||host^` as its key; all other lines have none and stay.
"""

import re
from collections.abc import Container, Iterable, Iterator
from typing import Final, TypeAlias

from sluice.core.filters.syntax.domains import is_compressible, is_plain_domain
from sluice.core.filters.syntax.hosts import hostnames_of, is_hosts_rule
from sluice.core.filters.syntax.rules import parse
from sluice.core.filters.transformations.transformation import Dropped, Trace, Transformation

# No domain name is longer, so no longer rule covers one; it also bounds the work for a line of a million dots.
_MAX_DOMAIN: Final = 255

# The two kinds of line that fill DNS lists, a compressible rule and a hosts rule with one hostname, by one match.
_COMMON_LINE: Final = re.compile(r"\|\|[a-z0-9.-]+\^|[0-9.]+[ \t]+([a-z0-9._-]+)")

# A text to come out, and its key or "".
_Entry: TypeAlias = tuple[str, str]


class _Compress:
    def apply(self, lines: list[str]) -> list[str]:
        # A dict keeps the order and the first of each; what has no key takes part under a number, unequal to any text.
        texts: dict[str | int, str] = {}
        for line, common in zip(lines, map(_COMMON_LINE.fullmatch, lines), strict=True):
            if common:
                rule = f"||{common[1]}^" if common[1] else line
                texts.setdefault(rule, rule)
            else:
                for text, key in _entries(line):
                    texts.setdefault(key or len(texts), text)
        return [text for key, text in texts.items() if isinstance(key, int) or not _is_covered(key, texts)]

    def trace(self, lines: list[str]) -> Trace:
        known = {key for line in lines for _, key in _entries(line) if key}
        fewest = _fewest_dots(known)
        seen: set[str] = set()
        trace = Trace([], [], [])
        for index, line in enumerate(lines):
            for text, key in _entries(line):
                if reason := _reason(key, seen, known, fewest):
                    trace.dropped.append(Dropped(index, text, reason))
                else:
                    trace.lines.append(text)
                    trace.origins.append(index)
                seen.add(key)
        return trace


def _entries(line: str) -> Iterable[_Entry]:
    if common := _COMMON_LINE.fullmatch(line):
        rule = f"||{common[1]}^" if common[1] else line
        return ((rule, rule),)
    if is_hosts_rule(line):
        return _host_entries(line)
    if is_plain_domain(line):
        rule = f"||{line}^"
        return ((rule, rule),)
    return ((line, _key(line)),)


def _host_entries(line: str) -> Iterator[_Entry]:
    rule = ""
    for hostname in hostnames_of(line):
        rule = f"||{hostname}^"
        yield rule, rule
    if not rule:
        yield line, ""


def _key(line: str) -> str:
    """Key of a rule that is more than a bare `||host^`: white space around it, or a `$` without modifiers."""
    if "||" not in line:
        return ""
    rule = parse(line)
    if rule is None or rule.exception or rule.modifiers or not is_compressible(rule.pattern):
        return ""
    return rule.pattern


def _fewest_dots(keys: Iterable[str]) -> int:
    return min((key.count(".") for key in keys), default=0)


def _is_covered(key: str, known: Container[object]) -> bool:
    """Whether any wider rule is known: what `_wider` tells, in a third of the time."""
    if len(key) > _MAX_DOMAIN:
        return bool(_wider(key, known, 0))
    _, dot, rest = key.partition(".")
    while dot:
        if f"||{rest}" in known:
            return True
        _, dot, rest = rest.partition(".")
    return False


def _wider(key: str, known: Container[object], fewest: int) -> str:
    """The next wider rule among the known ones, of which none has fewer dots than `fewest`; "" if there is none."""
    dot = max(1, len(key) - _MAX_DOMAIN)
    for _ in range(key.count(".", dot + 1) - fewest):
        dot = key.find(".", dot + 1)
        parent = "||" + key[dot + 1 :]
        if parent in known:
            return parent
    return ""


def _reason(key: str, seen: set[str], known: set[str], fewest: int) -> str:
    """Why the line goes, naming the rule that stays in its place; "" when it stays."""
    if not key:
        return ""
    widest = key
    while wider := _wider(widest, known, fewest):
        widest = wider
    if widest != key:
        return f"covered by {widest}"
    return f"duplicate of {key}" if key in seen else ""


COMPRESS: Final[Transformation] = _Compress()
