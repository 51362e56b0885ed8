"""The rules of a WebSub hub (W3C Recommendation): what a subscriber may ask, and how contents are signed."""

import hmac
from collections.abc import Collection, Mapping
from typing import Final
from urllib.parse import urlencode

from sluice.core.errors import BadField, Invalid, Refused
from sluice.core.net.addresses import AllowedHosts, check_url
from sluice.services.news.state.remote_state import HubRequest

DEFAULT_LEASE_S: Final = 10 * 24 * 3600
MIN_LEASE_S: Final = 300
MAX_LEASE_S: Final = 30 * 24 * 3600
MAX_SECRET_BYTES: Final = 199
MAX_CALLBACK_CHARS: Final = 2000


def parse_hub_request(form: Mapping[str, str], *, topics: Collection[str], allowed: AllowedHosts) -> HubRequest:
    """Raise Invalid, which names every field that is wrong."""
    mistakes: list[BadField] = []
    mode = form.get("hub.mode", "")
    if mode not in ("subscribe", "unsubscribe"):
        mistakes.append(BadField("hub.mode", "must be subscribe or unsubscribe"))
    if form.get("hub.topic", "") not in topics:
        mistakes.append(BadField("hub.topic", f"must be a feed of this service: {', '.join(sorted(topics))}"))
    mistakes += find_callback_mistakes("hub.callback", form.get("hub.callback", ""), allowed)
    secret = form.get("hub.secret", "")
    if len(secret.encode()) > MAX_SECRET_BYTES:
        mistakes.append(BadField("hub.secret", f"takes at most {MAX_SECRET_BYTES} bytes"))
    lease = form.get("hub.lease_seconds", "") or str(DEFAULT_LEASE_S)
    if not (lease.isascii() and lease.isdigit() and len(lease) < 12):
        mistakes.append(BadField("hub.lease_seconds", "must be a whole number of seconds"))
    if mistakes:
        raise Invalid.from_fields(mistakes)
    return {
        "mode": "subscribe" if mode == "subscribe" else "unsubscribe",
        "topic": form["hub.topic"],
        "callback": form["hub.callback"],
        "lease_s": min(max(int(lease), MIN_LEASE_S), MAX_LEASE_S),
        "secret": secret,
    }


def build_verification_url(request: HubRequest, challenge: str) -> str:
    """Return the address that confirms the request by answering with the challenge."""
    query = {"hub.mode": request["mode"], "hub.topic": request["topic"], "hub.challenge": challenge}
    if request["mode"] == "subscribe":
        query["hub.lease_seconds"] = str(request["lease_s"])
    separator = "&" if "?" in request["callback"] else "?"
    return f"{request['callback']}{separator}{urlencode(query)}"


def find_callback_mistakes(name: str, url: str, allowed: AllowedHosts) -> list[BadField]:
    """Return why an address of a stranger must not be called: not https, private, or too long."""
    if not url or len(url) > MAX_CALLBACK_CHARS:
        return [BadField(name, f"must be an address of at most {MAX_CALLBACK_CHARS} characters")]
    try:
        target = check_url(url, allowed)
    except Refused as error:
        return [BadField(name, f"must not be called: {error}")]
    is_allowed = target.scheme == "https" or allowed.covers(target.host, target.port)
    return [] if is_allowed else [BadField(name, "must begin with https://")]


def sign_content(secret: str, body: bytes) -> str:
    """Return the value of X-Hub-Signature."""
    return f"sha256={hmac.new(secret.encode(), body, 'sha256').hexdigest()}"
