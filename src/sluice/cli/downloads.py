"""Reads sources for the command line: a URL from the web, anything else from a file."""

import asyncio
from typing import Final

from sluice.cli.files import read_file
from sluice.cli.threads import run_in_thread
from sluice.cli.web_client import read_url
from sluice.core.compiler.limits import Limits
from sluice.core.compiler.sources.locations import is_url
from sluice.core.errors import TimedOut

# Only a protection against accidents, because the machine belongs to the user.
LIMITS: Final = Limits(source_bytes=256_000_000, total_bytes=1_000_000_000, total_lines=20_000_000, includes=10_000)
TIMEOUT_S: Final = 300.0


async def download(location: str) -> bytes:
    """Return the content of a URL or file."""
    max_bytes = LIMITS.source_bytes
    if not is_url(location):
        return await run_in_thread(lambda: read_file(location, max_bytes=max_bytes))
    try:
        async with asyncio.timeout(TIMEOUT_S + 1):
            return await run_in_thread(lambda: read_url(location, max_bytes=max_bytes, timeout_s=TIMEOUT_S))
    except TimeoutError:
        raise TimedOut(f"the host did not finish within {TIMEOUT_S:g} s") from None
