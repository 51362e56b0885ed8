"""Finds the rules of a list that change no verdict, because an unconditional rule of the list already decides the same names.

A rule is redundant if a rule of its own class, or of a stronger one with the same meaning, covers it, or if it blocks without
`$important` inside of an exception. `||host^` and `||*.host^` cover by name, other patterns by their text. Rules that a
`$badfilter` cancels, and rules with modifiers that are not known here, neither cover nor are redundant. An exception is
redundant only for a wider exception.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from sluice.core.filters.formats.entries import (
    Entry,
    Width,
    read_badfilter,
    read_pattern,
    to_canonical_text,
)
from sluice.core.filters.formats.resolution import EntrySet
from sluice.core.filters.pattern_coverage import Pattern, find_contained
from sluice.core.filters.syntax.cosmetic import is_cosmetic
from sluice.core.filters.syntax.domains import is_plain_domain
from sluice.core.filters.syntax.hosts import is_hosts_rule, iterate_hostnames
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.filters.syntax.rules import is_regex, modifier_name, parse_rule

_CONDITIONS: Final = frozenset({"client", "ctag", "dnstype", "denyallow"})
# A comment, or a line with a blank or a modifier.
_NO_PATTERN: Final = re.compile(r"$|!|#|\[|.*[\s$]")
_ANCHORED_PATH: Final = re.compile(r"\|\|([a-z0-9_.-]*[a-z0-9])[/^:?].*[a-z0-9].*")
_COVERED: Final = "covered by a wider rule"
_EXCEPTED: Final = "inside of an exception"


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule whose names are known; `twin` is equal for rules that mean the same."""

    index: int
    entries: tuple[Entry, ...]
    twin: str
    can_cover: bool
    is_hosts: bool = False
    is_part: bool = False  # of a tree: some addresses below its names

    @property
    def is_exception(self) -> bool:
        return self.entries[0].is_exception

    @property
    def is_important(self) -> bool:
        return self.entries[0].is_important


class _Coverage:
    """The rules that cover others, by class."""

    def __init__(self, rules: Iterable[_Rule]) -> None:
        covering = [entry for rule in rules if rule.can_cover and not rule.is_hosts for entry in rule.entries]
        blocks = [entry for entry in covering if not entry.is_exception]
        exceptions = [entry for entry in covering if entry.is_exception]
        self._blocks = _WiderSet(blocks)
        self._important_blocks = _WiderSet(entry for entry in blocks if entry.is_important)
        self._exceptions = _WiderSet(exceptions)
        self._important_exceptions = _WiderSet(entry for entry in exceptions if entry.is_important)

    def find_reason(self, rule: _Rule) -> str:
        """Return why the rule changes nothing; "" if it may. Filters disagree on names with an underscore."""
        if any("_" in entry.name for entry in rule.entries):
            return ""
        if rule.is_exception:
            wider = self._important_exceptions if rule.is_important else self._exceptions
        else:
            wider = self._important_blocks if rule.is_important else self._blocks
        if all(wider.has_wider(entry, is_part=rule.is_hosts or rule.is_part) for entry in rule.entries):
            return _COVERED
        can_be_excepted = not rule.is_exception and not rule.is_important
        return _EXCEPTED if can_be_excepted and all(map(self._exceptions.covers, rule.entries)) else ""


class _WiderSet(EntrySet):
    def has_wider(self, entry: Entry, *, is_part: bool) -> bool:
        """Return whether an entry covers this one that is not the same; for a part of a tree the same name is enough."""
        if is_part:
            return self.covers(entry)
        is_inside = entry.width is not Width.TREE and entry.name in self.names[Width.TREE]
        return is_inside or self.covers_strictly(entry)


def find_redundant(lines: list[str]) -> dict[int, str]:
    """Return the reason for each line that changes nothing, by its index."""
    cancelled = {text for line in lines if (text := read_badfilter(line.strip()))}
    rules = [rule for at, line in enumerate(lines) if (rule := _read_rule(at, line.strip(), cancelled)) is not None]
    coverage = _Coverage(rules)
    redundant = {rule.index: reason for rule in rules if (reason := coverage.find_reason(rule))}
    redundant |= _find_contained(lines, rules, cancelled)
    return redundant | _find_twins([rule for rule in rules if rule.index not in redundant])


