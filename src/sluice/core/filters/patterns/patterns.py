"""Exclusions and inclusions: patterns that lines are held against before anything else happens.

`/…/` is a regular expression, a text with `*` is a wildcard for the whole line in any case, and all else is a
substring, case and all.
"""

from collections.abc import Iterable
from itertools import compress
from typing import Final, NamedTuple, Self

from sluice.core.errors import BadField, Invalid
from sluice.core.filters.patterns.literals import Literals
from sluice.core.filters.patterns.regexes import Regex
from sluice.core.filters.transformations.transformation import Trace, selected


class _Wildcard(NamedTuple):
    """A pattern cut at its asterisks, in lower case."""

    text: str
    parts: list[str]

    @property
    def longest(self) -> str:
        return max(self.parts, key=len)

    def matches(self, lower: str) -> bool:
        """Whether the parts stand in the line in this order, the outer ones at its ends."""
        start, end = len(self.parts[0]), len(lower) - len(self.parts[-1])
        if start > end or not lower.startswith(self.parts[0]) or not lower.endswith(self.parts[-1]):
            return False
        for part in self.parts[1:-1]:
            found = lower.find(part, start, end)
            if found < 0:
                return False
            start = found + len(part)
        return True


class Patterns:
    """A set of patterns, sorted by kind once; an empty set is false and filters nothing."""

    def __init__(self, plain: list[str], wildcards: list[_Wildcard], regexes: dict[str, Regex]) -> None:
        self._plain = Literals(plain)
        self._wildcards: dict[str, list[_Wildcard]] = {}
        for wildcard in wildcards:
            self._wildcards.setdefault(wildcard.longest, []).append(wildcard)
        self._open = self._wildcards.pop("", [])
        self._literals = Literals(list(self._wildcards))
        self._regexes = regexes
        self._count = len(plain) + len(wildcards) + len(regexes)

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Sort the texts; empty and repeated ones are ignored, and all bad regular expressions are named."""
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
        """1 for each line that some pattern matches, 0 for the others."""
        if self._wildcards or self._open or self._regexes:
            return bytes(self._plain.any_in(line) or self._find_other(line) is not None for line in lines)
        return bytes(map(self._plain.any_in, lines))

    def find(self, line: str) -> str | None:
        """A pattern that matches the line."""
        plain = min(self._plain.found_in(line), default=None)
        return self._find_other(line) if plain is None else plain

    def _find_other(self, line: str) -> str | None:
        if self._wildcards or self._open:
            lower = line.lower()
            for wildcard in [*self._open, *self._wildcards_in(lower)]:
                if wildcard.matches(lower):
                    return wildcard.text
        return next((text for text, regex in self._regexes.items() if regex.found_in(line)), None)

    def _wildcards_in(self, lower: str) -> list[_Wildcard]:
        return [wildcard for literal in self._literals.found_in(lower) for wildcard in self._wildcards[literal]]


_NO_MATCH: Final = "matches no inclusion"


class Exclusions:
    """Lines that match a pattern go."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns

    def apply(self, lines: list[str]) -> list[str]:
        return list(compress(lines, self._kept(lines)))

    def trace(self, lines: list[str]) -> Trace:
        return selected(lines, self._kept(lines), lambda index: f"excluded by {self._patterns.find(lines[index])}")

    def _kept(self, lines: list[str]) -> bytes:
        return self._patterns.match(lines).translate(b"\x01\x00" + bytes(254))


class Inclusions:
    """Lines that match no pattern go."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns

    def apply(self, lines: list[str]) -> list[str]:
        return list(compress(lines, self._patterns.match(lines)))

    def trace(self, lines: list[str]) -> Trace:
        return selected(lines, self._patterns.match(lines), lambda _index: _NO_MATCH)
