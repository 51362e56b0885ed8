"""Regular expressions of JavaScript, as Python's: flags i and m, found anywhere in a line.

What only one of the two languages knows is translated where it is simple and refused where it is not.
"""

import re
import warnings
from typing import Final

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.backtracking import max_line_length
from sluice.core.filters.patterns.regex_tree import compiled, parsed, relaxed
from sluice.core.filters.syntax.lines import WHITESPACE

_FLAGS: Final = re.IGNORECASE | re.MULTILINE
_TOKEN: Final = re.compile(
    r"""
    \\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<[^>]*>|.)  # an escape
    | \[(?:\\.|[^\]\\])*\]                                      # a character class
    | \(\?<(?![=!])                                             # a named group
    | \(\?(?![:=!<]|[ims]*(?:-[ims]+)?:)                        # a group of Python alone
    | (?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\+                        # a repetition of Python alone
    | \{,
    """,
    re.VERBOSE | re.DOTALL,
)
_CLASS_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|.)", re.DOTALL)
_SHORTHANDS: Final = {"d": "0-9", "w": "A-Za-z0-9_", "s": re.escape(WHITESPACE)}
# Escapes that mean the same in both languages, digits aside.
_SHARED: Final = frozenset("BfnrtvxuDWS")


class Regex:
    """A compiled expression, and the length beyond which a line is not looked at."""

    def __init__(self, source: str) -> None:
        """Take the text between the slashes."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                pattern = _TOKEN.sub(_translated, source)
                tree = relaxed(parsed(pattern, _FLAGS))
                self._max_length = max_line_length(tree)
                self._search = compiled(tree, _FLAGS).search
        except (re.error, OverflowError, RecursionError) as error:
            raise Invalid(f"The regular expression /{source}/ cannot be used: {error}.") from error

    def found_in(self, line: str) -> bool:
        """Whether it matches anywhere; of a very long line only the beginning is searched."""
        return self._search(line, 0, self._max_length) is not None


def _translated(token: re.Match[str]) -> str:
    text = token[0]
    if text.startswith("\\"):
        return _escape(text)
    if text.startswith("["):
        return _class(text)
    if text == "(?<":
        return "(?P<"
    if text == "{,":
        return r"\{,"
    raise re.error(f"{text} is not known in JavaScript")


def _class(text: str) -> str:
    if text == "[]":
        return "(?!)"
    if text == "[^]":
        return r"[\s\S]"
    return f"[{_CLASS_ESCAPE.sub(lambda escape: _class_escape(escape[0]), text[1:-1])}]"


def _class_escape(text: str) -> str:
    if text == r"\b":
        return r"\x08"
    return _SHORTHANDS.get(text[1:], None) or _letter_escape(text)


def _escape(text: str) -> str:
    if text.startswith(r"\k<"):
        return f"(?P={text[3:-1]})"
    if text in {r"\b", r"\B"}:
        return f"(?a:{text})"
    shorthand = _SHORTHANDS.get(text[1:].lower()) if len(text) == 2 else None
    if shorthand:
        return f"[{'^' if text[1].isupper() else ''}{shorthand}]"
    return _letter_escape(text)


def _letter_escape(text: str) -> str:
    """A letter without a meaning of its own stands for itself."""
    letter = text[1]
    if letter == "c" and len(text) == 3:
        return f"\\x{ord(text[2]) % 32:02x}"
    if letter.isascii() and letter.isalpha() and letter not in _SHARED:
        return text[1:]
    return text
