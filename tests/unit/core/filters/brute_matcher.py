"""A brute-force matcher for DNS rules: it tries every rule on a name, by the precedence of AdGuard's DNS engine."""

import re
from collections.abc import Iterable

from sluice.core.filters.syntax.rules import parse_rule

_HOSTS = re.compile(r"[0-9a-f.:]+\s+(.+)")
_NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")


def decide(lines: Iterable[str], name: str) -> str:
    """Return `blocked`, `allowed` or `none` for a host name."""
    lines = [line.strip() for line in lines]
    cancelled = {cancel(line) for line in lines if "badfilter" in line}
    classes = {classify(line) for line in lines if line not in cancelled and is_match(line, name)}
    for verdict, kinds in (
        ("allowed", {"important exception"}),
        ("blocked", {"important block"}),
        ("allowed", {"exception"}),
        ("blocked", {"block", "hosts"}),
    ):
        if classes & kinds:
            return verdict
    return "none"


def cancel(line: str) -> str:
    rule = parse_rule(line)
    assert rule
    return rule._replace(modifiers=[modifier for modifier in rule.modifiers if modifier != "badfilter"]).format()


def classify(line: str) -> str:
    rule = parse_rule(line)
    if rule is None or _HOSTS.fullmatch(line) or _NAME.fullmatch(line):
        return "hosts"
    kind = "exception" if rule.exception else "block"
    return f"important {kind}" if "important" in rule.modifiers else kind


def is_match(line: str, name: str) -> bool:
    if not line or line.startswith(("!", "#")) or "badfilter" in line:
        return False
    if hosts := _HOSTS.fullmatch(line):
        return name in hosts[1].lower().split()
    if _NAME.fullmatch(line):
        return name == line
    rule = parse_rule(line)
    if rule is None or set(rule.modifiers) - {"important"}:
        return False
    return to_expression(rule.pattern).search(f"http://{name}") is not None


def to_expression(pattern: str) -> re.Pattern[str]:
    """Translate a pattern: `||` begins a label, `|` is an end, `^` a separator or the end, `*` anything."""
    text = pattern.lower()
    begin = ""
    if text.startswith("||"):
        begin, text = r"^http://(?:[^/]*\.)?", text[2:]
    elif text.startswith("|"):
        begin, text = "^http://", text[1:]
    end = ""
    if text.endswith("|"):
        end, text = "$", text[:-1]
    parts = {"*": ".*", "^": r"(?:[^a-z0-9_.%-]|$)"}
    return re.compile(begin + "".join(parts.get(character) or re.escape(character) for character in text) + end)
