"""Exclusions and inclusions: patterns that are matched against each line before all transformations.

`/…/` is a regular expression. A text with `*` is a wildcard that matches the whole line, ignoring case. Any other text
is a substring, matched with case.
"""

from collections.abc import Iterable
from itertools import compress
from typing import Final, NamedTuple, Self

from sluice.core.errors import BadField, Invalid
from sluice.core.filters.patterns.literals import Literals
from sluice.core.filters.patterns.regexes import Regex
from sluice.core.filters.transformations.drop_reasons import TransformationTrace, trace_selection


class _Wildcard(NamedTuple):
    """A pattern in lower case, split at its asterisks."""

    text: str
    parts: list[str]

    @property
    def longest(self) -> str:
        return max(self.parts, key=len)

    def matches(self, lower: str) -> bool:
        """Return whether the line contains the parts in this order, the outer ones at its ends."""
        start, end = len(self.parts[0]), len(lower) - len(self.parts[-1])
        if start > end or not lower.startswith(self.parts[0]) or not lower.endswith(self.parts[-1]):
            return False
        for part in self.parts[1:-1]:
            at = lower.find(part, start, end)
            if at < 0:
                return False
            start = at + len(part)
        return True


class Patterns:
    """A set of patterns, grouped by kind; an empty set is false and filters nothing."""

    def __init__(self, plain: list[str], wildcards: list[_Wildcard], regexes: dict[str, Regex]) -> None:
        self._plain = Literals(plain)
        self._wildcards: dict[str, list[_Wildcard]] = {}
        for wildcard in wildcards:
            self._wildcards.setdefault(wildcard.longest, []).append(wildcard)
        self._bare_wildcards = self._wildcards.pop("", [])  # only asterisks: no literal to search for
        self._literals = Literals(list(self._wildcards))
        self._regexes = regexes
        self._count = len(plain) + len(wildcards) + len(regexes)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Parse the texts, ignoring empty and repeated ones; raises Invalid, which names all bad regular expressions."""
        plain: list[str] = []
        wildcards: list[_Wildcard] = []
        regexes: dict[str, Regex] = {}
        bad: list[BadField] = []
        for text in filter(None, dict.fromkeys(texts)):
            if len(text) > 2 and text.startswith("/") and text.endswith("/"):
                try:
                    regexes[text] = Regex(text[1:-1])
                except Invalid as error:
                    bad.append(BadField(text, str(error)))
            elif "*" in text:
                wildcards.append(_Wildcard(text, text.lower().split("*")))
            else:
                plain.append(text)
        if bad:
            raise Invalid(bad[0].reason, bad)
        return cls(plain, wildcards, regexes)

    def __bool__(self) -> bool:
        return self._count > 0

    def match(self, lines: list[str]) -> bytes:
        """Return 1 for each line that some pattern matches, 0 for the others."""
        if self._wildcards or self._bare_wildcards or self._regexes:
            return bytes(self._plain.has_match(line) or self._find_other(line) is not None for line in lines)
        return bytes(map(self._plain.has_match, lines))

    def find(self, line: str) -> str | None:
        """Return a pattern that matches the line."""
        plain = min(self._plain.find_matches(line), default=None)
        return self._find_other(line) if plain is None else plain

    def _find_other(self, line: str) -> str | None:
        if self._wildcards or self._bare_wildcards:
            lower = line.lower()
            for wildcard in [*self._bare_wildcards, *self._candidate_wildcards(lower)]:
                if wildcard.matches(lower):
                    return wildcard.text
        return next((text for text, regex in self._regexes.items() if regex.matches(line)), None)

    def _candidate_wildcards(self, lower: str) -> list[_Wildcard]:
        return [wildcard for literal in self._literals.find_matches(lower) for wildcard in self._wildcards[literal]]


_NO_MATCH: Final = "matches no inclusion"


class Exclusions:
    """Drops the lines that match a pattern."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns

    def apply(self, lines: list[str]) -> list[str]:
        return list(compress(lines, self._mark_kept(lines)))

    def trace(self, lines: list[str]) -> TransformationTrace:
        return trace_selection(
            lines, self._mark_kept(lines), lambda index: f"excluded by {self._patterns.find(lines[index])}"
        )

    def _mark_kept(self, lines: list[str]) -> bytes:
        return self._patterns.match(lines).translate(b"\x01\x00" + bytes(254))  # swaps 0 and 1


class Inclusions:
    """Drops the lines that match no pattern."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns

    def apply(self, lines: list[str]) -> list[str]:
        return list(compress(lines, self._patterns.match(lines)))

    def trace(self, lines: list[str]) -> TransformationTrace:
        return trace_selection(lines, self._patterns.match(lines), lambda _index: _NO_MATCH)
