"""Compress: converts hosts rules and bare domains to `||host^`, and drops rules that a wider one covers.

A line that blocks one host and its subdomains has that `||host^` as its key. All other lines have no key and are kept. A
rule that a later step drops covers nothing: otherwise the rules that it covers would be lost with it.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from itertools import compress
from operator import not_
from typing import Final, TypeAlias

from sluice.core.filters.syntax.domains import is_compressible, is_plain_domain
from sluice.core.filters.syntax.hosts import is_hosts_rule, iterate_hostnames
from sluice.core.filters.syntax.line_runs import CHUNK_LINES, LineRun, compile_run, find_runs
from sluice.core.filters.syntax.rules import parse_rule
from sluice.core.filters.transformations.drop_reasons import Drop, TransformationTrace
from sluice.core.filters.transformations.text_set import TextSet

# No domain name is longer, so no longer rule covers one. This also limits the work for a line of a million dots.
_MAX_DOMAIN: Final = 255
_COMMON_RULE: Final = r"\|\|[a-z0-9-]{1,63}+\.[a-z0-9.-]{1,190}+\^"
_COMMON_HOST: Final = r"[a-z0-9_-]{1,63}+\.[a-z0-9._-]{1,190}+"


def _match_hosts(group: int) -> str:
    """Return the expression for hosts rules with the same address, which is in the group, and for rules among them."""
    return rf"([0-9.]++[ \t]++){_COMMON_HOST}\n(?:\{group}{_COMMON_HOST}\n|{_COMMON_RULE}\n)*+"


# The most frequent kinds of line in DNS lists: `||host^`, hosts rules with one hostname, and bare domains, which are group 3.
# One without a dot is not common.
_COMMON_LABEL: Final = r"[a-z0-9][a-z0-9-]{0,62}+(?<!-)"
_COMMON_DOMAIN: Final = rf"(?:{_COMMON_LABEL}\.)++{_COMMON_LABEL}(?<!.{{250}})"
_RUN: Final = compile_run(
    rf"(?:{_COMMON_RULE}\n)++(?:{_match_hosts(1)})?+|{_match_hosts(2)}|((?:{_COMMON_DOMAIN}\n)++)"
)

_FREED: Final = [""] * CHUNK_LINES
_WIDEST: Final = "||"  # what is left of a rule without its only label

# An output line, and its key or "".
_Entry: TypeAlias = tuple[str, str]


def _keep_all(rules: list[str]) -> list[str]:
    return rules


class _CompressedRules:
    """All lines as rules, and the keys of those that have one."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.keys = TextSet()
        self.others: dict[int, str] = {}  # by the index in `texts`, the key of a line that differs from it
        self.top_levels: list[str] = []  # keys without a dot
        self.has_long = False  # whether a key is longer than any domain name

    def append(self, text: str, key: str) -> None:
        """Append a line whose key, if it has one, is among the keys."""
        if text != key:
            self.others[len(self.texts)] = key
        self.texts.append(text)
        if key:
            self.has_long = self.has_long or len(key) > _MAX_DOMAIN
            if "." not in key:
                self.top_levels.append(key)

    def iterate_keys(self) -> Iterator[list[str]]:
        """Yield the key of each line or "", a chunk of lines at a time."""
        positions = list(self.others)
        for start in range(0, len(self.texts), CHUNK_LINES):
            keys = self.texts[start : start + CHUNK_LINES]
            for at in positions[bisect_left(positions, start) : bisect_left(positions, start + CHUNK_LINES)]:
                keys[at - start] = self.others[at]
            yield keys


