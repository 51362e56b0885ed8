"""The conditional blocks of a source: which lines `!#if`, `!#else` and `!#endif` keep."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from sluice.core.compiler.sources.condition_expressions import BadCondition, evaluate_condition

_IF: Final = "!#if"
_ELSE: Final = "!#else"
_ENDIF: Final = "!#endif"
_MAX_QUOTED_CHARS: Final = 80  # of a directive in a message


class BadDirective(ValueError):
    """A directive that cannot be followed; `at` is the index of its line."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at


class _Branch(NamedTuple):
    """An open `!#if`: its line index, whether its lines are kept, and whether the lines around it are."""

    at: int
    is_kept: bool
    is_parent_kept: bool
    is_else: bool = False


def select_lines(lines: Sequence[str], constants: frozenset[str]) -> Iterator[int]:
    """Yield the indexes of the lines that the conditions keep; raise BadDirective if the blocks do not balance."""
    branches: list[_Branch] = []
    is_kept = True
    for at, line in enumerate(lines):
        if line.startswith("!#") and _follow_directive(branches, at, line, constants):
            is_kept = not branches or branches[-1].is_kept
        elif is_kept:
            yield at
    if branches:
        raise BadDirective(branches[-1].at, "this !#if has no !#endif")


def _follow_directive(branches: list[_Branch], at: int, line: str, constants: frozenset[str]) -> bool:
    """Open, switch or close a branch; return False if the line is not part of a condition."""
    word = line.rstrip()
    if line.startswith(_IF):
        is_parent_kept = not branches or branches[-1].is_kept
        branches.append(_Branch(at, is_parent_kept and _evaluate(at, line, constants), is_parent_kept))
    elif word == _ELSE:
        _switch_to_else(branches, at)
    elif word == _ENDIF:
        if not branches:
            raise BadDirective(at, "this !#endif has no !#if")
        branches.pop()
    elif word.startswith((_ELSE, _ENDIF)):
        raise BadDirective(at, f"{word[:_MAX_QUOTED_CHARS]} is malformed: no text may follow the directive")
    else:
        return False
    return True


def _evaluate(at: int, line: str, constants: frozenset[str]) -> bool:
    try:
        return evaluate_condition(line.removeprefix(_IF), constants)
    except BadCondition as error:
        raise BadDirective(at, f"{line[:_MAX_QUOTED_CHARS]} is malformed: {error}") from None


def _switch_to_else(branches: list[_Branch], at: int) -> None:
    if not branches:
        raise BadDirective(at, "this !#else has no !#if")
    branch = branches[-1]
    if branch.is_else:
        raise BadDirective(at, "this is the second !#else of one !#if")
    is_kept = branch.is_parent_kept and not branch.is_kept
    branches[-1] = branch._replace(is_kept=is_kept, is_else=True)
