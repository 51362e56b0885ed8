"""The syntax tree of a regular expression, and its rewriting into a form that backtracks less.

Only this module uses the private modules of `re`, whose interface is the same from Python 3.11 to 3.14.
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


def parse_tree(pattern: str, flags: int) -> Any:
    return _parser.parse(pattern, flags)


def compile_tree(tree: Any, flags: int) -> re.Pattern[str]:
    return cast("re.Pattern[str]", _compiler.compile(tree, flags))


def is_anchored(nodes: list[Node]) -> bool:
    return nodes[:1] in ([_BEGINNING], [_START])


def relax_tree(tree: Any) -> Any:
    """Return a tree that matches the same lines; the position of the match does not matter here.

    Open ends (`^.*`, `.*$`) have no effect and are removed. For a fixed text between two open stretches (`.*text.*`)
    only the first occurrence is tried, because whatever follows a later occurrence also follows the first.
    """
    nodes = _remove_open_ends(list(tree.data))
    result: list[Node] = []
    at = 0
    if not is_anchored(nodes):
        end = _fixed_end(nodes, 0)
        if 0 < end < len(nodes) and _is_open(nodes[end]):
            result = [_START, _first_occurrence(tree, nodes[:end])]
            at = end
    while at < len(nodes):
        end = _fixed_end(nodes, at + 1)
        if _is_open(nodes[at]) and end > at + 1 and (end == len(nodes) or _is_open(nodes[end])):
            result += [*_required_part(nodes[at]), _first_occurrence(tree, nodes[at + 1 : end])]
            at = end
        else:
            result.append(nodes[at])
            at += 1
    return _parser.SubPattern(tree.state, result)


def _remove_open_ends(nodes: list[Node]) -> list[Node]:
    while nodes and (
        _is_optional_open(nodes[-1]) or (nodes[-1] == _END and nodes[-2:-1] and _is_optional_open(nodes[-2]))
    ):
        nodes.pop()
    while nodes and (
        _is_optional_open(nodes[0]) or (nodes[0] == _BEGINNING and nodes[1:] and _is_optional_open(nodes[1]))
    ):
        nodes.pop(0)
    return nodes


def _is_open(node: Node) -> bool:
    """Return whether the node is `.*`, `.+` or one of their lazy forms."""
    if node[0] not in REPEATS:
        return False
    least, most, body = node[1]
    return least <= 1 and most == MAXREPEAT and list(body) == [(ANY, None)]


def _is_optional_open(node: Node) -> bool:
    return _is_open(node) and node[1][0] == 0


def _required_part(node: Node) -> list[Node]:
    return [(ANY, None)] * node[1][0]


def _fixed_end(nodes: list[Node], start: int) -> int:
    end = start
    while end < len(nodes) and nodes[end][0] in _ONE_CHARACTER:
        end += 1
    return end


def _first_occurrence(tree: Any, text: list[Node]) -> Node:
    skip = (_constants.MIN_REPEAT, (0, MAXREPEAT, _parser.SubPattern(tree.state, [(ANY, None)])))
    return (ATOMIC_GROUP, _parser.SubPattern(tree.state, [skip, *text]))
