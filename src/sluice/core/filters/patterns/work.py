"""The limit of work for all patterns of a compilation, so that no configuration can occupy a processor for long."""

from typing import Final

from sluice.core.errors import Invalid

# A unit is a nanosecond or two: a character compared by the engine.
MAX_WORK: Final = 5_000_000_000
CHECK_WORK: Final = 1_000  # of calling the engine once, whatever it then compares


class WorkBudget:
    """Counts what the patterns of one compilation may cost; raises Invalid before the limit is exceeded."""

    def __init__(self, limit: float = MAX_WORK) -> None:
        self._limit = limit
        self._left = limit

    def take(self, work: float) -> None:
        self._left -= work
        if self._left < 0:
            raise Invalid(
                f"Exclusions and inclusions would take more than {self._limit / 1e9:g} billion steps on these lines, which is"
                " the limit: use fewer of them, or plain text in place of regular expressions and wildcards."
            )
