"""The directives inside a source: which lines its conditions leave, and what it includes."""

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin, urlsplit

from sluice.core.compiler.sources.conditions import BadCondition, evaluate
from sluice.core.compiler.sources.failures import BadSource, shown

_IF: Final = "!#if"
_ELSE: Final = "!#else"
_ENDIF: Final = "!#endif"
_INCLUDE: Final = "!#include"
_SHOWN_CHARS: Final = 80  # of a directive in a message


class BadDirective(ValueError):
    """A directive that cannot be followed; `at` is the index of its line."""

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(reason)
        self.at = at


@dataclass(slots=True)
class _Branch:
    """An open `!#if`: where it stands, whether its lines stay, and whether those around it do."""

    at: int
    kept: bool
    around: bool
    is_else: bool = False


def surviving(lines: Sequence[str], constants: frozenset[str]) -> Iterator[int]:
    """The indexes of the lines that the conditions leave; BadDirective when they do not balance."""
    branches: list[_Branch] = []
    kept = True
    for at, line in enumerate(lines):
        if line.startswith("!#") and _steer(branches, at, line, constants):
            kept = not branches or branches[-1].kept
        elif kept:
            yield at
    if branches:
        raise BadDirective(branches[-1].at, "this !#if has no !#endif")


def _steer(branches: list[_Branch], at: int, line: str, constants: frozenset[str]) -> bool:
    """Whether the line is part of a condition, which is then followed."""
    word = line.rstrip()
    if line.startswith(_IF):
        around = not branches or branches[-1].kept
        branches.append(_Branch(at, around and _holds(at, line, constants), around))
    elif word == _ELSE:
        _turn(branches, at)
    elif word == _ENDIF:
        if not branches:
            raise BadDirective(at, "this !#endif has no !#if")
        branches.pop()
    elif word.startswith((_ELSE, _ENDIF)):
        raise BadDirective(at, f"{word[:_SHOWN_CHARS]} cannot be read: nothing may stand after the word")
    else:
        return False
    return True


def _holds(at: int, line: str, constants: frozenset[str]) -> bool:
    try:
        return evaluate(line.removeprefix(_IF), constants)
    except BadCondition as error:
        raise BadDirective(at, f"{line[:_SHOWN_CHARS]} cannot be read: {error}") from None


def _turn(branches: list[_Branch], at: int) -> None:
    if not branches:
        raise BadDirective(at, "this !#else has no !#if")
    branch = branches[-1]
    if branch.is_else:
        raise BadDirective(at, "this is the second !#else of one !#if")
    branch.kept = branch.around and not branch.kept
    branch.is_else = True


def include_target(line: str) -> str | None:
    """What a line includes, as it is written there; None for any other line."""
    return line.removeprefix(_INCLUDE).strip() if line.startswith(_INCLUDE) else None


def is_url(location: str) -> bool:
    return location[:8].lower().startswith(("http://", "https://"))


def resolve(target: str, includer: str) -> str:
    """The location of an included file; BadSource when a URL leads to another origin."""
    if not target:
        raise BadSource("an !#include names no file")
    if not is_url(includer):
        return target if is_url(target) else posixpath.normpath(posixpath.join(posixpath.dirname(includer), target))
    try:
        location = urljoin(includer, target)
        allowed = _origin(location) == _origin(includer)
    except ValueError:
        raise BadSource(f"the address {shown(target)} of an !#include cannot be read") from None
    if not allowed:
        raise BadSource(f"it includes {shown(location)}, which is of another origin")
    return location


def _origin(url: str) -> tuple[str, str | None, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
