"""Compress: converts hosts rules and bare domains to `||host^`, and drops rules that a wider one covers.

A line that blocks one host and its subdomains has that `||host^` as its key. All other lines have no key and are kept.
"""

import re
from collections.abc import Container, Iterable, Iterator
from typing import Final, TypeAlias

from sluice.core.filters.syntax.domains import is_compressible, is_plain_domain
from sluice.core.filters.syntax.hosts import is_hosts_rule, iterate_hostnames
from sluice.core.filters.syntax.rules import parse_rule
from sluice.core.filters.transformations.drop_reasons import Drop, TransformationTrace
from sluice.core.filters.transformations.transformation import Transformation

# No domain name is longer, so no longer rule covers one. This also limits the work for a line of a million dots.
_MAX_DOMAIN: Final = 255

# Matches the two most frequent kinds of line in DNS lists: `||host^`, and a hosts rule with one hostname.
_COMMON_LINE: Final = re.compile(r"\|\|[a-z0-9.-]+\^|[0-9.]+[ \t]+([a-z0-9._-]+)")

# An output line, and its key or "".
_Entry: TypeAlias = tuple[str, str]


class _Compress:
    def apply(self, lines: list[str]) -> list[str]:
        # A dict keeps the order and the first of each key. A line without a key gets a number, which equals no text.
        texts: dict[str | int, str] = {}
        for line, common in zip(lines, map(_COMMON_LINE.fullmatch, lines), strict=True):
            if common:
                rule = f"||{common[1]}^" if common[1] else line
                texts.setdefault(rule, rule)
            else:
                for text, key in _expand(line):
                    texts.setdefault(key or len(texts), text)
        return [text for key, text in texts.items() if isinstance(key, int) or not _is_covered(key, texts)]

    def trace(self, lines: list[str]) -> TransformationTrace:
        keys = {key for line in lines for _, key in _expand(line) if key}
        fewest = _fewest_dots(keys)
        seen: set[str] = set()
        trace = TransformationTrace([], [], [])
        for index, line in enumerate(lines):
            for text, key in _expand(line):
                if reason := _drop_reason(key, seen, keys, fewest):
                    trace.dropped.append(Drop(index, text, reason))
                else:
                    trace.lines.append(text)
                    trace.origins.append(index)
                seen.add(key)
        return trace


def _expand(line: str) -> Iterable[_Entry]:
    if common := _COMMON_LINE.fullmatch(line):
        rule = f"||{common[1]}^" if common[1] else line
        return ((rule, rule),)
    if is_hosts_rule(line):
        return _expand_hosts_rule(line)
    if is_plain_domain(line):
        rule = f"||{line}^"
        return ((rule, rule),)
    return ((line, _find_key(line)),)


def _expand_hosts_rule(line: str) -> Iterator[_Entry]:
    rule = ""
    for hostname in iterate_hostnames(line):
        rule = f"||{hostname}^"
        yield rule, rule
    if not rule:
        yield line, ""


def _find_key(line: str) -> str:
    """Return the key of a rule with more than `||host^`: white space around it, or a `$` without modifiers."""
    if "||" not in line:
        return ""
    rule = parse_rule(line)
    if rule is None or rule.exception or rule.modifiers or not is_compressible(rule.pattern):
        return ""
    return rule.pattern


def _fewest_dots(keys: Iterable[str]) -> int:
    return min((key.count(".") for key in keys), default=0)


def _is_covered(key: str, keys: Container[object]) -> bool:
    """Return whether `_find_wider` finds any wider rule, in a third of its time."""
    if len(key) > _MAX_DOMAIN:
        return bool(_find_wider(key, keys, 0))
    _, dot, rest = key.partition(".")
    while dot:
        if f"||{rest}" in keys:
            return True
        _, dot, rest = rest.partition(".")
    return False


def _find_wider(key: str, keys: Container[object], fewest: int) -> str:
    """Return the next wider rule among the keys, none of which has fewer dots than `fewest`; "" if there is none."""
    dot = max(1, len(key) - _MAX_DOMAIN)
    for _ in range(key.count(".", dot + 1) - fewest):
        dot = key.find(".", dot + 1)
        parent = "||" + key[dot + 1 :]
        if parent in keys:
            return parent
    return ""


def _drop_reason(key: str, seen: set[str], keys: set[str], fewest: int) -> str:
    """Return why the line is dropped, with the rule that replaces it; "" if it is kept."""
    if not key:
        return ""
    widest = key
    while wider := _find_wider(widest, keys, fewest):
        widest = wider
    if widest != key:
        return f"covered by {widest}"
    return f"duplicate of {key}" if key in seen else ""


COMPRESS: Final[Transformation] = _Compress()
