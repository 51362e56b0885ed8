"""Reads sources for the command line: a URL from the web, anything else from a file."""

import time
from typing import Final

from sluice.cli.files import read_file
from sluice.core.compiler.limits import CompileLimits
from sluice.core.compiler.sources.locations import is_url
from sluice.core.compiler.sources.utf8_conversion import to_utf8

# Only a protection against accidents, because the machine belongs to the user.
LIMITS: Final = CompileLimits(
    source_bytes=256_000_000, total_bytes=1_000_000_000, total_lines=20_000_000, includes=10_000
)
TIMEOUT_S: Final = 300.0


def read_location(location: str) -> bytes:
    """Return the content of a URL or file in UTF-8."""
    max_bytes = LIMITS.source_bytes
    if not is_url(location):
        return to_utf8(read_file(location, max_bytes=max_bytes), None, max_bytes=max_bytes)
    from sluice.cli.web_client import read_url  # noqa: PLC0415 - files need no web client, which delays the start

    return read_url(location, max_bytes=max_bytes, timeout_s=TIMEOUT_S)


async def download(location: str) -> bytes:
    """Return the content of a URL or file; this never lets other work run meanwhile."""
    return read_location(location)


class SystemClock:
    """Implements the Clock port with the system's own time, for work that runs alone."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        time.sleep(seconds)  # noqa: ASYNC251 - nothing else runs
