"""JavaScript regular expressions with the flags i and m, matched anywhere in a line within a bound of work."""

import re
from collections.abc import Iterator
from typing import Final

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.regex_cost import bound_work, find_max_length, is_anchored
from sluice.core.filters.patterns.regex_syntax import (
    FLAGS,
    UNBOUNDED,
    Anchor,
    CharacterItem,
    Group,
    Node,
    Repeat,
    Scan,
    Sequence,
    parse_expression,
    write_alternatives,
)

_MAX_SHOWN: Final = 200


class Regex:
    """A compiled expression; `literal` is a text in lower case that every ASCII line it matches contains."""

    def __init__(self, source: str) -> None:
        """Compile the text between the slashes; raise Invalid if it is not valid or could take too long."""
        try:
            alternatives = list(map(_simplify, parse_expression(source).alternatives))
            self._max_length = find_max_length(alternatives)
            self._search = re.compile(write_alternatives(alternatives), FLAGS).search
        except (re.error, OverflowError, RecursionError) as error:
            shown = source if len(source) <= _MAX_SHOWN else f"{source[:_MAX_SHOWN]}…"
            raise Invalid(f"The regular expression /{shown}/ cannot be used: {error}.") from error
        self._alternatives = alternatives
        self._work_by_length: dict[int, float] = {}
        self.literal = _find_literal(alternatives[0]) if len(alternatives) == 1 else ""

    def matches(self, line: str) -> bool:
        """Return whether it matches anywhere; of a very long line only the beginning is searched."""
        found = self._search(line, 0, self._max_length)
        return found is not None and (len(line) <= self._max_length or found.end() < self._max_length)

    def bound_work(self, line: str) -> float:
        """Return the most characters that a search of the line compares."""
        length = min(len(line), self._max_length)
        if length not in self._work_by_length:
            self._work_by_length[length] = bound_work(self._alternatives, length)
        return self._work_by_length[length]


def _simplify(nodes: Sequence) -> Sequence:
    """Return a sequence that matches the same lines; the position of the match does not matter here.

    Open ends (`^.*`, `.*$`) have no effect and are removed. For a fixed text between two open stretches (`.*text.*`)
    only the first occurrence is tried, because whatever follows a later occurrence also follows the first.
    """
    nodes = _remove_open_ends(nodes)
    result: Sequence = []
    at = 0 if is_anchored(nodes) else _find_fixed_end(nodes, 0)
    if 0 < at < len(nodes) and _is_open(nodes[at]):
        result = [Anchor(r"\A"), Scan(_select_items(nodes[:at]))]
    else:
        at = 0
    while at < len(nodes):
        node = nodes[at]
        end = _find_fixed_end(nodes, at + 1) if _is_open(node) else at
        if isinstance(node, Repeat) and end > at + 1 and (end == len(nodes) or _is_open(nodes[end])):
            result += [*([CharacterItem(".")] * node.least), Scan(_select_items(nodes[at + 1 : end]))]
            at = end
        else:
            result.append(node)
            at += 1
    return result


def _remove_open_ends(nodes: Sequence) -> Sequence:
    while (count := _count_open_end(nodes[::-1], "$")) > 0:
        nodes = nodes[:-count]
    while (count := _count_open_end(nodes, "^")) > 0:
        nodes = nodes[count:]
    return nodes


def _count_open_end(nodes: Sequence, anchor: str) -> int:
    """Return how many nodes at the beginning are `.*`, with or without the anchor before it."""
    count = 2 if nodes and nodes[0] == Anchor(anchor) else 1
    return count if len(nodes) >= count and _is_open(nodes[count - 1], least=0) else 0


def _is_open(node: Node, least: int = 1) -> bool:
    """Return whether the node is `.*`, `.+` or one of their lazy forms, and requires at most so many characters."""
    return (
        isinstance(node, Repeat) and node.body == CharacterItem(".") and node.least <= least and node.most == UNBOUNDED
    )


def _find_fixed_end(nodes: Sequence, start: int) -> int:
    end = start
    while end < len(nodes) and isinstance(nodes[end], CharacterItem):
        end += 1
    return end


def _select_items(nodes: Sequence) -> list[CharacterItem]:
    return [node for node in nodes if isinstance(node, CharacterItem)]


def _find_literal(nodes: Sequence) -> str:
    """Return the longest text in lower case that the sequence requires as it stands."""
    runs = [""]
    for node in _flatten(nodes):
        if isinstance(node, CharacterItem) and node.literal and node.literal.isascii():
            runs[-1] += node.literal.lower()
        else:
            runs.append("")
    return max(runs, key=len)


def _flatten(nodes: Sequence) -> Iterator[Node]:
    """Yield the parts that every match has, in their order; an anchor stands for text that may lie between."""
    for node in nodes:
        if isinstance(node, Scan):
            yield Anchor("")
            yield from node.text
            yield Anchor("")
        elif isinstance(node, Group) and len(node.alternatives) == 1 and not node.is_look:
            yield from _flatten(node.alternatives[0])
        else:
            yield node
