"""The syntax tree of a regular expression, and a form of it that needs less backtracking.

This is the one place that knows the private modules of `re`, which keep their shape from Python 3.11 to 3.14.
"""

import re
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]
from typing import Any, Final, TypeAlias, cast

Node: TypeAlias = tuple[Any, Any]

LITERAL: Final = _constants.LITERAL
NOT_LITERAL: Final = _constants.NOT_LITERAL
ANY: Final = _constants.ANY
IN: Final = _constants.IN
RANGE: Final = _constants.RANGE
NEGATE: Final = _constants.NEGATE
BRANCH: Final = _constants.BRANCH
SUBPATTERN: Final = _constants.SUBPATTERN
ATOMIC_GROUP: Final = _constants.ATOMIC_GROUP
REPEATS: Final = (_constants.MAX_REPEAT, _constants.MIN_REPEAT)
ASSERTS: Final = (_constants.ASSERT, _constants.ASSERT_NOT)
AT: Final = _constants.AT
FAILURE: Final = _constants.FAILURE
GROUPREF: Final = _constants.GROUPREF
MAXREPEAT: Final = _constants.MAXREPEAT

_BEGINNING: Final = (AT, _constants.AT_BEGINNING)
_START: Final = (AT, _constants.AT_BEGINNING_STRING)
_END: Final = (AT, _constants.AT_END)
_ONE_CHARACTER: Final = (LITERAL, NOT_LITERAL, ANY, IN)


def parsed(pattern: str, flags: int) -> Any:
    return _parser.parse(pattern, flags)


def compiled(tree: Any, flags: int) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _compiler.compile(tree, flags))


def is_anchored(nodes: list[Node]) -> bool:
    return nodes[:1] in ([_BEGINNING], [_START])


def relaxed(tree: Any) -> Any:
    """A tree that is found in the same lines: whether counts here, not where.

    Open ends (`^.*`, `.*$`) say nothing and go. A fixed text between two open stretches (`.*text.*`) may be taken
    where it first stands, for whatever follows a later place follows this one too; so no other place is tried.
    """
    nodes = _without_open_ends(list(tree.data))
    result: list[Node] = []
    at = 0
    if not is_anchored(nodes):
        end = _fixed_end(nodes, 0)
        if 0 < end < len(nodes) and _is_open(nodes[end]):
            result = [_START, _first_place(tree, nodes[:end])]
            at = end
    while at < len(nodes):
        end = _fixed_end(nodes, at + 1)
        if _is_open(nodes[at]) and end > at + 1 and (end == len(nodes) or _is_open(nodes[end])):
            result += [*_required(nodes[at]), _first_place(tree, nodes[at + 1 : end])]
            at = end
        else:
            result.append(nodes[at])
            at += 1
    return _parser.SubPattern(tree.state, result)


def _without_open_ends(nodes: list[Node]) -> list[Node]:
    while nodes and (_is_wholly_open(nodes[-1]) or (nodes[-1] == _END and nodes[-2:-1] and _is_wholly_open(nodes[-2]))):
        nodes.pop()
    while nodes and (_is_wholly_open(nodes[0]) or (nodes[0] == _BEGINNING and nodes[1:] and _is_wholly_open(nodes[1]))):
        nodes.pop(0)
    return nodes


def _is_open(node: Node) -> bool:
    """`.*`, `.+` and their lazy forms."""
    if node[0] not in REPEATS:
        return False
    least, most, body = node[1]
    return least <= 1 and most == MAXREPEAT and list(body) == [(ANY, None)]


def _is_wholly_open(node: Node) -> bool:
    return _is_open(node) and node[1][0] == 0


def _required(node: Node) -> list[Node]:
    return [(ANY, None)] * node[1][0]


def _fixed_end(nodes: list[Node], start: int) -> int:
    end = start
    while end < len(nodes) and nodes[end][0] in _ONE_CHARACTER:
        end += 1
    return end


def _first_place(tree: Any, text: list[Node]) -> Node:
    skip = (_constants.MIN_REPEAT, (0, MAXREPEAT, _parser.SubPattern(tree.state, [(ANY, None)])))
    return (ATOMIC_GROUP, _parser.SubPattern(tree.state, [skip, *text]))
