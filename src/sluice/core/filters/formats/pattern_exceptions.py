"""Exceptions that are patterns, such as `@@||cdn*.example.org^`: no format has a line for them, so blocks make way for them.

A block whose name such an exception opens is left out, and one that may contain opened names loses the names below it, if
all names that the pattern matches end in a text that tells where they are. Other patterns are only reported.
"""

from collections.abc import Iterable, Iterator

from sluice.core.filters.formats.entries import (
    Entry,
    SkippedLine,
    Width,
    iterate_entries,
    iterate_wider,
    to_canonical_text,
)
from sluice.core.filters.verdicts import PatternRule, read_pattern_rule


class PatternExceptions:
    """All exceptions of a list that are patterns."""

    def __init__(self, lines: Iterable[str], cancelled: set[str]) -> None:
        rules = list(_read_rules(lines, cancelled))
        self._any = _PatternRules(rules)
        self._important = _PatternRules([rule for rule in rules if rule.is_important])

    def __bool__(self) -> bool:
        return bool(self._any.rules)

    def find_opener(self, block: Entry) -> str:
        """Return the exception that opens the name of a block; "" without one."""
        name = block.name
        for literal, rule in self._select(block).rules:
            if literal in name and rule.matches(name):
                return rule.text
        return ""

    def find_inside(self, block: Entry) -> str:
        """Return an exception that may open names below that of a block; "" without one."""
        return "" if block.width is Width.EXACT else self._select(block).find_inside(block.name)

    def _select(self, block: Entry) -> "_PatternRules":
        """Return the exceptions that beat the block."""
        return self._important if block.is_important else self._any


class _PatternRules:
    def __init__(self, rules: Iterable[PatternRule]) -> None:
        self.rules = [(rule.literal, rule) for rule in rules]
        self._ends = {rule.end: rule.text for _, rule in self.rules if rule.end}
        self._endings = tuple(self._ends)
        self._above = {name: text for end, text in self._ends.items() for name in (end, *iterate_wider(end))}

    def find_inside(self, name: str) -> str:
        if name in self._above:
            return self._above[name]
        if not f".{name}".endswith(self._endings):
            return ""
        return next(text for end, text in self._ends.items() if f".{name}".endswith(end))


def _read_rules(lines: Iterable[str], cancelled: set[str]) -> Iterator[PatternRule]:
    exceptions = [line for line in lines if "@@" in line]
    for outcome in iterate_entries(exceptions):
        if isinstance(outcome, SkippedLine) and to_canonical_text(outcome.text) not in cancelled:
            rule = read_pattern_rule(outcome.line, outcome.text, any_client=False)
            if rule is not None and rule.is_exception:
                yield rule
