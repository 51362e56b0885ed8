"""Reports failed events to the operator's webhook."""

from collections.abc import Iterable
from typing import Any, Final

from sluice.core.errors import SluiceError, Unavailable
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.ports import Fetch
from sluice.services.tail.events import TailEvent

TIMEOUT_S: Final = 10.0
MAX_REPLY_BYTES: Final = 64 * 1024
MAX_REPORTS: Final = 20  # per delivery: many failures must not become many requests
JSON: Final = (("Content-Type", "application/json"),)


async def report_failures(events: Iterable[TailEvent], url: str, fetch: Fetch) -> list[str]:
    """Posts each failed event. Returns the reasons why some were not delivered. Without a URL it does nothing."""
    records = [event.as_json() for event in events if event.is_failure] if url else []
    reasons: list[str] = []
    for record in records[:MAX_REPORTS]:
        try:
            await _post(record, url, fetch)
        except SluiceError as error:
            reasons.append(str(error))
    if len(records) > MAX_REPORTS:
        reasons.append(f"{len(records) - MAX_REPORTS} more failures were stored, but not sent")
    return reasons


async def _post(record: dict[str, Any], url: str, fetch: Fetch) -> None:
    body = encode_utf8(encode_json(record))
    response = await fetch(url, method="POST", headers=JSON, body=body, max_bytes=MAX_REPLY_BYTES, timeout_s=TIMEOUT_S)
    if response.status >= 300:
        raise Unavailable(f"the webhook answered {response.status}")