def _find_twins(rules: list[_Rule]) -> dict[int, str]:
    """Return the rules that repeat another in another spelling; the canonical one stays, else the first."""
    first: dict[str, _Rule] = {}
    for rule in sorted(rules, key=lambda rule: not rule.can_cover):
        first.setdefault(rule.twin, rule)
    return {rule.index: _COVERED for rule in rules if first[rule.twin] is not rule and first[rule.twin].can_cover}


def _read_rule(index: int, text: str, cancelled: set[str]) -> _Rule | None:
    """Return the rule if its names are known, and no other modifier than those of DNS stands there."""
    if is_blank(text) or is_comment(text) or is_cosmetic(text) or "badfilter" in text:
        return None
    if is_hosts_rule(text) or is_plain_domain(text):
        return _read_hosts(index, text)
    rule = parse_rule(text)
    if rule is None or (cancelled and to_canonical_text(text) in cancelled):
        return None
    modifiers = set(map(modifier_name, rule.modifiers))
    if modifiers - {"important"} - _CONDITIONS:
        return None
    pattern = rule.pattern.lower()
    if path := _ANCHORED_PATH.fullmatch(pattern):
        entry = Entry(index, path[1], Width.TREE, rule.exception, "important" in modifiers)
        return _Rule(index, (entry,), text, can_cover=False, is_part=True)
    found = read_pattern(pattern.replace(".^", "^"))  # a final dot matches no name, so such a rule is a twin at most
    if found is None:
        return None
    width, name = found
    entry = Entry(index, name, width, rule.exception, "important" in modifiers)
    is_canonical = rule.pattern == {Width.TREE: f"||{name}^", Width.BELOW: f"||*.{name}^"}.get(width, f"|{name}^")
    twin = f"{'@@' * rule.exception}{width} {name} {','.join(sorted(rule.modifiers))}"
    return _Rule(index, (entry,), twin, can_cover=is_canonical and not modifiers & _CONDITIONS)


def _find_contained(lines: list[str], rules: Iterable[_Rule], cancelled: set[str]) -> dict[int, str]:
    """Return the rules whose pattern another one contains; of two that contain each other, the first stays."""
    patterns = [*_read_patterns(lines, cancelled), *_read_hosts_patterns(rules)]
    counts = Counter(pattern.line for pattern in patterns)  # a hosts rule has several names
    redundant: dict[int, str] = {}
    for pattern, container in find_contained(patterns):
        counts[pattern.line] -= 1
        if counts[pattern.line] == 0 and container.line not in redundant:
            redundant[pattern.line] = _COVERED if pattern.is_exception == container.is_exception else _EXCEPTED
    return redundant


def _read_patterns(lines: list[str], cancelled: set[str]) -> Iterator[Pattern]:
    for at, line in enumerate(lines):
        text = line.strip()
        if _NO_PATTERN.match(text) or is_cosmetic(text) or (cancelled and to_canonical_text(text) in cancelled):
            continue
        if not (is_regex(text.removeprefix("@@")) or is_plain_domain(text)):
            yield Pattern(at, text.removeprefix("@@"), text.startswith("@@"))


def _read_hosts_patterns(rules: Iterable[_Rule]) -> Iterator[Pattern]:
    """Yield the names of hosts rules, as what contains all of each."""
    for rule in rules:
        if rule.is_hosts:
            yield from (Pattern(rule.index, f"||{entry.name}^", is_exception=False) for entry in rule.entries)


def _read_hosts(index: int, text: str) -> _Rule | None:
    names = list(iterate_hostnames(text)) if is_hosts_rule(text) else [text]
    entries = tuple(Entry(index, name.lower().removesuffix("."), Width.EXACT) for name in names)
    if not entries:
        return None
    is_canonical = all(name == entry.name for name, entry in zip(names, entries, strict=True))
    twin = f"hosts {' '.join(sorted(entry.name for entry in entries))}"
    return _Rule(index, entries, twin, can_cover=is_canonical, is_hosts=True)
