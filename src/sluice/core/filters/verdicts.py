"""What a list says of a name, and which rule says it, by the precedence of AdGuard's DNS engine."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from sluice.core.errors import Invalid
from sluice.core.filters.formats.entries import (
    Entry,
    Width,
    iterate_wider,
    read_badfilter,
    read_entries,
    to_canonical_text,
)
from sluice.core.filters.patterns.regexes import Regex
from sluice.core.filters.syntax.rules import is_regex, modifier_name, parse_rule

_PARTS: Final = {"*": ".*", "^": r"(?:[^a-z0-9_.%-]|$)"}


class Verdict(StrEnum):
    """What a list does with a name; `none` if no rule concerns it."""

    BLOCKED = "blocked"
    ALLOWED = "allowed"
    NONE = "none"


class Decision(NamedTuple):
    """The verdict, and the index of the line that decides."""

    verdict: Verdict
    line: int | None = None


class NameVerdicts:
    """Decides on names by all rules of a list that concern every client."""

    def __init__(self, lines: Sequence[str]) -> None:
        entries, skipped = read_entries(lines)
        self._entries: dict[tuple[bool, bool, Width, str], Entry] = {}
        for entry in entries:
            self._entries.setdefault((entry.is_exception, entry.is_important, entry.width, entry.name), entry)
        cancelled = {text for line in lines if (text := read_badfilter(line.strip()))}
        self._others = [(line.line - 1, line.text) for line in skipped if to_canonical_text(line.text) not in cancelled]

    def decide(self, name: str) -> Decision:
        """Return the verdict on a name in lower case."""
        for is_important in (True, False):
            for is_exception in (True, False):
                line = self._find(name, is_exception=is_exception, is_important=is_important)
                if line is not None:
                    return Decision(Verdict.ALLOWED if is_exception else Verdict.BLOCKED, line)
        return Decision(Verdict.NONE)

    def _find(self, name: str, *, is_exception: bool, is_important: bool) -> int | None:
        for width, candidate in _iterate_candidates(name):
            if entry := self._entries.get((is_exception, is_important, width, candidate)):
                return entry.line
        wanted = is_exception, is_important
        return next(
            (line for line, text in self._others if classify_rule(text) == wanted and _matches(text, name)), None
        )


def _iterate_candidates(name: str) -> Iterator[tuple[Width, str]]:
    yield from ((Width.EXACT, name), (Width.TREE, name))
    for wider in iterate_wider(name):
        yield from ((Width.TREE, wider), (Width.BELOW, wider))


def classify_rule(text: str) -> tuple[bool, bool] | None:
    """Return whether the rule is an exception and important; None if a modifier narrows it or has no meaning for DNS."""
    rule = parse_rule(text)
    if rule is None or set(map(modifier_name, rule.modifiers)) - {"important"}:
        return None
    return rule.exception, bool(rule.modifiers)


def longest_literal(text: str) -> str | None:
    """Return a part of the rule that every name it matches contains, as part of `http://NAME`; None if it matches none."""
    rule = parse_rule(text)
    if rule is None:
        return None
    if is_regex(rule.pattern) and len(rule.pattern) > 2:
        return ""
    parts = re.split(r"[*^|]+", rule.pattern.lower())
    if not all(_may_be_part(part) for part in parts):
        return None
    return max(parts, key=len)


def _may_be_part(literal: str) -> bool:
    """Return whether the text may stand somewhere in `http://NAME`; a slash only before the name."""
    return f"http://{literal.rpartition('/')[2]}".endswith(literal) if "/" in literal else True


def _matches(text: str, name: str) -> bool:
    rule = parse_rule(text)
    if rule is None:
        return False
    if is_regex(rule.pattern) and len(rule.pattern) > 2:
        try:
            return Regex(rule.pattern[1:-1]).matches(name)
        except Invalid:
            return False
    return _to_expression(rule.pattern.lower()).search(f"http://{name}") is not None


def _to_expression(pattern: str) -> re.Pattern[str]:
    begin, end = "", ""
    if pattern.startswith("||"):
        begin, pattern = r"^http://(?:[^/]*\.)?", pattern[2:]
    elif pattern.startswith("|"):
        begin, pattern = "^http://", pattern[1:]
    if pattern.endswith("|"):
        end, pattern = "$", pattern[:-1]
    parts = (_PARTS.get(character) or re.escape(character) for character in re.sub(r"\*+", "*", pattern))
    return re.compile(begin + "".join(parts) + end)
