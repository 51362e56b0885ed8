"""The automaton of a regular expression: its positions, the characters each accepts, and which may follow which."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import chain
from math import log2
from typing import Any, Final, NamedTuple

from sluice.core.filters.patterns.regex_tree import (
    ANY,
    ASSERTS,
    AT,
    ATOMIC_GROUP,
    BRANCH,
    FAILURE,
    GROUPREF,
    IN,
    LITERAL,
    MAXREPEAT,
    NEGATE,
    NOT_LITERAL,
    RANGE,
    REPEATS,
    SUBPATTERN,
    Node,
    is_anchored,
)

_MAX_POSITIONS: Final = 2_000
# Up to this many repetitions are copied; more count as any number.
_MAX_COPIES: Final = 4
_MAX_EXACT_COPIES: Final = 40
_OTHER: Final = -1  # represents all non-ASCII characters that the expression does not name


class _Part(NamedTuple):
    """A part of the expression: its possible first and last positions, and whether it may be empty."""

    first: list[int]
    last: list[int]
    empty: bool


_EMPTY: Final = _Part([], [], empty=True)


class Automaton:
    """Position 0 represents the text before a match, unless the match must start the line.

    `follow[p][q]` counts the ways from p to q, and `precede` is its reverse. `scans` is how many loops the stretches
    cost that only try the first occurrence of a text.
    """

    def __init__(self, named_characters: frozenset[int]) -> None:
        self.follow: list[dict[int, int]] = []
        self.precede: list[dict[int, int]] = []
        self.scans = 0
        self._every = frozenset(range(128)) | named_characters | {_OTHER}
        self._accepts: list[frozenset[int]] = []
        self._assertions: list[int] = []

    @classmethod
    def from_tree(cls, tree: Any) -> "Automaton":
        """Build the automaton; raises `re.error` for what cannot be checked."""
        nodes = list(tree)
        automaton = cls(frozenset(_iterate_named_characters(nodes)))
        automaton._add_position(automaton._every)
        if not is_anchored(nodes):
            automaton._link(0, 0)
        whole = automaton._build_sequence(nodes)
        for first in whole.first:
            automaton._link(0, first)
        automaton._link_assertions()
        automaton.scans += bool(automaton.scans) and not is_anchored(nodes)
        return automaton

    def overlap(self, *positions: int) -> bool:
        """Return whether all these positions accept some common character."""
        return bool(reduce(frozenset.intersection, (self._accepts[position] for position in positions)))

    def find_loops(self) -> list[frozenset[int]]:
        """Return the groups of positions that lead back to themselves, in the order of matching."""
        reach = {position: self._reachable(position) for position in self._positions_before_loops()}
        loops = {frozenset(q for q in reach[p] & reach.keys() if p in reach[q]) for p in reach if p in reach[p]}
        return sorted(loops, key=lambda loop: -len(reach[min(loop)]))

    def count_choices(self) -> float:
        """Return the ambiguity outside of loops in bits: how many ways one text may match."""
        looping = {position for loop in self.find_loops() for position in loop}
        return sum(log2(self._count_ways(position, looping)) for position in range(len(self.follow)))

    def _count_ways(self, position: int, looping: set[int]) -> int:
        onward = self.follow[position].keys() - looping
        if len(onward) < 2:
            return 1
        return max(Counter(chain.from_iterable(self._accepts[following] for following in onward)).values(), default=1)

    def _positions_before_loops(self) -> set[int]:
        """Return all positions except those from which every way ends."""
        rest = set(range(len(self.follow)))
        ways = [len(following) for following in self.follow]
        todo = [position for position in rest if not ways[position]]
        while todo:
            dead_end = todo.pop()
            rest.discard(dead_end)
            for position in self.precede[dead_end]:
                ways[position] -= 1
                if not ways[position]:
                    todo.append(position)
        return rest

    def _reachable(self, position: int) -> set[int]:
        seen: set[int] = set()
        todo = list(self.follow[position])
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo.extend(self.follow[at])
        return seen

    def _add_position(self, accepts: frozenset[int]) -> _Part:
        position = len(self._accepts)
        if position >= _MAX_POSITIONS:
            raise re.error("it is too long to check")
        self._accepts.append(accepts)
        self.follow.append({})
        self.precede.append({})
        return _Part([position], [position], empty=False)

    def _link(self, position: int, following: int) -> None:
        self.follow[position][following] = self.follow[position].get(following, 0) + 1
        self.precede[following][position] = self.follow[position][following]

    def _join(self, left: _Part, right: _Part) -> _Part:
        for last in left.last:
            for first in right.first:
                self._link(last, first)
        return _Part(
            [*left.first, *right.first] if left.empty else left.first,
            [*left.last, *right.last] if right.empty else right.last,
            empty=left.empty and right.empty,
        )

    def _build_sequence(self, nodes: Any) -> _Part:
        return reduce(self._join, map(self._build_part, nodes), _EMPTY)

    def _build_part(self, node: Node) -> _Part:
        operation, value = node
        for operations, build in self._builders():
            if operation in operations:
                return build(operation, value)
        raise re.error(f"{str(operation).lower()} is not supported")

    def _builders(self) -> tuple[tuple[tuple[Any, ...], Callable[[Any, Any], _Part]], ...]:
        return (
            (
                (LITERAL, NOT_LITERAL, ANY, IN),
                lambda operation, value: self._add_position(self._character_set(operation, value)),
            ),
            ((BRANCH,), lambda _, value: self._build_branch(value[1])),
            ((SUBPATTERN,), lambda _, value: self._build_sequence(value[3])),
            (REPEATS, lambda _, value: self._build_repeat(*value)),
            (ASSERTS, lambda _, value: self._add_assertion(value[1])),
            ((AT, FAILURE), lambda _, __: _EMPTY),
            ((GROUPREF,), lambda _, __: self._close_loop(self._add_position(self._every), may_be_empty=True)),
            ((ATOMIC_GROUP,), lambda _, value: self._build_scan(value)),
        )

    def _build_branch(self, alternatives: Any) -> _Part:
        parts = [self._build_sequence(alternative) for alternative in alternatives]
        return _Part(
            [first for part in parts for first in part.first],
            [last for part in parts for last in part.last],
            empty=any(part.empty for part in parts),
        )

    def _build_repeat(self, least: int, most: int, body: Any) -> _Part:
        width, max_width = body.getwidth()
        if width == 0 and 1 < most < MAXREPEAT:
            raise re.error("it repeats a part that may be empty")
        if most > (_MAX_EXACT_COPIES if least == most and width == max_width else _MAX_COPIES):
            return self._close_loop(self._build_sequence(body), may_be_empty=least == 0)
        copies = [self._build_sequence(body) for _ in range(most)]
        optional = [copy._replace(empty=True) for copy in copies[least:]]
        return reduce(self._join, [*copies[:least], *optional], _EMPTY)

    def _close_loop(self, part: _Part, *, may_be_empty: bool) -> _Part:
        for last in part.last:
            for first in part.first:
                self._link(last, first)
        return part._replace(empty=part.empty or may_be_empty)

    def _add_assertion(self, body: Any) -> _Part:
        self._assertions += self._build_sequence(body).first
        return _EMPTY

    def _link_assertions(self) -> None:
        """Link every position to the assertions: an assertion looks ahead from the current position of the match."""
        for first in self._assertions:
            inside = self._reachable(first) | {first}
            for position in range(len(self.follow)):
                if position not in inside:
                    self._link(position, first)

    def _build_scan(self, body: Any) -> _Part:
        self.scans = 1
        return self._build_sequence(list(body)[1:])

    def _character_set(self, operation: Any, value: Any) -> frozenset[int]:
        if operation is LITERAL:
            return frozenset({_fold_case(value)})
        if operation is NOT_LITERAL:
            return self._every - {_fold_case(value)}
        if operation is ANY:
            return self._every
        accepted = frozenset(code for item in value for code in self._iterate_members(item))
        return self._every - accepted | {_OTHER} if value[0][0] is NEGATE else accepted

    def _iterate_members(self, item: Node) -> Iterator[int]:
        operation, value = item
        if operation is LITERAL:
            yield _fold_case(value)
        elif operation is RANGE:
            low, high = value
            yield from (_fold_case(code) for code in self._every if low <= code <= high)
            yield from (_fold_case(code) for code in range(low, min(high, 127) + 1))
            if high > 127:
                yield _OTHER
        elif operation is not NEGATE:
            yield from self._every


def _iterate_named_characters(nodes: Any) -> Iterator[int]:
    """Yield every character that the expression names."""
    for node in nodes:
        if not isinstance(node, tuple) or len(node) != 2:
            continue
        operation, value = node
        if operation in (LITERAL, NOT_LITERAL):
            yield _fold_case(value)
        elif operation is IN:
            yield from _iterate_named_characters(value)
        elif operation is BRANCH:
            for alternative in value[1]:
                yield from _iterate_named_characters(alternative)
        elif operation in (*REPEATS, SUBPATTERN, *ASSERTS):
            yield from _iterate_named_characters(value[-1])
        elif operation is ATOMIC_GROUP:
            yield from _iterate_named_characters(value)


def _fold_case(code: int) -> int:
    lower = chr(code).lower()
    return ord(lower) if len(lower) == 1 else code
