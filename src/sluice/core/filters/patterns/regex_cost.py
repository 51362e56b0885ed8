"""Bounds the work of a regular expression on a line before it is used, because Python's engine cannot be interrupted.

The engine tries one way after another. The number of ways follows from the syntax alone: the parts of a sequence multiply
theirs, alternatives add theirs, and a repetition of one character has as many as the line is long. A repetition of
anything that already has several ways would have exponentially many, and is refused.
"""

import re
from typing import Final, NamedTuple

from sluice.core.filters.patterns.regex_syntax import (
    UNBOUNDED,
    Anchor,
    CharacterItem,
    Group,
    Node,
    Reference,
    Repeat,
    Scan,
    Sequence,
)

# About the number of characters that the engine compares in 50 ms.
_MAX_WORK: Final = 30_000_000
# A line is searched up to the first of these lengths that keeps the work below the limit.
_LENGTHS: Final = (1_000_000, 100_000, 30_000, 10_000, 4_000, 2_000, 1_000, 500, 250, 200, 125)
_SHORT_LENGTH: Final = 30
_MAX_WAYS: Final = 1e15
_SAFE_CLASS: Final = "repeat one class instead, such as [a-z.]+"


class Cost(NamedTuple):
    """How many ways a part may match from one position, and how many steps it takes to try them all."""

    ways: float
    work: float


def find_max_length(alternatives: list[Sequence]) -> int:
    """Return how many characters of a line may be searched; raise `re.error` if even a short line could take long."""
    _check_repetitions(Group("", alternatives))
    for length in _LENGTHS:
        if bound_work(alternatives, length) <= _MAX_WORK:
            return length
    raise re.error("it leaves too many ways to match the same text: use fewer repetitions and optional parts")


def bound_work(alternatives: list[Sequence], length: int) -> float:
    """Return the work of a search, which starts at each character of the line unless it is anchored."""
    return sum(
        _sequence_cost(nodes, length).work * (1 if is_anchored(nodes) else length) + length for nodes in alternatives
    )


def is_anchored(nodes: Sequence) -> bool:
    """Return whether a match can only start at the beginning of the line."""
    first = next((node for node in nodes if not (isinstance(node, Group) and node.is_look)), None)
    if isinstance(first, Group):
        return all(map(is_anchored, first.alternatives))
    return isinstance(first, Anchor) and first.text in {"^", r"\A"}


def _sequence_cost(nodes: Sequence, length: int) -> Cost:
    ways = work = 1.0
    for node in nodes:
        cost = _node_cost(node, length)
        work += ways * cost.work
        ways *= cost.ways
    return Cost(ways, work)


def _node_cost(node: Node, length: int) -> Cost:
    if isinstance(node, Repeat):
        return _repeat_cost(node, length)
    if isinstance(node, Group):
        costs = [_sequence_cost(nodes, length) for nodes in node.alternatives]
        return Cost(1.0 if node.is_look else sum(cost.ways for cost in costs), sum(cost.work for cost in costs))
    if isinstance(node, Scan):
        return Cost(1.0, float(length * len(node.text)))
    return Cost(1.0, length if isinstance(node, Reference) else 1.0)


def _repeat_cost(node: Repeat, length: int) -> Cost:
    most = min(node.most, length)
    choices = max(most - node.least, 0) + 1.0
    body = _node_cost(node.body, length)
    if isinstance(node.body, CharacterItem):
        return Cost(1.0 if node.is_possessive else choices, most + 1.0)
    if body.ways == 1:  # its rounds follow each other in the line, so all of them together read it once
        return Cost(choices, min(most * body.work, (length + 1.0) * _count_leaves(node.body)))
    if (last := _find_separated_end(node.body)) is not None and body.ways == _node_cost(last, length).ways:
        # Its rounds are told apart by what they begin with, so only the last one can end in several ways.
        return Cost(choices * body.ways, most * body.work * 2)
    ways = body.ways ** min(most, 50)
    return Cost(min(choices * ways, _MAX_WAYS), min(most * ways, _MAX_WAYS) * body.work)


def _find_separated_end(node: Node) -> Repeat | None:
    """Return the repetition of a character that ends the part, if no such character begins it."""
    if not isinstance(node, Group) or len(node.alternatives) != 1 or not node.alternatives[0]:
        return None
    first, last = node.alternatives[0][0], node.alternatives[0][-1]
    if not (isinstance(first, CharacterItem) and isinstance(last, Repeat) and isinstance(last.body, CharacterItem)):
        return None
    return last if first.is_disjoint(last.body) else None


def _check_repetitions(node: Node) -> None:
    if isinstance(node, Group):
        for nodes in node.alternatives:
            for part in nodes:
                _check_repetitions(part)
    elif isinstance(node, Repeat) and not isinstance(node.body, CharacterItem):
        _check_repetition(node)
        _check_repetitions(node.body)


def _check_repetition(node: Repeat) -> None:
    if _has(node.body, Reference):
        raise re.error("it repeats a back-reference: write the repeated text instead")
    if node.most <= 1:
        return
    if _least_width(node.body) == 0:
        raise re.error(f"it repeats a part that may be empty: {_SAFE_CLASS}")
    if node.most == UNBOUNDED and _node_cost(node.body, _SHORT_LENGTH).ways > 1:
        raise re.error(f"it repeats a part that has alternatives or repetitions itself: {_SAFE_CLASS}")
    if node.most == UNBOUNDED and isinstance(node.body, Group) and _has_look(node.body):
        raise re.error("it repeats a look-ahead or look-behind: write it once, outside of the repetition")


def _least_width(node: Node) -> int:
    if isinstance(node, CharacterItem):
        return 1
    if isinstance(node, Repeat):
        return min(node.least, 1) * _least_width(node.body)
    if isinstance(node, Group) and not node.is_look:
        return min(max((_least_width(part) for part in nodes), default=0) for nodes in node.alternatives)
    return 0


def _iterate_parts(node: Node) -> list[Node]:
    parts = [node]
    for part in parts:
        if isinstance(part, Repeat):
            parts.append(part.body)
        elif isinstance(part, Group):
            parts.extend(inner for nodes in part.alternatives for inner in nodes)
    return parts


def _has(node: Node, kind: type[Node]) -> bool:
    return any(isinstance(part, kind) for part in _iterate_parts(node))


def _has_look(node: Node) -> bool:
    return any(isinstance(part, Group) and part.is_look for part in _iterate_parts(node))


def _count_leaves(node: Node) -> int:
    return len(_iterate_parts(node))
