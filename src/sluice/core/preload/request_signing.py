"""Signed requests: HMAC-SHA256 over a canonical string of method, path, time, nonce and the hash of the body.

Two headers of our own requests are signed with the zone's key too, each as `t=UNIX,v=HEX`, where `v` is the HMAC-SHA256
of lines.

`X-Sluice-Proxy` lets an origin believe us. Its five lines are `proxy`, the host and the protocol that were asked for,
the visitor's address, and `t`. The address is the last one in `X-Forwarded-For`, and empty without that header. An
origin that checks it, and that `t` is at most 300 s old, may believe `X-Forwarded-Host`, `-Proto` and `-For`.

`X-Sluice-Warming` lets this Worker know its own warming request again (`services/preload/serving/warming_loopback.py`). Its
four lines are `warming`, the method, the host with path and query, and `t`, which is at most 60 s old.
"""

import hmac
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Final, Self

from sluice.core.errors import Unauthorized

MAX_AGE_S: Final = 300
MAX_AHEAD_S: Final = 30
# A nonce is kept for as long as the request that carries it could be sent again.
NONCE_KEPT_S: Final = MAX_AGE_S + MAX_AHEAD_S + 70
PROXY_HEADER: Final = "x-sluice-proxy"
WARMING_HEADER: Final = "x-sluice-warming"
MAX_WARMING_AGE_S: Final = 60  # it is sent as soon as it is signed, and only has to travel
_TIMESTAMP: Final = re.compile(r"[0-9]{1,11}")
_NONCE: Final = re.compile(r"[0-9a-fA-F-]{16,64}")
_SIGNATURE: Final = re.compile(r"[0-9a-f]{64}")
_WARMING: Final = re.compile(r"t=([0-9]{1,11}),v=([0-9a-f]{64})")
_UUID4: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.IGNORECASE)
_ANY_KEY: Final = re.compile(rf"(?:[a-z]{{1,32}}-)?{_UUID4.pattern}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """What the signature covers, and the signature; `path` includes the query."""

    method: str
    path: str
    timestamp: str
    nonce: str
    body_hash: str
    signature: str

    @classmethod
    def from_request(cls, method: str, path: str, headers: Mapping[str, str], body: bytes) -> Self:
        """Read the headers of a request; raise Unauthorized when one is missing or malformed."""
        values = []
        for name, form in (("X-Timestamp", _TIMESTAMP), ("X-Nonce", _NONCE), ("X-Signature", _SIGNATURE)):
            value = headers.get(name.lower())
            if value is None or not form.fullmatch(value):
                raise Unauthorized(f"the header {name} is missing or malformed; see the signing scheme in the README")
            values.append(value)
        return cls(method, path, values[0], values[1], sha256(body).hexdigest(), values[2])

    @property
    def text(self) -> str:
        return canonical_string(self.method, self.path, self.timestamp, self.nonce, self.body_hash)

    def verify(self, keys: Iterable[str], now: float) -> None:
        """Raise Unauthorized unless the signature is recent and was made with one of the keys."""
        age_s = now - int(self.timestamp)
        if age_s > MAX_AGE_S or age_s < -MAX_AHEAD_S:
            raise Unauthorized("X-Timestamp is more than 300 s old or more than 30 s ahead of this clock")
        # Every key is tried, so that the time taken does not tell which one fits.
        matches = [hmac.compare_digest(compute_signature(key, self.text), self.signature) for key in keys if key]
        if not any(matches):
            raise Unauthorized("X-Signature does not fit this request: check the key and the signed text")


def canonical_string(method: str, path: str, timestamp: str, nonce: str, body_hash: str) -> str:
    """Return the five lines that are signed."""
    return f"{method}\n{path}\n{timestamp}\n{nonce}\n{body_hash}"


def compute_signature(key: str, text: str) -> str:
    """Return the signature in lower-case hexadecimal."""
    return hmac.new(key.encode(), text.encode(), sha256).hexdigest()


def sign_proxy(key: str, *, host: str, proto: str, client_ip: str, now: float) -> tuple[str, str]:
    """Return the header of each request to an origin that proves where it comes from, so that X-Forwarded-* can be believed.

    `client_ip` is the last address in X-Forwarded-For, and empty where there is none: the preloader has no visitor.
    """
    timestamp = str(int(now))
    text = f"proxy\n{host}\n{proto}\n{client_ip}\n{timestamp}"
    return (PROXY_HEADER, f"t={timestamp},v={compute_signature(key, text)}")


def sign_warming(key: str, *, method: str, place: str, now: float) -> tuple[str, str]:
    """Return the header by which the preloader knows its own request again, if the front door brings that to the Worker.

    `place` is the page's host, path and query.
    """
    timestamp = str(int(now))
    return (WARMING_HEADER, f"t={timestamp},v={compute_signature(key, _warming_text(method, place, timestamp))}")


def is_recent_warming(value: str, now: float) -> bool:
    """Return whether a header has the form of such a proof and is not too old: what can be told without a key."""
    found = _WARMING.fullmatch(value)
    return found is not None and -MAX_AHEAD_S <= now - int(found[1]) <= MAX_WARMING_AGE_S


def proves_warming(value: str, keys: Iterable[str], *, method: str, place: str) -> bool:
    """Return whether one of the keys has signed this method and place; `is_recent_warming` judges the time."""
    found = _WARMING.fullmatch(value)
    if found is None:
        return False
    text = _warming_text(method, place, found[1])
    return any([hmac.compare_digest(compute_signature(key, text), found[2]) for key in keys if key])  # noqa: C419 - all are tried


def _warming_text(method: str, place: str, timestamp: str) -> str:
    return f"warming\n{method}\n{place}\n{timestamp}"


def sign_request(key: str, method: str, path: str, body: bytes, *, now: float, nonce: str) -> dict[str, str]:
    """Return the headers that a client sends."""
    timestamp = str(int(now))
    text = canonical_string(method, path, timestamp, nonce, sha256(body).hexdigest())
    return {"X-Timestamp": timestamp, "X-Nonce": nonce, "X-Signature": compute_signature(key, text)}


def check_preload_key(key: str) -> str:
    return _check_key(key, "preload-")


def check_purge_key(key: str) -> str:
    return _check_key(key, "purge-")


def check_any_key(key: str) -> str:
    """Return the idempotency key of a request; raise ValueError for one that is not a UUID after an optional word."""
    if not _ANY_KEY.fullmatch(key):
        raise ValueError("must be a UUID of version 4, with or without a word such as sitemap- before it")
    return key


def _check_key(key: str, word: str) -> str:
    if not key.startswith(word) or not _UUID4.fullmatch(key.removeprefix(word)):
        raise ValueError(f"must be {word} followed by a UUID of version 4")
    return key
