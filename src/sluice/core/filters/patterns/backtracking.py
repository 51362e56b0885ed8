"""Computes from its tree how much a regular expression can backtrack (ReDoS), before it is used.

Python's engine tries one way after another and cannot be interrupted. The ways are counted on the automaton of the
expression's positions. Two ways around one loop on the same text take time exponential in the length of the line, and
are refused. A chain of n loops that can share the same text takes the n-th power of the length, and is allowed for
lines that are short enough.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any, Final

from sluice.core.filters.patterns.automaton import Automaton

# Characters searched in a line, by the length of the longest chain of loops: the worst line then costs about ten
# million steps.
_MAX_LENGTHS: Final = {0: 1_000_000, 1: 1_000_000, 2: 4_000, 3: 400, 4: 120}
# Beyond this many pairs of positions, two loops count as sharing text without an exact check.
_MAX_PAIRS: Final = 64
# In bits: a text may match in at most 65,536 ways.
_MAX_CHOICES: Final = 16


def max_line_length(tree: Any) -> int:
    """Return how many characters of a line may be searched; raises `re.error` if no length is safe."""
    automaton = Automaton.from_tree(tree)
    loops = automaton.find_loops()
    if any(_is_ambiguous(automaton, loop) for loop in loops):
        raise re.error("it can take time exponential in the length of a line")
    if automaton.count_choices() > _MAX_CHOICES:
        raise re.error("it leaves too many ways to match the same text")
    degree = max(_longest_chain(automaton, loops), automaton.scans)
    if degree not in _MAX_LENGTHS:
        raise re.error("it has too many open-ended repetitions in a row")
    return _MAX_LENGTHS[degree]


def _is_ambiguous(automaton: Automaton, loop: frozenset[int]) -> bool:
    """Return whether some text leads from a position of the loop back to it in two ways."""
    for position in loop:
        for following, ways in automaton.follow[position].items():
            if following in loop and ways > 1:
                return True
    forward = _reachable_pairs(automaton, loop, automaton.follow)
    return bool(forward & _reachable_pairs(automaton, loop, automaton.precede))


def _reachable_pairs(automaton: Automaton, loop: frozenset[int], edges: list[dict[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs of different positions that two walks over the same text reach from one start."""
    todo = [(position, position) for position in loop]
    seen = set(todo)
    while todo:
        left, right = todo.pop()
        for pair in product(edges[left].keys() & loop, edges[right].keys() & loop):
            if pair not in seen and automaton.overlap(*pair):
                seen.add(pair)
                todo.append(pair)
    return {pair for pair in seen if pair[0] != pair[1]}


def _longest_chain(automaton: Automaton, loops: list[frozenset[int]]) -> int:
    """Return the length of the longest chain of loops that share text; `loops` are in the order of matching."""
    lengths: list[int] = []
    for index, loop in enumerate(loops):
        before = (lengths[other] for other in range(index) if _can_share_text(automaton, loops[other], loop))
        lengths.append(1 + max(before, default=0))
    return max(lengths, default=0)


def _can_share_text(automaton: Automaton, first: frozenset[int], second: frozenset[int]) -> bool:
    """Return whether one text leads around the first loop, from it into the second, and around the second."""
    if len(first) * len(second) > _MAX_PAIRS:
        return any(automaton.overlap(left, right) for left, right in product(first, second))
    return any(_is_shared(automaton, first, second, start, end) for start, end in product(first, second))


def _is_shared(automaton: Automaton, first: frozenset[int], second: frozenset[int], start: int, end: int) -> bool:
    todo = [(start, start, end)]
    seen = set(todo)
    while todo:
        for step in _next_steps(automaton, first, second, todo.pop()):
            if step == (start, end, end):
                return True
            if step not in seen:
                seen.add(step)
                todo.append(step)
    return False


def _next_steps(
    automaton: Automaton, first: Iterable[int], second: Iterable[int], at: tuple[int, int, int]
) -> Iterator[tuple[int, int, int]]:
    follow = automaton.follow
    stays, passes, ends = follow[at[0]].keys() & first, follow[at[1]].keys(), follow[at[2]].keys() & second
    return (step for step in product(stays, passes, ends) if automaton.overlap(*step))
