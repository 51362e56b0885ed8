"""Validate and its three variants: drop rules that DNS cannot apply, or that would match far too much.

A line without a flaw is valid. `apply` and `trace` find flaws with the same function, and only `trace` adds names to the
reason.
"""

import re
from functools import cache
from itertools import compress
from typing import Final, NamedTuple

from sluice.core.filters.syntax.breadth import matches_everything
from sluice.core.filters.syntax.cosmetic import is_cosmetic
from sluice.core.filters.syntax.domains import extract_exact_domain
from sluice.core.filters.syntax.hostnames import Hostname, parse_hostname
from sluice.core.filters.syntax.hosts import is_hosts_rule, iterate_hostnames
from sluice.core.filters.syntax.ip_patterns import IpPattern, is_address
from sluice.core.filters.syntax.line_runs import compile_run, find_runs
from sluice.core.filters.syntax.lines import WHITESPACE, is_blank, is_comment
from sluice.core.filters.syntax.public_suffixes import load_public_suffixes
from sluice.core.filters.syntax.rules import Rule, find_only_modifier, is_regex, modifier_name, parse_rule
from sluice.core.filters.transformations.drop_reasons import TransformationTrace, trace_selection
from sluice.core.filters.transformations.leading_comments import LEADING_COMMENT_REASON, mark_kept_lines


class _Flaw(NamedTuple):
    """Why a line is not valid, with the reason for the report."""

    reason: str


_SHORT: Final = _Flaw("pattern too short")
_MODIFIER: Final = _Flaw("a modifier is not supported by DNS")
_CHARACTERS: Final = _Flaw("characters that no domain name has")
_COSMETIC: Final = _Flaw("a cosmetic rule, which DNS cannot apply")
_IP: Final = _Flaw("an IP address")
_PARTIAL_IP: Final = _Flaw("a part of an IP address")
_DENYALLOW_IP: Final = _Flaw("denyallow does not work with an IP address")
_AFTER_SEPARATOR: Final = _Flaw("text after the separator")
_MALFORMED: Final = _Flaw("malformed hostname")
_SUFFIX: Final = _Flaw("matches only a public suffix")
_UNKNOWN_SUFFIX: Final = _Flaw("not a known public suffix")
_EVERYTHING: Final = _Flaw("matches every name")
_NO_HOSTNAME: Final = _Flaw("an address without a hostname")

_FLAWS_OF_RUNS: Final = {1: _CHARACTERS, 2: _AFTER_SEPARATOR}

_LIMITING: Final = frozenset({"denyallow", "badfilter", "client"})
_SUPPORTED: Final = frozenset({"important", "~important", "dnstype", "dnsrewrite", "ctag"}) | _LIMITING
_UNCONDITIONAL: Final = frozenset({"important", "~important"})  # all other modifiers narrow a rule
_MIN_PATTERN: Final = 5

# The form of nearly every hostname and every line in a DNS list. Its only possible flaw is to name a public suffix.
_COMMON_LABEL: Final = r"[a-z0-9][a-z0-9-]{0,62}+(?<!-)"
_COMMON_TOP_LEVEL: Final = r"[a-z][a-z0-9-]{0,62}+(?<!-)"
_COMMON_NAME: Final = rf"(?:{_COMMON_LABEL}\.)+{_COMMON_TOP_LEVEL}"
_COMMON_HOSTNAME: Final = re.compile(_COMMON_NAME)
_COMMON_LINE: Final = re.compile(rf"(?:@@)?\|\|({_COMMON_NAME})\^|[0-9.]+[ \t]+({_COMMON_NAME})")
_MAX_COMMON: Final = 250
_PATTERN_CHARACTERS: Final = re.compile(r"[a-zA-Z0-9.*|^-]+")
# A line with such a first or last character may be a regular expression, or have text around its pattern.
_DOUBTFUL_STARTS: Final = frozenset({"", "@", ":", *WHITESPACE})
_DOUBTFUL_ENDS: Final = frozenset({"/", *WHITESPACE})
_IP_RULE: Final = rf"[{WHITESPACE}]*+(?:@@)?\|{{0,2}}[0-9.]++[*^|]*+[{WHITESPACE}]*+(?:\$|\Z)"
_LETTER_OR_DIGIT: Final = re.compile(r"[a-zA-Z0-9]")


