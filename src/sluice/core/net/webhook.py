"""Posts JSON to an address that an operator or a subscriber has named."""

from typing import Final

from sluice.core.errors import Unavailable
from sluice.core.json_text import encode_utf8
from sluice.core.ports import Fetch, HeaderPairs

TIMEOUT_S: Final = 10.0
MAX_REPLY_BYTES: Final = 64 * 1024


async def post_alert(fetch: Fetch, url: str, alert: str, alert_id: str) -> None:
    """Post an alert, as JSON text, to the operator's webhook; raise Unavailable unless it was received.

    A crash after the reply repeats the request: the idempotency key marks it as the same alert.
    """
    body, headers = encode_utf8(alert), (("Idempotency-Key", alert_id),)
    await post_json(fetch, url, body, headers, about=f" to alert {alert_id}: check ALERT_WEBHOOK_URL")


async def post_json(fetch: Fetch, url: str, body: bytes, headers: HeaderPairs = (), *, about: str = "") -> None:
    """Post JSON; raise Unavailable unless the status says that it was received. A redirect does not, and is not followed."""
    response = await fetch(
        url,
        method="POST",
        headers=(("Content-Type", "application/json"), *headers),
        body=body,
        max_bytes=MAX_REPLY_BYTES,
        timeout_s=TIMEOUT_S,
        follow=False,
    )
    if not 200 <= response.status < 300:
        raise Unavailable(f"the webhook answered {response.status}{about}")
