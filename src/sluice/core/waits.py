"""Waits by a clock that may be set back: none takes longer than its own rule could make it take from now.

A time that was stored before the clock went back lies ahead of what its rule could have set. What is stored is clamped
to that once (`clamp_wait`), so that the wait still protects whom it protects. What is only remembered, to do something
now and then, counts as over (`is_waiting`): doing it once too often costs less than not doing it for a day.
"""

from typing import TypeVar

Time = TypeVar("Time", int, float)


def clamp_wait(until: Time, now: Time, longest: Time) -> Time:
    """Return the end of a wait that takes at most `longest` from now. Store it: computed anew it would move on with the clock."""
    return min(until, now + longest)


def is_waiting(until: Time, now: Time, longest: Time) -> bool:
    """Return whether a wait goes on that took at most `longest` when it began; one that would take longer is over."""
    return now < until <= now + longest
