"""The rules of a WebSub hub (W3C Recommendation): what a subscriber may ask, and how contents are signed."""

import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, Self
from urllib.parse import urlencode

from sluice.core.errors import BadField, Invalid, Refused
from sluice.core.json_text import encode_json
from sluice.core.net.addresses import AllowedHosts, check_url

DEFAULT_LEASE_S: Final = 10 * 24 * 3600
MIN_LEASE_S: Final = 300
MAX_LEASE_S: Final = 30 * 24 * 3600
MAX_SECRET_BYTES: Final = 199
MAX_CALLBACK_CHARS: Final = 2000

Mode = Literal["subscribe", "unsubscribe"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRequest:
    """What a subscriber asks for; it counts only after its callback has confirmed it."""

    mode: Mode
    topic: str
    callback: str
    lease_s: int
    secret: str

    @classmethod
    def parse(cls, form: Mapping[str, str], *, topics: Collection[str], allowed: AllowedHosts) -> Self:
        """Raises Invalid, which names every field that is wrong."""
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
        return cls(
            mode="subscribe" if mode == "subscribe" else "unsubscribe",
            topic=form["hub.topic"],
            callback=form["hub.callback"],
            lease_s=min(max(int(lease), MIN_LEASE_S), MAX_LEASE_S),
            secret=secret,
        )

    def verification_url(self, challenge: str) -> str:
        """Returns the address that confirms the request by answering with the challenge."""
        query = {"hub.mode": self.mode, "hub.topic": self.topic, "hub.challenge": challenge}
        if self.mode == "subscribe":
            query["hub.lease_seconds"] = str(self.lease_s)
        separator = "&" if "?" in self.callback else "?"
        return f"{self.callback}{separator}{urlencode(query)}"


def encode_request(request: HubRequest) -> str:
    return encode_json(
        {
            "mode": request.mode,
            "topic": request.topic,
            "callback": request.callback,
            "lease_s": request.lease_s,
            "secret": request.secret,
        }
    )


def find_callback_mistakes(name: str, url: str, allowed: AllowedHosts) -> list[BadField]:
    """Returns why an address of a stranger must not be called: not https, private, or too long."""
    if not url or len(url) > MAX_CALLBACK_CHARS:
        return [BadField(name, f"must be an address of at most {MAX_CALLBACK_CHARS} characters")]
    try:
        target = check_url(url, allowed)
    except Refused as error:
        return [BadField(name, f"must not be called: {error}")]
    is_allowed = target.scheme == "https" or allowed.covers(target.host, target.port)
    return [] if is_allowed else [BadField(name, "must begin with https://")]


def sign_content(secret: str, body: bytes) -> str:
    """Returns the value of X-Hub-Signature."""
    return f"sha256={hmac.new(secret.encode(), body, 'sha256').hexdigest()}"
