"""Sources as the command line reads them: a URL from the web, anything else from a file below the working directory."""

import asyncio
from typing import Final

from sluice.cli.files import read_file
from sluice.cli.threads import run_in_thread
from sluice.cli.web_client import read_url
from sluice.core.compiler.limits import Limits
from sluice.core.compiler.sources.locations import is_url
from sluice.core.errors import TimedOut

# Against accidents only: the machine is the user's own.
LIMITS: Final = Limits(source_bytes=256_000_000, total_bytes=1_000_000_000, total_lines=20_000_000, includes=10_000)
TIMEOUT_S: Final = 300.0


async def download(location: str) -> bytes:
    """The content behind a location."""
    max_bytes = LIMITS.source_bytes
    if not is_url(location):
        return await run_in_thread(lambda: read_file(location, max_bytes=max_bytes))
    try:
        async with asyncio.timeout(TIMEOUT_S + 1):
            return await run_in_thread(lambda: read_url(location, max_bytes=max_bytes, timeout_s=TIMEOUT_S))
    except TimeoutError:
        raise TimedOut("the host takes too long") from None
