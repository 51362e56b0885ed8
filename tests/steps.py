"""Work counted, not timed: the same on every machine, however busy.

A step is a line of Python that is run. Work in C counts as well: a text that a line makes, and a method of a text or collection
that it calls, are as many steps as they have characters or items. What a regular expression does inside is not seen.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, Final, TypeVar

T = TypeVar("T")

SIZED: Final = (str, bytes, list, tuple, dict, set, frozenset)
# Methods that look at an end, at one item, or from a place on to the next find.
SHORT: Final = frozenset(
    {
        "startswith",
        "endswith",
        "find",
        "rfind",
        "index",
        "append",
        "extend",
        "pop",
        "add",
        "discard",
        "get",
        "setdefault",
    }
)
SIZE: Final = 300  # more than a name may have characters: what is longer is handled alike
GROWTH: Final = 4
# Linear work grows fourfold, and by something for a logarithm; quadratic work sixteenfold.
MAX_RATIO: Final = 6


def check_linear(make: Callable[[int], T], work: Callable[[T], object], size: int = SIZE) -> None:
    """Fail unless the work takes about four times as many steps on something four times as large."""
    small, large = make(size), make(GROWTH * size)
    for each in (small, large):
        work(each)  # what is computed once is computed now
    few, many = count_steps(lambda: work(small)), count_steps(lambda: work(large))
    assert many <= MAX_RATIO * few, f"{few:,} steps for {size}, {many:,} for {GROWTH * size}"


def count_steps(work: Callable[[], object]) -> int:
    counter = _Counter()
    before = sys.gettrace(), sys.getprofile()
    sys.settrace(counter.trace_call)
    sys.setprofile(counter.profile)
    try:
        work()
    finally:
        sys.setprofile(before[1])
        sys.settrace(before[0])
    return counter.steps


class _Counter:
    def __init__(self) -> None:
        self.steps = 0

    def trace_call(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        """What a function is given was made by another."""
        seen = {name: id(value) for name, value in frame.f_locals.items() if type(value) is str}

        def trace(frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line":
                self.steps += 1
                for name, value in frame.f_locals.items():
                    if type(value) is str and seen.get(name) != id(value):
                        seen[name] = id(value)
                        self.steps += len(value)
            return trace

        return trace

    def profile(self, _frame: FrameType, event: str, function: Any) -> None:
        target = getattr(function, "__self__", None) if event == "c_call" else None
        if isinstance(target, SIZED) and function.__name__ not in SHORT:
            self.steps += len(target)