@cache
def _compile_run() -> re.Pattern[str]:
    """Compile the expression for lines that need no closer look; the groups are those of `_FLAWS_OF_RUNS`.

    A line `||host^` is valid unless the host is a public suffix by its full name. `||ads.` and `||ads*.host^` are valid too,
    and `||host^*.net` is not. A path or a selector is recognised as by `_is_plainly_no_pattern`; it is no hosts rule, because
    it has no white space.
    """
    wildcards = "|".join(map(re.escape, load_public_suffixes().wildcards))
    name = rf"{_COMMON_LABEL}\.(?!(?:{wildcards})\^)(?:{_COMMON_LABEL}\.)*+{_COMMON_TOP_LEVEL}"
    host = rf"\|\|{name}\^(?<!.{{{_MAX_COMMON + 1}}})\n"
    part = r"\|\|[a-z](?:[a-z0-9.-]{2,}+|[a-z0-9.-]*+\*[a-z0-9.*-]*+\^)\n"
    no_pattern = rf"(?![!@:]|#(?!#)|####)[a-zA-Z0-9.*|^-]*+[^{WHITESPACE}$a-zA-Z0-9.*|^-][^{WHITESPACE}$]*+(?<!/)\n"
    after_separator = r"\|\|[a-z][a-z0-9.-]*+\^[a-z0-9.-]*+\*[a-z0-9.*-]*+\n"
    return compile_run(rf"(?:{host}|{part})++|((?:{no_pattern})++)|((?:{after_separator})++)")


class Validator:
    def __init__(self, *, allow_ip: bool = False, allow_public_suffix: bool = False) -> None:
        self._allow_ip = allow_ip
        self._allow_public_suffix = allow_public_suffix

    def apply(self, lines: list[str]) -> list[str]:
        lines = self._normalize(lines)
        flaws = self._find_flaws(lines)
        return list(compress(lines, mark_kept_lines(lines, flaws))) if flaws else lines

    def trace(self, lines: list[str]) -> TransformationTrace:
        lines = self._normalize(lines)
        flaws = self._find_flaws(lines)
        kept = mark_kept_lines(lines, flaws)
        return trace_selection(lines, kept, lambda index: _explain_drop(lines[index], flaws.get(index)))

    def select_valid(self, lines: list[str]) -> list[str]:
        """Return the lines that are valid as they are."""
        flaws = self._find_flaws(lines)
        return [line for at, line in enumerate(lines) if at not in flaws] if flaws else lines

    def _normalize(self, lines: list[str]) -> list[str]:
        if not self._allow_ip:
            return lines
        may_be_ip = re.compile(_IP_RULE).match
        return [_normalize_ip_rule(line) if may_be_ip(line) else line for line in lines]

    def _find_flaws(self, lines: list[str]) -> dict[int, _Flaw]:
        """Return the flaw of each line that is not valid, by its index."""
        flaws: dict[int, _Flaw] = {}
        suffixes = load_public_suffixes().plain
        for run in find_runs(lines, _compile_run()):
            if run.match and run.match.lastindex:
                flaws |= dict.fromkeys(range(run.start, run.end), _FLAWS_OF_RUNS[run.match.lastindex])
                continue
            if run.match and suffixes.isdisjoint(lines[run.start : run.end]):
                continue
            for index in range(run.start, run.end):
                is_doubtful = run.match is None or lines[index] in suffixes
                if is_doubtful and (flaw := self._find_flaw(lines[index])):
                    flaws[index] = flaw
        return flaws

    def _find_flaw(self, line: str) -> _Flaw | None:
        common = _COMMON_LINE.fullmatch(line)
        if common and len(line) <= _MAX_COMMON and not load_public_suffixes().is_listed(common[common.lastindex or 0]):
            return None
        if is_comment(line) or is_blank(line):
            return None
        if is_hosts_rule(line):
            return self._find_hosts_flaw(line)
        return _CHARACTERS if _is_plainly_no_pattern(line) else self._find_rule_flaw(line)

    def _find_hosts_flaw(self, line: str) -> _Flaw | None:
        flaw: _Flaw | None = _NO_HOSTNAME
        for hostname in iterate_hostnames(line):
            flaw = self._find_hostname_flaw(hostname)
            if flaw:
                return flaw
        return flaw

    def _find_rule_flaw(self, line: str) -> _Flaw | None:
        only = find_only_modifier(line)
        if only and only not in _SUPPORTED:
            return _MODIFIER
        rule = parse_rule(line)
        if rule is None:
            return _SHORT
        names = set(map(modifier_name, rule.modifiers))
        if not names <= _SUPPORTED:
            return _MODIFIER
        pattern = rule.pattern
        domain = extract_exact_domain(pattern)
        if domain is None and _is_short(pattern):
            return _SHORT
        if names <= _UNCONDITIONAL and matches_everything(pattern):
            return _EVERYTHING
        if is_regex(pattern):
            return None
        if not _PATTERN_CHARACTERS.fullmatch(_strip_scheme_separator(pattern)):
            return _CHARACTERS
        return self._find_pattern_flaw(pattern, domain, names)

    def _find_pattern_flaw(self, pattern: str, domain: str | None, names: set[str]) -> _Flaw | None:
        if ip := IpPattern.parse(pattern):
            if "denyallow" in names:
                return _DENYALLOW_IP
            if ip.is_partial() and not (self._allow_ip and ip.anchor == "||" and ip.is_subnet()):
                return _PARTIAL_IP
        if is_address(pattern):
            return None if self._allow_ip else _IP
        before, _, after = pattern.partition("^")
        if "*" in after and "*" not in before:
            return _AFTER_SEPARATOR
        limited = not _LIMITING.isdisjoint(names)
        if domain is not None:
            return self._find_hostname_flaw(domain, limited=limited)
        return self._find_anchored_flaw(pattern, limited=limited)

    def _find_anchored_flaw(self, pattern: str, *, limited: bool) -> _Flaw | None:
        """Check `||…^` with more than a domain name in it; any other pattern is valid."""
        if not pattern.startswith("||") or "^" not in pattern:
            return None
        text, _, after = pattern[2:].partition("^")
        if "*" in pattern:
            rest = text.removeprefix("*.")
            return self._find_hostname_flaw(rest, limited=limited) if rest != text and _is_public_suffix(rest) else None
        flaw = self._find_hostname_flaw(text, limited=limited)
        if flaw is None and after and not after.startswith("|"):
            return _AFTER_SEPARATOR
        return flaw

    def _find_hostname_flaw(self, text: str, *, limited: bool = False) -> _Flaw | None:
        if len(text) <= _MAX_COMMON and _COMMON_HOSTNAME.fullmatch(text):
            return self._find_suffix_flaw(text) if load_public_suffixes().is_listed(text) and not limited else None
        hostname = parse_hostname(text)
        if hostname is None or not _LETTER_OR_DIGIT.search(hostname.name):
            return _MALFORMED
        if hostname.is_ip:
            return None if self._allow_ip else _IP
        return None if limited or not _is_suffix(hostname) else self._find_suffix_flaw(hostname.name)

    def _find_suffix_flaw(self, suffix: str) -> _Flaw | None:
        if not self._allow_public_suffix:
            return _SUFFIX
        return None if load_public_suffixes().is_listed(suffix) else _UNKNOWN_SUFFIX


