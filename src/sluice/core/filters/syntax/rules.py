"""Adblock rules: `@@` for an exception, a pattern, and modifiers after the last `$`."""

import re
from typing import Final, NamedTuple

from sluice.core.filters.syntax.lines import WHITESPACE

_EXCEPTION: Final = "@@"
_ONE_MODIFIER: Final = re.compile(r"[^$]*+(?<!\\)\$([a-z0-9~-]+)")
_COMMA: Final = re.compile(r"(?<!\\),")

# No rule has as many; a line of megabytes that does stays in one piece, because its parts would fill the memory.
_MAX_MODIFIERS: Final = 10_000


class Rule(NamedTuple):
    """A parsed rule; `modifiers` are kept as they were written, so that nothing in a value is lost."""

    exception: bool
    pattern: str
    modifiers: list[str]

    def text(self) -> str:
        head = f"{_EXCEPTION}{self.pattern}" if self.exception else self.pattern
        return f"{head}${','.join(self.modifiers)}" if self.modifiers else head


def parse(line: str) -> Rule | None:
    """Read a rule; an empty line and a bare `@@` are none."""
    text = line.strip(WHITESPACE)
    exception = text.startswith(_EXCEPTION)
    if exception:
        text = text[2:]
    if not text:
        return None
    if "$" not in text or (is_regex(text) and "replace=" not in text):
        return Rule(exception, text, [])
    dollar = _last_dollar(text)
    if dollar < 0:
        return Rule(exception, text, [])
    return Rule(exception, text[:dollar], _modifiers(text[dollar + 1 :]))


def only_modifier(line: str) -> str | None:
    """The modifier of a rule that has just one, without a value; quick, and None does not say that it has none."""
    found = _ONE_MODIFIER.fullmatch(line)
    return found[1] if found else None


def is_regex(pattern: str) -> bool:
    return pattern.startswith("/") and pattern.endswith("/")


def modifier_name(modifier: str) -> str:
    return modifier.partition("=")[0]


def _last_dollar(text: str) -> int:
    """Where the last `$` stands that no backslash guards, or -1."""
    dollar = text.rfind("$")
    while dollar > 0 and text[dollar - 1] == "\\":
        dollar = text.rfind("$", 0, dollar)
    return dollar


def _modifiers(text: str) -> list[str]:
    """Split at commas that no backslash guards; an empty value says as much as none."""
    if text.count(",") > _MAX_MODIFIERS:
        return [text]
    parts = _COMMA.split(text) if "\\" in text else text.split(",")
    return [_without_empty_value(part) for part in parts if part]


def _without_empty_value(modifier: str) -> str:
    name, _, value = modifier.partition("=")
    return modifier if value else name