class Compress:
    """The transformation of this name. `select_valid` leaves out the rules that a later step drops."""

    def __init__(self, select_valid: Callable[[list[str]], list[str]] = _keep_all) -> None:
        self._select_valid = select_valid

    def apply(self, lines: list[str]) -> list[str]:
        rules = _CompressedRules()
        for run in find_runs(lines, _RUN):
            if run.match:
                rules.texts += rules.keys.add_all(_convert_run(lines, run))
            else:
                for text, key in _expand(lines[run.start]):
                    if not key or rules.keys.add(key):
                        rules.append(text, key)
            if run.end % CHUNK_LINES == 0:  # free the lines that were converted, because a long list fills the memory
                lines[run.end - CHUNK_LINES : run.end] = _FREED
        return list(compress(rules.texts, self._mark_uncovered(rules)))

    def trace(self, lines: list[str]) -> TransformationTrace:
        rules = _CompressedRules()
        origins: list[int] = []
        repeated: set[int] = set()  # indexes of rules
        for run in find_runs(lines, _RUN):
            if run.match:
                converted = _convert_run(lines, run)
                repeated.update(_find_repeated(converted, rules.keys, len(rules.texts)))
                rules.texts += converted
                origins += range(run.start, run.end)
                continue
            for text, key in _expand(lines[run.start]):
                if key and not rules.keys.add(key):
                    repeated.add(len(rules.texts))
                rules.append(text, key)
                origins.append(run.start)
        kept = self._mark_uncovered(rules)
        for at in repeated:
            kept[at] = 0
        covers = set(self._select_valid(list(rules.keys))) if 0 in kept else set()
        dropped = [
            Drop(origins[at], rules.texts[at], _explain_drop(rules.others.get(at, rules.texts[at]), covers))
            for at, is_kept in enumerate(kept)
            if not is_kept
        ]
        return TransformationTrace(list(compress(rules.texts, kept)), list(compress(origins, kept)), dropped)

    def _mark_uncovered(self, rules: _CompressedRules) -> bytearray:
        """Mark each line 1, or 0 if a key covers it."""
        marks = bytearray()
        least_dots = 1 if self._select_valid(rules.top_levels) else 2  # in a rule that another can cover
        for keys in rules.iterate_keys():
            coverable = [key for key in keys if key.count(".") >= least_dots]
            parents = _widen_each(coverable, has_long=rules.has_long)
            covering = self._find_covering(parents, rules, least_dots)
            if covering:
                covered = set(compress(coverable, map(covering.__contains__, parents)))
                marks += bytes(map(not_, map(covered.__contains__, keys)))
            else:
                marks += b"\x01" * len(keys)
        return marks

    def _find_covering(self, parents: list[str], rules: _CompressedRules, least_dots: int) -> set[str]:
        """Return those of the parents, and of all wider rules, that are a key or that a key covers."""
        levels: list[tuple[list[str], list[str]]] = []  # rules that a key can cover, and the next wider one of each
        found: set[str] = set()
        level = set(parents)
        while level:
            found |= rules.keys & level
            narrow = [rule for rule in level if rule.count(".") >= least_dots]
            levels.append((narrow, _widen_each(narrow, has_long=rules.has_long)))
            level = set(levels[-1][1])
        covering = set(self._select_valid(list(found)))
        for narrow, wider in reversed(levels) if covering else ():
            covering.update(list(compress(narrow, map(covering.__contains__, wider))))
        return covering


def _explain_drop(key: str, covers: set[str]) -> str:
    """Return why a line is dropped, with the rule that replaces it."""
    widest, wider = key, _widen(key)
    while wider != _WIDEST:
        if wider in covers:
            widest = wider
        wider = _widen(wider)
    return f"duplicate of {key}" if widest == key else f"covered by {widest}"


def _widen_each(rules: list[str], *, has_long: bool) -> list[str]:
    """Widen rules that have a dot."""
    return list(map(_widen, rules)) if has_long else ["||" + rule.split(".", 1)[1] for rule in rules]


def _widen(rule: str) -> str:
    """Return the rule without its first label; of a long one, at most as much of its end as a name may have."""
    return "||" + rule[2 - _MAX_DOMAIN :].partition(".")[2]


def _convert_run(lines: list[str], run: LineRun) -> list[str]:
    """Return a run of common lines as rules; hosts rules or domains alone are converted as one text."""
    rules = lines[run.start : run.end]
    if run.match is None or not run.match.lastindex:
        return rules
    text, address = run.match[0], run.match[1] or run.match[2] or ""
    if "||" not in text:
        return ("||" + text[len(address) : -1].replace("\n" + address, "^\n||") + "^").split("\n")
    return [rule if rule.startswith("||") else f"||{rule[len(address) :]}^" for rule in rules]


def _find_repeated(rules: list[str], keys: TextSet, start: int) -> list[int]:
    """Return the indexes, counted from `start`, of the rules that are among the keys or repeat another; add all to the keys."""
    new = keys.add_all(rules)
    if new is rules:
        return []
    unseen = set(new)
    repeated: list[int] = []
    for at, rule in enumerate(rules, start):
        if rule in unseen:
            unseen.remove(rule)
        else:
            repeated.append(at)
    return repeated


def _expand(line: str) -> Iterable[_Entry]:
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


class _ConvertOnly:
    """Compress without its comparison of rules: nothing is dropped."""

    def apply(self, lines: list[str]) -> list[str]:
        return [text for line in lines for text, _ in _expand(line)]

    def trace(self, lines: list[str]) -> TransformationTrace:
        pairs = [(text, index) for index, line in enumerate(lines) for text, _ in _expand(line)]
        return TransformationTrace([text for text, _ in pairs], [index for _, index in pairs], [])


COMPRESS: Final = Compress()
CONVERT_ONLY: Final = _ConvertOnly()
