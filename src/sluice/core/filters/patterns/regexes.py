"""JavaScript regular expressions translated to Python: flags i and m, matched anywhere in a line.

Syntax that only one of the two languages has is translated where that is simple, and refused otherwise.
"""

import re
import warnings
from typing import Final

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.backtracking import max_line_length
from sluice.core.filters.patterns.regex_tree import compile_tree, parse_tree, relax_tree
from sluice.core.filters.syntax.lines import WHITESPACE

_FLAGS: Final = re.IGNORECASE | re.MULTILINE
_TOKEN: Final = re.compile(
    r"""
    \\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<[^>]*>|.)  # an escape
    | \[(?:\\.|[^\]\\])*\]                                      # a character class
    | \(\?<(?![=!])                                             # a named group
    | \(\?(?![:=!<]|[ims]*(?:-[ims]+)?:)                        # a group that only Python has
    | (?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\+                        # a repetition that only Python has
    | \{,
    """,
    re.VERBOSE | re.DOTALL,
)
_CLASS_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|.)", re.DOTALL)
_SHORTHANDS: Final = {"d": "0-9", "w": "A-Za-z0-9_", "s": re.escape(WHITESPACE)}
# Letter escapes that mean the same in both languages.
_SHARED: Final = frozenset("BfnrtvxuDWS")


class Regex:
    """A compiled expression, and how many characters of a line it may search."""

    def __init__(self, source: str) -> None:
        """Compile the text between the slashes; raises Invalid if it is not valid or could take too long."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", FutureWarning)
                pattern = _TOKEN.sub(_translate_token, source)
                tree = relax_tree(parse_tree(pattern, _FLAGS))
                self._max_length = max_line_length(tree)
                self._search = compile_tree(tree, _FLAGS).search
        except (re.error, OverflowError, RecursionError) as error:
            raise Invalid(f"The regular expression /{source}/ cannot be used: {error}.") from error

    def matches(self, line: str) -> bool:
        """Return whether it matches anywhere; of a very long line only the beginning is searched."""
        return self._search(line, 0, self._max_length) is not None


def _translate_token(token: re.Match[str]) -> str:
    text = token[0]
    if text.startswith("\\"):
        return _translate_escape(text)
    if text.startswith("["):
        return _translate_class(text)
    if text == "(?<":
        return "(?P<"
    if text == "{,":
        return r"\{,"
    raise re.error(f"{text} does not exist in JavaScript")


def _translate_class(text: str) -> str:
    if text == "[]":
        return "(?!)"
    if text == "[^]":
        return r"[\s\S]"
    return f"[{_CLASS_ESCAPE.sub(lambda escape: _translate_class_escape(escape[0]), text[1:-1])}]"


def _translate_class_escape(text: str) -> str:
    if text == r"\b":
        return r"\x08"
    return _SHORTHANDS.get(text[1:], None) or _translate_letter(text)


def _translate_escape(text: str) -> str:
    if text.startswith(r"\k<"):
        return f"(?P={text[3:-1]})"
    if text in {r"\b", r"\B"}:
        return f"(?a:{text})"
    shorthand = _SHORTHANDS.get(text[1:].lower()) if len(text) == 2 else None
    if shorthand:
        return f"[{'^' if text[1].isupper() else ''}{shorthand}]"
    return _translate_letter(text)


def _translate_letter(text: str) -> str:
    """Translate the escape of a single letter; a letter without a special meaning stands for itself."""
    letter = text[1]
    if letter == "c" and len(text) == 3:
        return f"\\x{ord(text[2]) % 32:02x}"
    if letter.isascii() and letter.isalpha() and letter not in _SHARED:
        return text[1:]
    return text
