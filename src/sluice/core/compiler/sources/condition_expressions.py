"""The expressions of `!#if`: constants joined by `&&`, `||`, `!` and parentheses.

They are evaluated with two stacks instead of recursion, so that no nesting can exhaust the interpreter's stack.
"""

import re
from collections.abc import Iterator
from typing import Final

_SYMBOL: Final = re.compile(r"&&|\|\||[!()]|(?:(?!&&|\|\|)[^!()])+")
_PRECEDENCE: Final = {"||": 1, "&&": 2}


class BadCondition(ValueError):
    """The text is not a condition; the message gives the reason."""


def evaluate_condition(text: str, constants: frozenset[str]) -> bool:
    """Evaluate the condition; a constant that is not in `constants` is false."""
    evaluation = _Evaluation(constants)
    for symbol in _tokenize(text):
        evaluation.feed(symbol)
    return evaluation.result()


def _tokenize(text: str) -> Iterator[str]:
    return (symbol for match in _SYMBOL.finditer(text) if (symbol := match[0].strip()))


class _Evaluation:
    def __init__(self, constants: frozenset[str]) -> None:
        self._constants = constants
        self._values: list[bool] = []
        self._operators: list[str] = []
        self._expects_value = True

    def feed(self, symbol: str) -> None:
        if self._expects_value != (symbol not in {"&&", "||", ")"}):
            raise BadCondition(f"{symbol!r} is not expected there")
        if symbol in {"!", "("}:
            self._operators.append(symbol)
        elif symbol in _PRECEDENCE:
            self._reduce(_PRECEDENCE[symbol])
            self._operators.append(symbol)
            self._expects_value = True
        elif symbol == ")":
            self._close_parenthesis()
        else:
            self._push_value(symbol == "true" or (symbol != "false" and symbol in self._constants))

    def result(self) -> bool:
        if self._expects_value:
            raise BadCondition("it is incomplete")
        self._reduce(0)
        if self._operators:
            raise BadCondition("a parenthesis is not closed")
        return self._values.pop()

    def _push_value(self, value: bool) -> None:
        self._values.append(value)
        self._negate()
        self._expects_value = False

    def _close_parenthesis(self) -> None:
        self._reduce(0)
        if not self._operators:
            raise BadCondition("a parenthesis is closed that was never opened")
        self._operators.pop()
        self._negate()

    def _negate(self) -> None:
        while self._operators and self._operators[-1] == "!":
            self._operators.pop()
            self._values[-1] = not self._values[-1]

    def _reduce(self, precedence: int) -> None:
        """Apply the operators of at least this precedence, back to the last open parenthesis."""
        while self._operators and _PRECEDENCE.get(self._operators[-1], -1) >= precedence:
            is_and = self._operators.pop() == "&&"
            right, left = self._values.pop(), self._values.pop()
            self._values.append((left and right) if is_and else (left or right))
