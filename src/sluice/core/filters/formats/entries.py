"""Reads the lines of a list as entries: which names each rule blocks or allows, as far as names can say it."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sluice.core.filters.syntax.cosmetic import is_cosmetic
from sluice.core.filters.syntax.hosts import is_hosts_rule, iterate_hostnames
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.filters.syntax.punycode import encode_name, normalise_name
from sluice.core.filters.syntax.rules import is_regex, modifier_name, parse_rule

_LABEL: Final = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_MAX_NAME: Final = 253
_NAME: Final = re.compile(rf"(?=.{{1,{_MAX_NAME}}}\Z){_LABEL}(?:\.{_LABEL})*")
# The most frequent kind of line in DNS lists.
_COMMON_RULE: Final = re.compile(rf"\|\|({_LABEL}(?:\.{_LABEL})+)\^")
_NAME_IN_PATTERN: Final = re.compile(r"[^|^*/:]+")
_NO_ASCII_FORM: Final = "an international name without an ASCII form"
_ADDRESS: Final = re.compile(r"[0-9.]+\Z|.*:")
_LOOPBACK: Final = frozenset(
    {"localhost", "localhost.localdomain", "local", "broadcasthost", "ip6-localhost", "ip6-loopback", "ip6-localnet",
     "ip6-mcastprefix", "ip6-allnodes", "ip6-allrouters", "ip6-allhosts"}
)  # fmt: skip
_NARROWING: Final = frozenset({"client", "ctag", "dnstype", "denyallow", "dnsrewrite"})


class Width(StrEnum):
    """Which names an entry means: the name itself, it and all below, or only those below."""

    EXACT = "exact"
    TREE = "tree"
    BELOW = "below"


_PATTERNS: Final = (
    (re.compile(r"\|\|([^*^|/]+)(?:\^(?:\||\*)?|/\*)"), Width.TREE),
    (re.compile(r"(?:\||(?:https?)?://)([^*^|/]+)(?:\^\|?|\|)"), Width.EXACT),
    (re.compile(r"(?:\|\|)?\*\.([^*^|/]+)\^\|?|\*\.([^*^|/]+)|\.([^*^|/]+)\^"), Width.BELOW),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One name that a rule blocks, or allows; `line` is its index."""

    line: int
    name: str
    width: Width
    is_exception: bool = False
    is_important: bool = False


@dataclass(frozen=True, slots=True)
class SkippedLine:
    """A line that cannot be expressed, by its number from 1, with the reason."""

    line: int
    text: str
    reason: str


def read_entries(lines: Sequence[str]) -> tuple[list[Entry], list[SkippedLine]]:
    """Return all entries, without those that a `$badfilter` cancels, and the lines that are none."""
    entries: list[Entry] = []
    skipped: list[SkippedLine] = []
    for outcome in iterate_entries(lines):
        if isinstance(outcome, Entry):
            entries.append(outcome)
        else:
            skipped.append(outcome)
    if cancelled := find_cancelled(lines):
        entries = [entry for entry in entries if to_canonical_text(lines[entry.line]) not in cancelled]
    return entries, skipped


def iterate_entries(lines: Iterable[str]) -> Iterator[Entry | SkippedLine]:
    """Yield the entries of each line, or the line itself if it has none; also those that a `$badfilter` cancels."""
    for index, line in enumerate(lines):
        text = line.strip()
        outcome = _read_text(index, text)
        if isinstance(outcome, list):
            yield from outcome
        elif outcome:
            yield SkippedLine(index + 1, text, outcome)


def read_decisive_entries(lines: Iterable[str]) -> list[Entry]:
    """Return the exceptions and the `$important` blocks, on which it depends what becomes of all other entries."""
    entries: list[Entry] = []
    for index, line in enumerate(lines):
        if "@@" in line or "important" in line:
            outcome = _read_text(index, line.strip())
            found = outcome if isinstance(outcome, list) else []
            entries += [entry for entry in found if entry.is_exception or entry.is_important]
    return entries


def find_cancelled(lines: Iterable[str]) -> set[str]:
    """Return the rules that a `$badfilter` cancels, in their canonical form."""
    return {text for line in lines if "badfilter" in line and (text := read_badfilter(line.strip()))}


