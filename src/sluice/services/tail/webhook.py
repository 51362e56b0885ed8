"""Tells an operator's webhook of the events that failed."""

import json
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.services.tail.events import Event, as_json

TIMEOUT_S: Final = 10.0
MAX_REPLY_BYTES: Final = 64 * 1024
MAX_REPORTS: Final = 20  # of one delivery: a storm of failures must not become a storm of requests
JSON: Final = (("Content-Type", "application/json"),)


async def report(events: Iterable[Event], url: str, fetch: Callable[..., Awaitable[Any]]) -> list[str]:
    """POST each failed event; returns why some could not be told. A missing URL means that nobody wants to know."""
    failed = [as_json(event) for event in events if event.failed] if url else []
    refusals = [await _post(record, url, fetch) for record in failed[:MAX_REPORTS]]
    if len(failed) > MAX_REPORTS:
        refusals.append(f"{len(failed) - MAX_REPORTS} more failures were kept, but not sent")
    return [refusal for refusal in refusals if refusal]


async def _post(record: dict[str, Any], url: str, fetch: Callable[..., Awaitable[Any]]) -> str | None:
    body = json.dumps(record).encode()
    limits = {"max_bytes": MAX_REPLY_BYTES, "timeout_s": TIMEOUT_S}
    try:
        answer = await fetch(url, method="POST", headers=JSON, body=body, **limits)
    except SluiceError as error:
        return str(error)
    return None if answer.status < 300 else f"the webhook answered {answer.status}"
