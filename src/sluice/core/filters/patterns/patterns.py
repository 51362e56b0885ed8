"""Exclusions and inclusions: patterns that are matched against each line before all transformations.

`/…/` is a regular expression. A text with `*` is a wildcard that matches the whole line, ignoring case. Any other text
is a substring, matched with case. Lines are searched many at a time: first for the literal text that each pattern
requires, and only where that stands for the pattern itself.
"""

from collections.abc import Iterable, Iterator
from itertools import compress
from operator import not_
from typing import Final, Protocol, Self

from sluice.core.errors import BadField, Invalid
from sluice.core.filters.patterns.literals import Literals
from sluice.core.filters.patterns.work import CHECK_WORK, WorkBudget, is_regex
from sluice.core.filters.syntax.line_chunks import cut_chunks
from sluice.core.filters.transformations.drop_reasons import TransformationTrace, trace_selection

_CHUNK_LINES: Final = 20_000  # searched at a time, so that the whole list does not exist a second time


class _LinePattern(Protocol):
    """A pattern that is checked line by line, where its literal occurs in the line in lower case."""

    @property
    def literal(self) -> str: ...
    def matches(self, line: str) -> bool: ...
    def bound_work(self, line: str) -> float: ...


class Patterns:
    """A set of patterns; an empty set is false and filters nothing."""

    def __init__(self, plain: list[str], checked: dict[str, _LinePattern], budget: WorkBudget) -> None:
        self._plain = plain
        self._checked = checked
        self._budget = budget
        self._plain_literals = Literals(plain)
        self._by_literal: dict[bytes, list[str]] = {}
        for text, pattern in checked.items():
            self._by_literal.setdefault(pattern.literal.encode("utf-8", "surrogatepass"), []).append(text)
        self._without_literal = self._by_literal.pop(b"", [])
        self._checked_literals = Literals([pattern.literal for pattern in checked.values() if pattern.literal])

    @classmethod
    def parse(cls, texts: Iterable[str], budget: WorkBudget | None = None) -> Self:
        """Parse the texts, ignoring empty and repeated ones; raise Invalid, which names all bad regular expressions.

        All patterns of a compilation share one budget.
        """
        plain: list[str] = []
        checked: dict[str, _LinePattern] = {}
        bad: list[BadField] = []
        budget = budget or WorkBudget()
        distinct = [text for text in dict.fromkeys(texts) if text]
        budget.take_reading(distinct)
        for text in distinct:
            if is_regex(text):
                try:
                    checked[text] = _compile_regex(text[1:-1])
                except Invalid as error:
                    bad.append(BadField(text, str(error)))
            elif "*" in text:
                checked[text] = _compile_wildcard(text)
            else:
                plain.append(text)
        if bad:
            raise Invalid(bad[0].reason, bad)
        return cls(plain, checked, budget)

    def __bool__(self) -> bool:
        return bool(self._plain or self._checked)

    def match(self, lines: list[str]) -> bytes:
        """Return 1 for each line that some pattern matches, 0 for the others; raise Invalid if that takes too long."""
        marks = bytearray(len(lines))
        for at in self.find(lines):
            marks[at] = 1
        return bytes(marks)

    def find(self, lines: list[str]) -> dict[int, str]:
        """Return a pattern for the index of each line that some pattern matches."""
        found: dict[int, str] = {}
        for start, chunk in cut_chunks(lines, _CHUNK_LINES):
            found.update((start + at, text) for at, text in self._find_in_chunk(chunk).items())
        return found

    def _find_in_chunk(self, lines: list[str]) -> dict[int, str]:
        text = "\n".join(lines)
        if text.count("\n") != len(lines) - 1:  # some line contains a line feed itself
            return {at: match for at, line in enumerate(lines) if (match := self._find_in_line(line)) is not None}
        found: dict[int, str] = {}
        if self._plain:
            body = text.encode("utf-8", "surrogatepass")
            for at, literal in to_line_numbers(body, self._plain_literals.find_all(body, self._budget)):
                found.setdefault(at, literal.decode("utf-8", "surrogatepass"))
        if self._checked:
            for at, candidates in self._find_candidates(text, lines):
                if at not in found and (match := self._find_match(lines[at], candidates)) is not None:
                    found[at] = match
        return found

    def _find_in_line(self, line: str) -> str | None:
        self._budget.take(len(self._plain) * len(line))
        plain = next((text for text in self._plain if text in line), None)
        return self._find_match(line, self._checked) if plain is None else plain

    def _find_candidates(self, text: str, lines: list[str]) -> Iterator[tuple[int, Iterable[str]]]:
        """Yield line indexes with the patterns that may match there."""
        lower = text.lower().encode("utf-8", "surrogatepass")
        for at, literal in to_line_numbers(lower, self._checked_literals.find_all(lower, self._budget)):
            yield at, self._by_literal[literal]
        if self._without_literal:
            yield from ((at, self._without_literal) for at in range(len(lines)))
        if not text.isascii():  # the Kelvin sign, for example, equals k if case is ignored
            yield from ((at, self._checked) for at, line in enumerate(lines) if not line.isascii())

    def _find_match(self, line: str, texts: Iterable[str]) -> str | None:
        for text in texts:
            pattern = self._checked[text]
            self._budget.take(CHECK_WORK + pattern.bound_work(line))
            if pattern.matches(line):
                return text
        return None


def _compile_regex(source: str) -> _LinePattern:
    from sluice.core.filters.patterns.regexes import Regex  # noqa: PLC0415 - few configurations have one

    return Regex(source)


def _compile_wildcard(text: str) -> _LinePattern:
    from sluice.core.filters.patterns.wildcards import Wildcard  # noqa: PLC0415 - few configurations have one

    return Wildcard(text)


def to_line_numbers(text: bytes, hits: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Replace the position of each hit by the number of its line."""
    number = end = 0
    for at, literal in sorted(set(hits)):
        number += text.count(b"\n", end, at)
        end = at
        yield number, literal


_NO_MATCH: Final = "matches no inclusion"


class Exclusions:
    """Drops the lines that match a pattern."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns

    def apply(self, lines: list[str]) -> list[str]:
        marks = self._patterns.match(lines)
        return list(compress(lines, map(not_, marks)))

    def trace(self, lines: list[str]) -> TransformationTrace:
        found = self._patterns.find(lines)
        kept = bytes(at not in found for at in range(len(lines)))
        return trace_selection(lines, kept, lambda index: f"excluded by {found[index]}")


class Inclusions:
    """Drops the lines that match no pattern."""

    def __init__(self, patterns: Patterns) -> None:
        self._patterns = patterns

    def apply(self, lines: list[str]) -> list[str]:
        return list(compress(lines, self._patterns.match(lines)))

    def trace(self, lines: list[str]) -> TransformationTrace:
        return trace_selection(lines, self._patterns.match(lines), lambda _index: _NO_MATCH)
