"""The limits of one compilation, so that no source can exhaust the Worker."""

from typing import Final, NamedTuple

from sluice.core.compiler.sources.line_splitting import count_lines
from sluice.core.errors import TooLarge
from sluice.core.filters.patterns.work import MAX_READING

MAX_PARALLEL_DOWNLOADS: Final = 6  # as many connections as a Worker may have open at once
MAX_INCLUDE_DEPTH: Final = 10


class ListTooLarge(TooLarge):
    """All sources of a list together exceed a limit, so no single one of them is at fault."""


class CompileLimits(NamedTuple):
    """Limits of one compilation; the defaults are unmeasured guesses for a Worker's 128 MB."""

    source_bytes: int = 20_000_000
    total_bytes: int = 40_000_000
    total_lines: int = 1_000_000
    # Counts every use of an included file, because a file that only contains includes adds no lines.
    includes: int = 2_000
    pattern_reading: int = MAX_READING


class Budget:
    """Counts what a running compilation uses; raises TooLarge at the first limit it exceeds, ListTooLarge if all share it."""

    def __init__(self, limits: CompileLimits) -> None:
        self._limits = limits
        self._bytes = 0
        self._lines = 0
        self._includes = 0

    def take_bytes(self, count: int) -> None:
        if count > self._limits.source_bytes:
            raise self.refuse_source()
        self._bytes += count
        if self._bytes > self._limits.total_bytes:
            raise ListTooLarge(
                f"all sources together are larger than {self._limits.total_bytes:,} bytes: split the list"
            )

    def refuse_source(self) -> TooLarge:
        """Return the error of a source that is too large by itself."""
        return TooLarge(f"it is larger than {self._limits.source_bytes:,} bytes, the limit for one source")

    def check_lines(self, body: bytes | str) -> None:
        """Refuse a text with too many lines before it is split; a short one cannot have too many."""
        if len(body) >= self._limits.total_lines and count_lines(body) > self._limits.total_lines:
            raise TooLarge(f"it has more than {self._limits.total_lines:,} lines, the limit for a list")

    def take_lines(self, count: int) -> None:
        self._lines += count
        if self._lines > self._limits.total_lines:
            raise ListTooLarge(
                f"all sources together have more than {self._limits.total_lines:,} lines: split the list"
            )

    def take_includes(self, count: int) -> None:
        self._includes += count
        if self._includes > self._limits.includes:
            raise ListTooLarge(f"more than {self._limits.includes:,} files are included: split the list")
