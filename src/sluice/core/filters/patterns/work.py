"""The limit of work for all patterns of a compilation, so that no configuration can occupy a processor for long."""

from collections.abc import Iterable
from typing import Final

from sluice.core.errors import Invalid

# A unit is a nanosecond or two: a character compared by the engine.
MAX_WORK: Final = 5_000_000_000
CHECK_WORK: Final = 1_000  # of calling the engine once, whatever it then compares

# Reading patterns costs too, about a microsecond for a unit: the classes of a regular expression take forty for each character.
MAX_READING: Final = 50_000_000
_REGEX_READING: Final = 40
_WILDCARD_READING: Final = 3


class WorkBudget:
    """Counts what the patterns of one compilation may cost; raises Invalid before the limit is exceeded."""

    def __init__(self, limit: float = MAX_WORK, reading_limit: int = MAX_READING) -> None:
        self._limit = limit
        self._left = limit
        self._reading_limit = reading_limit
        self._reading_left = reading_limit

    def take_reading(self, texts: Iterable[str]) -> None:
        """Take what it costs to read these patterns."""
        self._reading_left -= sum(map(_bound_reading, texts))
        if self._reading_left < 0:
            limit = self._reading_limit
            raise Invalid(
                f"Exclusions and inclusions are too long together: the limit is {limit // _REGEX_READING:,} characters of regular"
                f" expressions, {limit // _WILDCARD_READING:,} of texts with a wildcard, or {limit:,} of plain text. Use fewer of"
                " them, or plain text in place of regular expressions and wildcards."
            )

    def take(self, work: float) -> None:
        self._left -= work
        if self._left < 0:
            raise Invalid(
                f"Exclusions and inclusions would take more than {self._limit / 1e9:g} billion steps on these lines, which is"
                " the limit: use fewer of them, or plain text in place of regular expressions and wildcards."
            )


def is_regex(text: str) -> bool:
    """Return whether a pattern is a regular expression."""
    return len(text) > 2 and text.startswith("/") and text.endswith("/")


def _bound_reading(text: str) -> int:
    return len(text) * (_REGEX_READING if is_regex(text) else _WILDCARD_READING if "*" in text else 1)
