"""Times in requests and replies: RFC 3339 in UTC with milliseconds."""

from datetime import UTC, datetime
from typing import Annotated

from sluice.core.doc import Doc
from sluice.core.errors import BadField, Invalid

# Members of replies.
Timestamp = Annotated[str, Doc("A time such as 2026-01-31T12:00:00.000Z.")]
EpochMs = Annotated[int, Doc("Milliseconds since 1970.")]


def iso(epoch_s: float) -> str:
    """Format seconds since the epoch: `2026-11-16T01:34:26.598Z`."""
    at_s, ms = divmod(round(epoch_s * 1000), 1000)
    time = datetime.fromtimestamp(at_s, UTC).replace(microsecond=ms * 1000)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def elapsed_ms(began_s: float, now_s: float) -> float:
    """Return the milliseconds between; never fewer than none, because Cloudflare's clock may step back between two reads."""
    return max(0.0, (now_s - began_s) * 1000)


def parse_iso_ms(text: str, field: str) -> int:
    """Parse a time into milliseconds since 1970; a time without a zone is UTC. Raise Invalid, which names the field."""
    try:
        # A + that was not percent-encoded arrives as a space.
        time = datetime.fromisoformat(text.strip().replace(" ", "+"))
    except ValueError:
        reason = "is not a time such as 2026-11-16T01:34:26.598Z"
        raise Invalid(f"{field} {reason}", [BadField(field, reason)]) from None
    since = (time if time.tzinfo else time.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return since.days * 86_400_000 + since.seconds * 1000 + since.microseconds // 1000
