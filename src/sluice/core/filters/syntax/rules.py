"""Adblock rules: `@@` for an exception, a pattern, and modifiers after the last `$`."""

import re
from typing import Final, NamedTuple

from sluice.core.filters.syntax.lines import WHITESPACE

_EXCEPTION: Final = "@@"
_ONE_MODIFIER: Final = re.compile(r"[^$]*+(?<!\\)\$([a-z0-9~-]+)")
_COMMA: Final = re.compile(r"(?<!\\),")

# No real rule has so many. A line of megabytes with more is not split, because its parts would fill the memory.
_MAX_MODIFIERS: Final = 10_000


class Rule(NamedTuple):
    """A parsed rule; `modifiers` are the original texts, so that nothing in a value is lost."""

    exception: bool
    pattern: str
    modifiers: list[str]

    def format(self) -> str:
        head = f"{_EXCEPTION}{self.pattern}" if self.exception else self.pattern
        return f"{head}${','.join(self.modifiers)}" if self.modifiers else head


def parse_rule(line: str) -> Rule | None:
    """Parse a rule; return None for an empty line and a bare `@@`."""
    text = line.strip(WHITESPACE)
    exception = text.startswith(_EXCEPTION)
    if exception:
        text = text[2:]
    if not text:
        return None
    if "$" not in text or (is_regex(text) and "replace=" not in text):
        return Rule(exception, text, [])
    dollar = _find_last_dollar(text)
    if dollar < 0:
        return Rule(exception, text, [])
    return Rule(exception, text[:dollar], _split_modifiers(text[dollar + 1 :]))


def find_only_modifier(line: str) -> str | None:
    """Return the modifier of a rule with exactly one, without a value.

    A fast check: None does not mean that the rule has no modifiers.
    """
    match = _ONE_MODIFIER.fullmatch(line)
    return match[1] if match else None


def is_regex(pattern: str) -> bool:
    return pattern.startswith("/") and pattern.endswith("/")


def modifier_name(modifier: str) -> str:
    return modifier.partition("=")[0]


def _find_last_dollar(text: str) -> int:
    """Return the index of the last `$` that no backslash escapes, or -1."""
    dollar = text.rfind("$")
    while dollar > 0 and text[dollar - 1] == "\\":
        dollar = text.rfind("$", 0, dollar)
    return dollar


def _split_modifiers(text: str) -> list[str]:
    """Split at commas that no backslash escapes; an empty value means the same as none."""
    if text.count(",") > _MAX_MODIFIERS:
        return [text]
    parts = _COMMA.split(text) if "\\" in text else text.split(",")
    return [_strip_empty_value(part) for part in parts if part]


def _strip_empty_value(modifier: str) -> str:
    name, _, value = modifier.partition("=")
    return modifier if value else name