def read_badfilter(text: str) -> str:
    """Return the rule that a `$badfilter` cancels; "" for any other rule."""
    if "badfilter" not in text:
        return ""
    rule = parse_rule(text)
    if rule is None or "badfilter" not in rule.modifiers:
        return ""
    rest = [modifier for modifier in rule.modifiers if modifier != "badfilter"]
    return to_canonical_text(rule._replace(modifiers=rest).format())


def to_canonical_text(text: str) -> str:
    """Return the rule in one spelling, in which a `$badfilter` and what it cancels are compared.

    Its modifiers have a fixed order, and an international name is in ASCII.
    """
    rule = parse_rule(text)
    if rule is None:
        return text
    is_converted = not rule.pattern.isascii() and not is_regex(rule.pattern)
    pattern = normalise_pattern(rule.pattern) if is_converted else rule.pattern
    return rule._replace(pattern=pattern, modifiers=sorted(rule.modifiers)).format()


def _read_text(index: int, text: str) -> list[Entry] | str:
    """Return the entries of a line, or the reason why it has none; "" for a comment, and for what means nothing."""
    if (common := _COMMON_RULE.fullmatch(text)) and is_name(common[1]):
        return [Entry(index, common[1], Width.TREE)]
    if _is_no_rule(text):
        return ""
    return _read_rule(index, text)


def _is_no_rule(text: str) -> bool:
    is_title = text.startswith("[") and text.endswith("]")
    return is_blank(text) or is_comment(text) or is_title or bool(read_badfilter(text))


def _read_rule(index: int, text: str) -> list[Entry] | str:
    if is_cosmetic(text):
        return "a cosmetic rule, which DNS cannot apply"
    if is_hosts_rule(text):
        return _read_hosts_rule(index, text)
    rule = parse_rule(text)
    if rule is None:
        return "no pattern"
    names = set(map(modifier_name, rule.modifiers)) - {"important"}
    if names & _NARROWING:
        return f"modifier {min(names & _NARROWING)} cannot be expressed"
    if names:
        return f"modifier {min(names)} has no meaning for DNS"
    if is_regex(rule.pattern):
        return "a regular expression cannot be expressed"
    pattern = normalise_pattern(rule.pattern)
    if not rule.exception and not rule.modifiers and _is_label(pattern):
        return [Entry(index, pattern, Width.EXACT)]
    found = read_pattern(pattern)
    if found is None:
        return "a pattern that is no name cannot be expressed" if pattern.isascii() else _NO_ASCII_FORM
    width, name = found
    return [Entry(index, name, width, rule.exception, "important" in rule.modifiers)]


def _read_hosts_rule(index: int, text: str) -> list[Entry] | str:
    names = map(normalise_name, iterate_hostnames(text))
    kept = [name for name in names if name not in _LOOPBACK and not _ADDRESS.match(name)]
    if not all(map(is_name, kept)):
        return "a malformed hostname" if all(map(str.isascii, kept)) else _NO_ASCII_FORM
    return [Entry(index, name, Width.EXACT) for name in kept] or ""


def normalise_pattern(pattern: str) -> str:
    """Return a pattern in lower case, with its name in ASCII if that has such a form."""
    if pattern.isascii():
        return pattern.lower()
    return _NAME_IN_PATTERN.sub(lambda name: encode_name(name[0]), pattern).lower()


def read_pattern(pattern: str) -> tuple[Width, str] | None:
    """Return the width and the name of a pattern in lower case; None if it means anything else."""
    for shape, width in _PATTERNS:
        if match := shape.fullmatch(pattern):
            name = next(filter(None, match.groups()))
            return (width, name) if is_name(name) or (width is not Width.EXACT and _is_label(name)) else None
    return None


def is_name(text: str) -> bool:
    """Return whether the text is a host name in lower case with at least one dot, and no address."""
    return "." in text and _NAME.fullmatch(text) is not None and not _ADDRESS.match(text)


def _is_label(text: str) -> bool:
    return _NAME.fullmatch(text) is not None and not _ADDRESS.match(text)


def iterate_wider(name: str) -> Iterator[str]:
    """Yield the names above a name, the nearest first; none for a text that is too long to be a name."""
    if len(name) > _MAX_NAME:
        return
    _, dot, rest = name.partition(".")
    while dot:
        yield rest
        _, dot, rest = rest.partition(".")
