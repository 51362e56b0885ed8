"""Exclusions and inclusions by domain: `example.org` is that name alone, `*.example.org` are the names below it.

Unlike text patterns they understand rules: `example.org` finds `||example.org^`, `|example.org^`, `0.0.0.0 example.org` and
`example.org` alike, whatever their modifiers, and never `goodexample.org`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Self

from sluice.core.errors import BadField, Invalid
from sluice.core.filters.formats.entries import (
    Width,
    is_name,
    iterate_wider,
    normalise_pattern,
    read_pattern,
)
from sluice.core.filters.syntax.cosmetic import is_cosmetic
from sluice.core.filters.syntax.hosts import is_hosts_rule, iterate_hostnames
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.filters.syntax.punycode import normalise_name
from sluice.core.filters.syntax.rules import modifier_name, parse_rule
from sluice.core.filters.transformations.drop_reasons import Drop, TransformationTrace

_COMMON: Final = re.compile(r"\|\|([a-z0-9_.-]*[a-z0-9_-])\^|0\.0\.0\.0 ([a-z0-9_.-]*[a-z0-9_-])")
_BELOW: Final = "*."
_MAX_QUOTED_CHARS: Final = 60


class DomainPattern(NamedTuple):
    """One name, or the names below it."""

    name: str
    is_below: bool

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raise Invalid, which shows both forms, for anything else."""
        name = normalise_name(text.strip())
        is_below = name.startswith(_BELOW)
        name = name.removeprefix(_BELOW)
        if not is_name(name):
            raise Invalid(
                f"{text[:_MAX_QUOTED_CHARS]} is no domain: write example.org for that name alone,"
                " or *.example.org for all names below it"
            )
        return cls(name, is_below)

    def __str__(self) -> str:
        return f"{_BELOW}{self.name}" if self.is_below else self.name


def is_domain(text: str) -> bool:
    """Return whether the text is a name, or the names below one; an IP address or a single label is not."""
    try:
        DomainPattern.parse(text)
    except Invalid:
        return False
    return True


class NamedRule(NamedTuple):
    """The names that a rule concerns, all of one width; it only narrows the list if it `allows`."""

    width: Width
    names: tuple[str, ...]
    allows: bool = False
    is_hosts: bool = False


class DomainPatterns:
    """A set of domains; an empty set is false and filters nothing."""

    def __init__(self, patterns: Iterable[DomainPattern]) -> None:
        self.patterns = tuple(dict.fromkeys(patterns))
        self._names = {pattern.name for pattern in self.patterns if not pattern.is_below}
        self._below = {pattern.name for pattern in self.patterns if pattern.is_below}
        self._above = {wider for pattern in self.patterns for wider in iterate_wider(pattern.name)}

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Self:
        """Parse the texts, ignoring empty ones; raise Invalid, which names all bad ones."""
        patterns: list[DomainPattern] = []
        bad: list[BadField] = []
        for text in filter(None, texts):
            try:
                patterns.append(DomainPattern.parse(text))
            except Invalid as error:
                bad.append(BadField(text, str(error)))
        if bad:
            raise Invalid(bad[0].reason, bad)
        return cls(patterns)

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def has(self, width: Width, name: str) -> bool:
        """Return whether a rule of this width and name is one of the domains."""
        if name in (self._below if width is Width.BELOW else self._names):
            return True
        return bool(self._below) and any(wider in self._below for wider in iterate_wider(name))

    def has_below(self, width: Width, name: str) -> bool:
        """Return whether a rule of this width and name concerns one of the domains, because it is wider."""
        return width is not Width.EXACT and (name in self._above or name in self._names or name in self._below)


def read_named_rule(line: str) -> NamedRule | None:
    """Return the names that a rule is about; None for a line that is about none, such as a path or a comment."""
    if common := _COMMON.fullmatch(line):
        tree, exact = common.groups()
        return NamedRule(Width.TREE, (tree,)) if tree else NamedRule(Width.EXACT, (exact,), is_hosts=True)
    text = line.strip()
    if is_blank(text) or is_comment(text) or is_cosmetic(text):
        return None
    if is_hosts_rule(text):
        names = tuple(map(normalise_name, iterate_hostnames(text)))
        return NamedRule(Width.EXACT, names, is_hosts=True)
    rule = parse_rule(text)
    if rule is None:
        return None
    allows = rule.exception or "badfilter" in map(modifier_name, rule.modifiers)
    pattern = normalise_pattern(rule.pattern).replace(".^", "^")
    if is_name(pattern.removesuffix(".")):
        return NamedRule(Width.EXACT, (pattern.removesuffix("."),), allows)
    found = read_pattern(pattern)
    return None if found is None else NamedRule(found[0], (found[1],), allows)


def _keep_names(line: str, names: set[str]) -> str | None:
    """Return a hosts rule with these of its names alone, None without any."""
    words = list(iterate_hostnames(line))
    kept = [word for word in words if normalise_name(word) in names]
    if len(kept) == len(words):
        return line
    return f"{line.split(maxsplit=1)[0]} {' '.join(kept)}" if kept else None


class _DomainFilter:
    """Drops rules, and names of hosts rules, by their domains."""

    _reason: str

    def __init__(self, domains: DomainPatterns) -> None:
        self._domains = domains

    def _keep(self, line: str) -> str | None:
        """Return the line, or what stays of it."""
        raise NotImplementedError

    def apply(self, lines: list[str]) -> list[str]:
        return [kept for line in lines if (kept := self._keep(line)) is not None]

    def trace(self, lines: list[str]) -> TransformationTrace:
        results = list(map(self._keep, lines))
        origins = [at for at, kept in enumerate(results) if kept is not None]
        dropped = [Drop(at, lines[at], self._reason) for at, kept in enumerate(results) if kept is None]
        return TransformationTrace([kept for kept in results if kept is not None], origins, dropped)


class DomainExclusions(_DomainFilter):
    """Drops the rules that block one of the domains; exceptions and `$badfilter` stay."""

    _reason = "blocks an excluded domain"

    def _keep(self, line: str) -> str | None:
        rule = read_named_rule(line)
        if rule is None or rule.allows:
            return line
        kept = {name for name in rule.names if not self._domains.has(rule.width, name)}
        if len(kept) == len(set(rule.names)):
            return line
        return _keep_names(line.strip(), kept) if rule.is_hosts and kept else None


class DomainInclusions(_DomainFilter):
    """Drops every line that is about none of the domains; an exception stays that is wider than one of them."""

    _reason = "concerns no included domain"

    def _keep(self, line: str) -> str | None:
        rule = read_named_rule(line)
        if rule is None:
            return None
        kept = set(self._select(rule))
        if len(kept) == len(set(rule.names)):
            return line
        return _keep_names(line.strip(), kept) if rule.is_hosts and kept else None

    def _select(self, rule: NamedRule) -> Iterator[str]:
        for name in rule.names:
            if self._domains.has(rule.width, name) or (rule.allows and self._domains.has_below(rule.width, name)):
                yield name
