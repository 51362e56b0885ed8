"""A client of the signed API of edge-preload."""

import http.client
import json
import secrets
import time
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from sluice import __version__
from sluice.core.errors import Invalid, SluiceError, Unavailable
from sluice.core.preload.request_signing import sign_request

PRELOAD_PATH: Final = "/api/v1/preload"
PURGE_PATH: Final = "/api/v1/purge"
TIMEOUT_S: Final = 60.0
ATTEMPTS: Final = 5
MAX_RETRY_AFTER_S: Final = 120.0
MAX_REPLY_BYTES: Final = 1_000_000
_RETRYABLE_STATUSES: Final = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class _Reply:
    status: int
    body: dict[str, Any]
    retry_after_s: float = 1.0


@dataclass(frozen=True, slots=True)
class PreloadClient:
    """Signs and sends requests for one zone."""

    endpoint: str
    zone_id: str
    key: str

    def submit(self, body: dict[str, Any]) -> dict[str, Any]:
        """Submit pages for warming; return the accepted batch."""
        return self._request("POST", PRELOAD_PATH, json.dumps(body).encode())

    def purge(self, body: dict[str, Any]) -> dict[str, Any]:
        """Purge pages; return the accepted purge."""
        return self._request("POST", PURGE_PATH, json.dumps(body).encode())

    def get_purge(self, purge_id: str) -> dict[str, Any]:
        """Return the progress of a purge."""
        return self._request("GET", f"/api/v1/zones/{self.zone_id}/purges/{purge_id}", b"")

    def get_batch(self, batch_id: str) -> dict[str, Any]:
        """Return the state of a batch."""
        return self._request("GET", f"/api/v1/zones/{self.zone_id}/batches/{batch_id}", b"")

    def _request(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        """Retry temporary failures; the idempotency key in the body makes that safe."""
        for attempts_left in reversed(range(ATTEMPTS)):
            try:
                reply = self._send(method, path, body)
            except OSError as error:
                reply = _Reply(503, {"detail": str(error)})
            if reply.status < 300:
                return reply.body
            if reply.status not in _RETRYABLE_STATUSES or not attempts_left:
                reason = reply.body.get("detail") or "no reason given"
                failure = Invalid if reply.status < 500 else Unavailable
                raise failure(f"the service answered {reply.status}: {reason}")
            time.sleep(min(reply.retry_after_s, MAX_RETRY_AFTER_S))
        raise SluiceError("the loop above returns or raises")

    def _send(self, method: str, path: str, body: bytes) -> _Reply:
        connection = self._connect()
        headers = sign_request(self.key, method, path, body, now=time.time(), nonce=secrets.token_hex(16))
        host = urlsplit(self.endpoint).netloc
        headers |= {"Host": host, "Content-Type": "application/json", "User-Agent": f"sluice/{__version__}"}
        try:
            connection.request(method, path, body or None, headers)
            response = connection.getresponse()
            content = response.read(MAX_REPLY_BYTES)
        except http.client.HTTPException as error:
            raise Unavailable(f"the service does not answer in HTTP: {error!r}") from error
        finally:
            connection.close()
        return _Reply(response.status, _parse_reply(content), float(response.headers.get("Retry-After") or 1))

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.endpoint)
        host = parts.hostname or ""
        # Not every machine resolves names below .localhost, and all of them mean the machine itself.
        address = "127.0.0.1" if host.endswith(".localhost") else host
        connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        return connect(address, parts.port, timeout=TIMEOUT_S)


def _parse_reply(content: bytes) -> dict[str, Any]:
    try:
        value = json.loads(content)
    except ValueError:
        return {"detail": content[:200].decode("utf-8", "replace")}
    return value if isinstance(value, dict) else {"detail": str(value)[:200]}
