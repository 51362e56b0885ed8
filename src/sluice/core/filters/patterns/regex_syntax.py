"""Parses a JavaScript regular expression into a small tree that is written again in Python's syntax.

Syntax that only one of the two languages has is translated where that is simple, and refused otherwise. The parser reads
the expression once, from left to right.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, TypeAlias

from sluice.core.filters.patterns.regex_classes import CharacterClasses, is_ascii_class

UNBOUNDED: Final = 1 << 30
# ASCII, and the other letters that equal one of ASCII if case is ignored.
_PROBES: Final = (*map(chr, range(128)), "\u0130", "\u0131", "\u017f", "\u212a")
FLAGS: Final = re.IGNORECASE | re.MULTILINE
_MAX_CHARACTERS: Final = 4_000
_MAX_DEPTH: Final = 30
_MAX_COUNT_DIGITS: Final = 9
_TOKEN: Final = re.compile(
    r"""
      (?P<escape>\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|k<[^>]*>|.))
    | (?P<class>\[(?:\\.|[^\]\\])*\])
    | (?P<open>\((?:\?(?:<?[=!]|:|<[A-Za-z_][A-Za-z0-9_]*>))?)
    | (?P<close>\))
    | (?P<bar>\|)
    | (?P<anchor>[\^$])
    | (?P<repeat>(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??)
    | (?P<character>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COUNTS: Final = {"*": (0, UNBOUNDED), "+": (1, UNBOUNDED), "?": (0, 1)}


@dataclass(frozen=True, slots=True)
class CharacterItem:
    """Matches one character; `literal` is that character if there is only one, `is_ascii` if all are of ASCII."""

    text: str
    literal: str = ""
    is_ascii: bool = False

    def is_disjoint(self, other: "CharacterItem") -> bool:
        """Return whether no character matches both; False if that is not known."""
        if not (self.is_ascii or other.is_ascii):
            return False
        return find_accepted(self.text).isdisjoint(find_accepted(other.text))


@dataclass(frozen=True, slots=True)
class Anchor:
    r"""Matches no character: `^`, `$`, `\b` or `\B`."""

    text: str


@dataclass(frozen=True, slots=True)
class Reference:
    """Matches the text of an earlier group again."""

    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """Alternatives between parentheses; `is_look` for look-ahead and look-behind, which match no character."""

    opening: str
    alternatives: list["Sequence"]
    is_look: bool = False


@dataclass(frozen=True, slots=True)
class Repeat:
    """Repeats a part; a possessive repetition of one character never gives a character back."""

    body: "Node"
    least: int
    most: int
    suffix: str = ""

    @property
    def is_possessive(self) -> bool:
        return self.suffix == "+"


@dataclass(frozen=True, slots=True)
class Scan:
    """Skips to the first occurrence of a text of fixed length, and tries no other."""

    text: list[CharacterItem]


Node: TypeAlias = CharacterItem | Anchor | Reference | Group | Repeat | Scan
Sequence: TypeAlias = list[Node]


def parse_expression(source: str) -> Group:
    """Return the tree of the expression, as a group without parentheses; raise `re.error`."""
    if len(source) > _MAX_CHARACTERS:
        raise re.error(f"it has more than {_MAX_CHARACTERS:,} characters: split it into several")
    return _ExpressionParser().parse(source)


def write_alternatives(alternatives: list[Sequence]) -> str:
    """Write the alternatives in Python's syntax."""
    return "|".join("".join(map(_write_node, nodes)) for nodes in alternatives)


def _write_node(node: Node) -> str:
    if isinstance(node, Group):
        return f"{node.opening}{write_alternatives(node.alternatives)})"
    if isinstance(node, Repeat):
        most = "" if node.most == UNBOUNDED else node.most
        return f"{_write_node(node.body)}{{{node.least},{most}}}{node.suffix}"
    if isinstance(node, Scan):
        return f"(?>.*?{''.join(item.text for item in node.text)})"
    return node.text


class _ExpressionParser:
    def __init__(self) -> None:
        self._open: list[Group] = [Group("", [[]])]
        self._classes = CharacterClasses()

    def parse(self, source: str) -> Group:
        for token in _TOKEN.finditer(source):
            self._feed(token.lastgroup or "", token[0])
        if len(self._open) > 1:
            raise re.error("a parenthesis is not closed")
        self._finish_sequence()
        return self._open[0]

    @property
    def _sequence(self) -> Sequence:
        return self._open[-1].alternatives[-1]

    def _feed(self, kind: str, text: str) -> None:
        if kind == "open":
            self._open_group(text)
        elif kind == "close":
            self._close_group()
        elif kind == "bar":
            self._finish_sequence()
            self._open[-1].alternatives.append([])
        elif kind == "repeat":
            self._repeat_last(text)
        else:
            self._sequence.append(self._parse_part(kind, text))

    def _open_group(self, text: str) -> None:
        if len(self._open) > _MAX_DEPTH:
            raise re.error(f"groups are nested more than {_MAX_DEPTH} levels deep")
        is_look = text.endswith(("=", "!"))
        opening = text.replace("(?<", "(?P<") if text.endswith(">") else text
        self._open.append(Group(opening, [[]], is_look))

    def _close_group(self) -> None:
        if len(self._open) == 1:
            raise re.error("a parenthesis is closed that was never opened")
        self._finish_sequence()
        group = self._open.pop()
        self._sequence.append(group)

    def _repeat_last(self, text: str) -> None:
        if not self._sequence or isinstance(self._sequence[-1], Repeat | Anchor):
            raise re.error(f"there is nothing that {text} could repeat")
        least, most = _parse_counts(text.rstrip("?") or "?")
        is_lazy = text.endswith("?") and text != "?"
        self._sequence.append(Repeat(self._sequence.pop(), least, most, "?" if is_lazy else ""))

    def _parse_part(self, kind: str, text: str) -> Node:
        if kind == "anchor":
            return Anchor(text)
        if kind == "class":
            return CharacterItem(self._classes.translate_class(text), is_ascii=is_ascii_class(text))
        if kind == "escape":
            return self._parse_escape(text)
        if text in "[\\?*+(":
            raise re.error(f"{text} is not expected there")
        return CharacterItem(text) if text == "." else _make_literal(text)

    def _parse_escape(self, text: str) -> Node:
        if text in {r"\b", r"\B"}:
            return Anchor(f"(?a:{text})")
        if text.startswith(r"\k<"):
            return Reference(f"(?P={text[3:-1]})")
        if text[1:] in set("123456789"):
            return Reference(f"(?:{text})")
        shorthand = self._classes.translate_shorthand(text)
        if shorthand:
            return CharacterItem(shorthand, is_ascii=text in {r"\d", r"\w"})
        return _make_literal(self._classes.parse_character(text))

    def _finish_sequence(self) -> None:
        """Make a repetition possessive if what follows cannot start with a character that it repeats."""
        nodes = self._sequence
        for at, (node, after) in enumerate(pairwise(nodes)):
            if isinstance(node, Repeat) and isinstance(node.body, CharacterItem):
                required = after.body if isinstance(after, Repeat) and after.least else after
                if isinstance(required, CharacterItem) and node.body.is_disjoint(required):
                    nodes[at] = Repeat(node.body, node.least, node.most, "+")


def _make_literal(character: str) -> CharacterItem:
    return CharacterItem(re.escape(character), character, character.isascii())


@lru_cache(maxsize=256)
def find_accepted(text: str) -> frozenset[str]:
    """Return the characters that the text of an item matches, of ASCII and of those that equal one of ASCII."""
    accepts = re.compile(text, FLAGS).fullmatch
    return frozenset(character for character in _PROBES if accepts(character))


def _parse_counts(text: str) -> tuple[int, int]:
    if text in _COUNTS:
        return _COUNTS[text]
    least, comma, most = text[1:-1].partition(",")
    if max(len(least), len(most)) > _MAX_COUNT_DIGITS:
        raise re.error(f"the count {text} is too large")
    return int(least), int(most) if most else UNBOUNDED if comma else int(least)
