"""What a list says of a name, and which rule says it, by the precedence of AdGuard's DNS engine."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cached_property
from typing import Final, NamedTuple

from sluice.core.errors import Invalid
from sluice.core.filters.formats.entries import (
    Entry,
    Width,
    find_cancelled,
    iterate_entries,
    iterate_wider,
    normalise_pattern,
    to_canonical_text,
)
from sluice.core.filters.patterns.regexes import Regex
from sluice.core.filters.patterns.work import CHECK_WORK, WorkBudget
from sluice.core.filters.syntax.punycode import normalise_name
from sluice.core.filters.syntax.rules import Rule, is_regex, modifier_name, parse_rule

_PARTS: Final = {"*": ".*", "^": r"(?:[^a-z0-9_.%-]|$)"}
# A text that stands in no `http://name`: a path, a query, another character that no name has, or one behind the name's end.
# A first `/` may stand there.
_NO_NAME: Final = re.compile(r"(?<=[^:/*])/(?!$|\*)|[^a-z0-9_.:/*^|-]|^\|\|[^^]*+\^[*^]*+[a-z0-9_.-]")
_LITERAL: Final = re.compile(r"[a-z0-9_.-]+")
_FIXED_END: Final = re.compile(r"([a-z0-9_.-]+)(?:\^\|?|\|)\Z")
_CONDITIONS: Final = frozenset({"client", "ctag", "dnstype", "denyallow"})


class Verdict(StrEnum):
    """What a list does with a name; `none` if no rule concerns it."""

    BLOCKED = "blocked"
    ALLOWED = "allowed"
    NONE = "none"


class Decision(NamedTuple):
    """The verdict, the index of the line that decides, and whether it is `$important`."""

    verdict: Verdict
    line: int | None = None
    is_important: bool = False


class NameVerdicts:
    """Decides on names by the rules of a list.

    Rules for some clients or record types only count as blocks with `any_client`. With `names`, only these are asked for.
    """

    def __init__(self, lines: Sequence[str], *, any_client: bool = False, names: Iterable[str] = ()) -> None:
        self._budget = WorkBudget()
        self._entries: dict[tuple[bool, bool, Width, str], Entry] = {}
        self._others: dict[tuple[bool, bool], list[PatternRule]] = {}
        cancelled = find_cancelled(lines)
        asked_names = tuple(names)
        asked = "\n".join(asked_names)
        # Of a long list only the entries that can decide are kept, because all of them take more memory than the list.
        concerned = {each for name in asked_names for each in (name, *iterate_wider(name))}
        for outcome in iterate_entries(lines):
            if isinstance(outcome, Entry):
                is_concerned = not asked or outcome.name in concerned
                if is_concerned and not (cancelled and to_canonical_text(lines[outcome.line]) in cancelled):
                    key = (outcome.is_exception, outcome.is_important, outcome.width, outcome.name)
                    self._entries.setdefault(key, outcome)
            elif not (cancelled and to_canonical_text(outcome.text) in cancelled):
                rule = read_pattern_rule(outcome.line - 1, outcome.text, any_client=any_client)
                if rule is not None and (not asked or rule.literal in asked):
                    self._others.setdefault((rule.is_exception, rule.is_important), []).append(rule)

    def decide(self, name: str) -> Decision:
        """Return the verdict on a name as DNS has it; raise Invalid if too many names and patterns are compared."""
        for is_important in (True, False):
            for is_exception in (True, False):
                line = self._find(name, is_exception=is_exception, is_important=is_important)
                if line is not None:
                    return Decision(Verdict.ALLOWED if is_exception else Verdict.BLOCKED, line, is_important)
        return Decision(Verdict.NONE)

    def _find(self, name: str, *, is_exception: bool, is_important: bool) -> int | None:
        for width, candidate in _iterate_candidates(name):
            if entry := self._entries.get((is_exception, is_important, width, candidate)):
                return entry.line
        rules = self._others.get((is_exception, is_important), ())
        return next((rule.line for rule in rules if self._matches(rule, name)), None)

    def _matches(self, rule: "PatternRule", name: str) -> bool:
        if rule.literal not in name:
            return False
        self._budget.take(CHECK_WORK)
        return rule.matches(name) and not any(is_inside(name, domain) for domain in rule.denyallow)


def is_inside(name: str, domain: str) -> bool:
    """Return whether the name is the domain or below it."""
    return name == domain or name.endswith(f".{domain}")


class PatternRule:
    """A rule that is no plain name; every name it matches contains `literal`."""

    def __init__(self, line: int, rule: Rule) -> None:
        self.line = line
        self.text = rule.format()
        self._pattern = rule.pattern if is_regex(rule.pattern) else normalise_pattern(rule.pattern)
        self.is_exception = rule.exception
        self.is_important = "important" in rule.modifiers
        self.literal = "" if is_regex(rule.pattern) else _find_literal(self._pattern)
        allowed = next((value for value in rule.modifiers if value.startswith("denyallow=")), "")
        self.denyallow = tuple(map(normalise_name, filter(None, allowed.partition("=")[2].split("|"))))

    @cached_property
    def end(self) -> str:
        """The text that ends each name it matches; "" if none is known."""
        found = None if is_regex(self._pattern) else _FIXED_END.search(self._pattern)
        return found[1] if found else ""

    @cached_property
    def matches(self) -> Callable[[str], bool]:
        if is_regex(self._pattern) and len(self._pattern) > 2:
            try:
                return Regex(self._pattern[1:-1]).matches
            except Invalid:
                return lambda _name: False
        expression = _to_expression(self._pattern)
        return lambda name: expression.search(f"http://{name}") is not None


def read_pattern_rule(line: int, text: str, *, any_client: bool) -> PatternRule | None:
    """Return the rule; None if a modifier narrows it or has no meaning for DNS, or if it matches no name."""
    rule = parse_rule(text)
    if rule is None:
        return None
    modifiers = set(map(modifier_name, rule.modifiers)) - {"important"}
    if modifiers - _CONDITIONS or (modifiers - {"denyallow"} and (rule.exception or not any_client)):
        return None
    if not is_regex(rule.pattern) and _NO_NAME.search(normalise_pattern(rule.pattern)):
        return None
    return PatternRule(line, rule)


def find_rule_literal(text: str) -> str | None:
    """Return a text that stands in each name that a rule which is no plain name matches; None if it decides on no name."""
    rule = read_pattern_rule(0, text, any_client=False)
    return None if rule is None else rule.literal


def _find_literal(pattern: str) -> str:
    """Return the longest text that stands in each name that the pattern matches."""
    texts = _LITERAL.findall(pattern.replace("https://", "*").replace("http://", "*"))
    return max((text for text in texts if text not in {"http", "https"}), key=len, default="")


def _iterate_candidates(name: str) -> Iterator[tuple[Width, str]]:
    yield from ((Width.EXACT, name), (Width.TREE, name))
    for wider in iterate_wider(name):
        yield from ((Width.TREE, wider), (Width.BELOW, wider))


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
