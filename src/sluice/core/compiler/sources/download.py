"""The download of a source, and which response statuses count as success."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final

from sluice.core.compiler.sources.source_errors import SourceMissing
from sluice.core.compiler.sources.utf8_conversion import to_utf8
from sluice.core.errors import Unavailable

if TYPE_CHECKING:
    from sluice.core.ports import Fetch

# Besides every 5xx, these statuses mean that a later attempt may succeed.
_RETRYABLE_STATUSES: Final = frozenset({408, 425, 429})

# Returns the content at an address; the SluiceError it raises says whether a retry may help.
Download = Callable[[str], Awaitable[bytes | str]]


def make_download(fetch: "Fetch", *, max_bytes: int, timeout_s: float) -> Download:
    """Build a download on top of a guarded fetch; it returns text in UTF-8."""

    async def download(url: str) -> bytes:
        response = await fetch(url, max_bytes=max_bytes, timeout_s=timeout_s)
        check_status(response.status)
        return to_utf8(response.body, response.header("content-type"), max_bytes=max_bytes)

    return download


def check_status(status: int) -> None:
    """Raise the error that a response status means: Unavailable, SourceMissing, or none for a success."""
    if status >= 500 or status in _RETRYABLE_STATUSES:
        raise Unavailable(f"the host answered with status {status}: try again later")
    if not 200 <= status < 300:
        raise SourceMissing(f"the host answered with status {status}: check the address")
