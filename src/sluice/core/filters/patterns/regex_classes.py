"""Character classes and escapes of JavaScript's regular expressions, translated to Python."""

import re
from typing import Final

from sluice.core.filters.syntax.lines import WHITESPACE

_SHORTHANDS: Final = {"d": "0-9", "w": "A-Za-z0-9_", "s": re.escape(WHITESPACE)}
_CONTROLS: Final = {"f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "0": "\0", "b": "\b"}
_MEMBER: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|.)|.", re.DOTALL)
# Escapes that may stand for characters outside of ASCII.
_WIDE_ESCAPE: Final = re.compile(r"\\[uxDWSs]")
# Python takes about 100 ns for each character of a range when it compiles a class that ignores case.
_MAX_RANGED_CHARACTERS: Final = 200_000


class CharacterClasses:
    """Translates the classes of one expression; raises `re.error` for those that take too long to compile."""

    def __init__(self) -> None:
        self._ranged = 0

    def translate_shorthand(self, escape: str) -> str:
        r"""Return the class for `\d`, `\w`, `\s` and their opposites; "" for any other escape."""
        shorthand = _SHORTHANDS.get(escape[1:].lower(), "")
        return f"[{'^' if escape[1].isupper() else ''}{shorthand}]" if shorthand else ""

    def parse_character(self, escape: str) -> str:
        """Return the character that an escape stands for; a letter without a special meaning stands for itself."""
        letter, digits = escape[1], escape[2:]
        if letter in "ux" and digits:
            return chr(int(digits, 16))
        if letter == "c" and digits:
            return chr(ord(digits) % 32)
        return _CONTROLS.get(letter, letter)

    def translate_class(self, text: str) -> str:
        if text == "[]":
            return "(?!)"
        if text == "[^]":
            return r"[\s\S]"
        is_negated = text.startswith("[^")
        members = _MEMBER.findall(text[2 if is_negated else 1 : -1])
        return f"[{'^' if is_negated else ''}{self._translate_members(members)}]"

    def _translate_members(self, members: list[str]) -> str:
        parts: list[str] = []
        at = 0
        while at < len(members):
            low, high = self._parse_member(members[at]), ""
            if low and at + 2 < len(members) and members[at + 1] == "-":
                high = self._parse_member(members[at + 2])
            parts.append(self._write_range(low, high) if high else self._write_member(low, members[at]))
            at += 3 if high else 1
        return "".join(parts)

    def _parse_member(self, member: str) -> str:
        """Return the one character of a member; "" for a shorthand."""
        if len(member) == 1:
            return member
        return "" if self.translate_shorthand(member) else self.parse_character(member)

    def _write_member(self, character: str, member: str) -> str:
        if character:
            return re.escape(character)
        return _SHORTHANDS.get(member[1], member)

    def _write_range(self, low: str, high: str) -> str:
        self._ranged += ord(high) - ord(low)
        if self._ranged > _MAX_RANGED_CHARACTERS:
            raise re.error(f"its character ranges have more than {_MAX_RANGED_CHARACTERS:,} characters")
        return f"{re.escape(low)}-{re.escape(high)}"


def is_ascii_class(text: str) -> bool:
    """Return whether a class matches characters of ASCII only; False if that takes more than a look at its text."""
    return text.isascii() and not text.startswith("[^") and _WIDE_ESCAPE.search(text) is None
