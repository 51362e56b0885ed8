r"""Decides whether a regular expression matches every name, by a search for a name that it does not match.

A name is what is asked of the public DNS: two or more labels of letters, digits and hyphens, the last one in letters or in
Punycode. So `.`, `[a-z]` and `\.` match every name, `[0-9]` and `-` do not. The names and the expression become automata
that read the same characters; look-around and back-references are taken to match nothing, and a search that takes too long
has found a name, so what is said to match every name does.
"""

import re
import string
from collections.abc import Collection
from functools import cache
from typing import Final, NamedTuple

from sluice.core.filters.patterns.regex_syntax import (
    UNBOUNDED,
    Anchor,
    CharacterItem,
    Group,
    Node,
    Repeat,
    Sequence,
    find_accepted,
    parse_expression,
)

_NAMES: Final = r"^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+(?:[a-z]{2,}|xn--[a-z0-9-]*[a-z0-9])$"
_ALPHABET: Final = frozenset(string.ascii_lowercase + string.digits + "-.")
_MAX_NAME: Final = 253
_MAX_LABEL: Final = 63
_MAX_STATES: Final = 400
_MAX_STEPS: Final = 20_000
_START: Final = 0
_END: Final = 1


class _TooLargeError(Exception):
    """More states or steps than are worth it."""


class _Automaton:
    """States and the ways between them: over one character of a set, or over none, under the condition of an anchor."""

    def __init__(self, alternatives: list[Sequence]) -> None:
        self.moves: list[list[tuple[frozenset[str], int]]] = [[], []]
        self.jumps: list[list[tuple[str, int]]] = [[], []]
        self._add_alternatives(alternatives, _START, _END)

    def _add_state(self) -> int:
        if len(self.moves) >= _MAX_STATES:
            raise _TooLargeError
        self.moves.append([])
        self.jumps.append([])
        return len(self.moves) - 1

    def _add_alternatives(self, alternatives: list[Sequence], start: int, end: int) -> None:
        for nodes in alternatives:
            at = start
            for node in nodes:
                at = self._add_node(node, at)
            self.jumps[at].append(("", end))

    def _add_node(self, node: Node, start: int) -> int:
        """Add what a part matches from a state on; return the state behind it."""
        if isinstance(node, Repeat):
            return self._add_repeat(node, start)
        end = self._add_state()
        if isinstance(node, CharacterItem):
            self.moves[start].append((_find_characters(node), end))
        elif isinstance(node, Anchor):
            self.jumps[start].append((node.text, end))
        elif isinstance(node, Group) and not node.is_look:
            self._add_alternatives(node.alternatives, start, end)
        return end

    def _add_repeat(self, node: Repeat, start: int) -> int:
        for _ in range(node.least):
            start = self._add_node(node.body, start)
        end = self._add_state()
        self.jumps[start].append(("", end))
        if _is_unlimited(node):
            self.jumps[self._add_node(node.body, end)].append(("", end))
            return end
        for _ in range(node.most - node.least):
            start = self._add_node(node.body, start)
            self.jumps[start].append(("", end))
        return end


def _find_characters(item: CharacterItem) -> frozenset[str]:
    return _ALPHABET & (frozenset(item.literal.lower()) if item.literal else find_accepted(item.text))


def _is_unlimited(node: Repeat) -> bool:
    """Return whether no name has more of it than the repetition allows."""
    if node.most == UNBOUNDED or node.most >= _MAX_NAME:
        return True
    return node.most >= _MAX_LABEL and isinstance(node.body, CharacterItem) and "." not in _find_characters(node.body)


class _State(NamedTuple):
    """Where both automata are after a character, and what kind of character that was; "" before the first one."""

    names: frozenset[int]
    expression: frozenset[int]
    before: str


class _Search:
    """Reads all names at once, as long as the expression has not matched them."""

    def __init__(self, names: _Automaton, expression: _Automaton) -> None:
        self._names = names
        self._expression = expression
        self._characters = _choose_characters([*names.moves, *expression.moves])
        self._known: dict[tuple[frozenset[int], str], list[frozenset[int]]] = {}
        self._steps = 0

    def finds_name(self) -> bool:
        """Return whether there is a name that the expression does not match."""
        left = [_State(frozenset({_START}), frozenset({_START}), "")]
        while left:
            state = left.pop()
            for after in (*self._characters, ""):
                if _END in (reached := self._jump(self._expression, state.expression, state.before, after)):
                    continue
                possible = self._jump(self._names, state.names, state.before, after)
                if not after and _END in possible:
                    return True
                following = _State(
                    _move(self._names, possible, after),
                    _move(self._expression, reached, after) | {_START},
                    "a" if after.isalnum() else "-",
                )
                if following.names and self._is_new(following):
                    left.append(following)
        return False

    def _is_new(self, state: _State) -> bool:
        """Return whether no state is known in which the expression can match less."""
        known = self._known.setdefault((state.names, state.before), [])
        self._count_steps(len(known))
        if any(expression <= state.expression for expression in known):
            return False
        known.append(state.expression)
        return True

    def _jump(self, automaton: _Automaton, states: Collection[int], before: str, after: str) -> set[int]:
        """Return the states that are reached between two characters; "" stands for an end of the name."""
        reached = set(states)
        left = list(states)
        while left:
            self._count_steps(1)
            for anchor, target in automaton.jumps[left.pop()]:
                if target not in reached and _holds(anchor, before, after):
                    reached.add(target)
                    left.append(target)
        return reached

    def _count_steps(self, steps: int) -> None:
        self._steps += steps
        if self._steps > _MAX_STEPS:
            raise _TooLargeError


def _move(automaton: _Automaton, states: Collection[int], character: str) -> frozenset[int]:
    return frozenset(target for at in states for accepted, target in automaton.moves[at] if character in accepted)


def _holds(anchor: str, before: str, after: str) -> bool:
    if anchor in {"", "^", "$"}:
        return not anchor or not (before if anchor == "^" else after)
    is_boundary = before.isalnum() != after.isalnum()
    return is_boundary == (r"\b" in anchor)


def _choose_characters(moves: list[list[tuple[frozenset[str], int]]]) -> list[str]:
    """Return one character for each set of those that all ways treat alike."""
    sets = {accepted for ways in moves for accepted, _ in ways}
    alike = {tuple(character in accepted for accepted in sets): character for character in sorted(_ALPHABET)}
    return list(alike.values())


def _is_other_than_dot(node: Node) -> bool:
    return isinstance(node, CharacterItem) and node.literal not in {"", "."}


@cache
def _build_names() -> _Automaton:
    return _Automaton(parse_expression(_NAMES).alternatives)


def matches_every_name(source: str) -> bool:
    """Return whether the expression between the slashes matches every name; False if that cannot be told."""
    try:
        alternatives = parse_expression(source).alternatives
        if len(alternatives) == 1 and any(map(_is_other_than_dot, alternatives[0])):
            return False  # a name can do without any other character
        return not _Search(_build_names(), _Automaton(alternatives)).finds_name()
    except (re.error, _TooLargeError):
        return False