def _is_plainly_no_pattern(line: str) -> bool:
    """Recognise most paths and selectors without parsing; a rule with modifiers needs the full check."""
    if "$" in line or line[:1] in _DOUBTFUL_STARTS or line[-1:] in _DOUBTFUL_ENDS:
        return False
    return _PATTERN_CHARACTERS.fullmatch(line) is None


def _is_suffix(hostname: Hostname) -> bool:
    return not hostname.is_ip and load_public_suffixes().is_suffix(hostname.name)


def _is_public_suffix(text: str) -> bool:
    hostname = parse_hostname(text)
    return hostname is not None and hostname.name == text and _is_suffix(hostname)


def _is_short(pattern: str) -> bool:
    """Count the length in UTF-16, where a character above U+FFFF counts twice."""
    if len(pattern) >= _MIN_PATTERN:
        return False
    return len(pattern) + sum(character > "\uffff" for character in pattern) < _MIN_PATTERN


def _strip_scheme_separator(pattern: str) -> str:
    return pattern.lstrip(":/") if pattern.startswith("://") else pattern


def _normalize_ip_rule(line: str) -> str:
    """Rewrite a rule for an address or a subnet to the form that works everywhere."""
    rule = parse_rule(line)
    ip = IpPattern.parse(rule.pattern) if rule else None
    pattern = ip.normalize() if ip else None
    if rule is None or pattern is None or pattern == rule.pattern:
        return line
    return Rule(rule.exception, pattern, rule.modifiers).format()


def _explain_drop(line: str, flaw: _Flaw | None) -> str:
    if flaw is None:
        return LEADING_COMMENT_REASON
    if flaw in {_CHARACTERS, _MODIFIER, _SHORT} and is_cosmetic(line):
        return _COSMETIC.reason
    if flaw is _MODIFIER and (rule := parse_rule(line)):
        return f"modifier {_first_unsupported(rule)} is not supported by DNS"
    return flaw.reason


def _first_unsupported(rule: Rule) -> str:
    return next(name for name in map(modifier_name, rule.modifiers) if name not in _SUPPORTED)


VALIDATE: Final = Validator()
VALIDATE_ALLOW_IP: Final = Validator(allow_ip=True)
VALIDATE_ALLOW_PUBLIC_SUFFIX: Final = Validator(allow_public_suffix=True)
VALIDATE_ALLOW_IP_AND_PUBLIC_SUFFIX: Final = Validator(allow_ip=True, allow_public_suffix=True)
