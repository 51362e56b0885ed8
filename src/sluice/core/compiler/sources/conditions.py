"""The conditions of `!#if`: constants joined by `&&`, `||`, `!` and parentheses.

Evaluated with two stacks instead of recursion, so that no depth of parentheses can exhaust the interpreter's own.
"""

import re
from collections.abc import Iterator
from typing import Final

_PART: Final = re.compile(r"&&|\|\||[!()]|(?:(?!&&|\|\|)[^!()])+")
_BINDING: Final = {"||": 1, "&&": 2}


class BadCondition(ValueError):
    """The text is not a condition; its message says why."""


def evaluate(text: str, constants: frozenset[str]) -> bool:
    """Whether the condition holds; a constant that is not among the given ones is false."""
    evaluation = _Evaluation(constants)
    for part in _parts(text):
        evaluation.feed(part)
    return evaluation.result()


def _parts(text: str) -> Iterator[str]:
    return (part for found in _PART.finditer(text) if (part := found[0].strip()))


class _Evaluation:
    def __init__(self, constants: frozenset[str]) -> None:
        self._constants = constants
        self._values: list[bool] = []
        self._operators: list[str] = []
        self._wants_value = True

    def feed(self, part: str) -> None:
        if self._wants_value != (part not in {"&&", "||", ")"}):
            raise BadCondition(f"{part!r} is not expected there")
        if part in {"!", "("}:
            self._operators.append(part)
        elif part in _BINDING:
            self._reduce(_BINDING[part])
            self._operators.append(part)
            self._wants_value = True
        elif part == ")":
            self._close()
        else:
            self._value(part == "true" or (part != "false" and part in self._constants))

    def result(self) -> bool:
        if self._wants_value:
            raise BadCondition("it ends too early")
        self._reduce(0)
        if self._operators:
            raise BadCondition("a parenthesis is not closed")
        return self._values.pop()

    def _value(self, value: bool) -> None:
        self._values.append(value)
        self._negate()
        self._wants_value = False

    def _close(self) -> None:
        self._reduce(0)
        if not self._operators:
            raise BadCondition("a parenthesis is closed that was never opened")
        self._operators.pop()
        self._negate()

    def _negate(self) -> None:
        while self._operators and self._operators[-1] == "!":
            self._operators.pop()
            self._values[-1] = not self._values[-1]

    def _reduce(self, binding: int) -> None:
        """Apply what binds at least so tightly, back to the last open parenthesis."""
        while self._operators and _BINDING.get(self._operators[-1], -1) >= binding:
            both = self._operators.pop() == "&&"
            right, left = self._values.pop(), self._values.pop()
            self._values.append((left and right) if both else (left or right))
