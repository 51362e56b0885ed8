"""The downloads of one compilation, within its allowance of fetches, its turn and its memory."""

from dataclasses import dataclass
from typing import Final

from sluice import __version__
from sluice.core.compiler.limits import CompileLimits
from sluice.core.compiler.sources.download import Download, check_status
from sluice.core.compiler.sources.utf8_conversion import to_utf8
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.net.transport import Transport
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.limits.memory import TextBudget, estimate_text_bytes
from sluice.services.compiler.limits.turns import NeedsTurn, Turn

SOURCE_TIMEOUT_S: Final = 30.0
USER_AGENT: Final = (("User-Agent", f"sluice/{__version__}"),)
LIMITS: Final = CompileLimits(
    source_bytes=10_000_000, total_bytes=10_000_000, total_lines=400_000, includes=200, pattern_reading=3_000_000
)


@dataclass(frozen=True, slots=True)
class CompilationMeter:
    """What one compilation may use."""

    allowance: FetchAllowance
    turn: Turn
    budget: TextBudget


def open_download(transport: Transport, allowed: AllowedHosts, meter: CompilationMeter) -> Download:
    fetch = Fetcher(meter.allowance.limit_transport(transport), allowed).fetch

    async def read(url: str) -> bytes:
        body = bytearray()

        def write(chunk: bytes) -> None:
            meter.turn.count(len(chunk))
            body.extend(chunk)

        try:
            response = await meter.turn.watch(
                fetch(url, headers=USER_AGENT, max_bytes=LIMITS.source_bytes, timeout_s=SOURCE_TIMEOUT_S, sink=write)
            )
            check_status(response.status)
            content = bytes(body)
        finally:
            # At once: the frames of an error hold it until the next garbage collection.
            body.clear()
        text = to_utf8(content, response.header("content-type"), max_bytes=LIMITS.source_bytes)
        meter.turn.count(max(0, len(text) - len(content)))
        meter.budget.take(estimate_text_bytes(text))
        return text

    async def download(url: str) -> bytes:
        try:
            return await read(url)
        except NeedsTurn:
            await meter.turn.wait()
            return await read(url)

    return download
