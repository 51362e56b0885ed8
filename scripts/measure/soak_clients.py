"""How the load of ./scripts/bench soak talks to the runtime: it waits while that is down, and judges each reply."""

import json
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any, Final

import httpx

from runtime import Runtime
from sluice.core.preload.request_signing import sign_request
from soak_checks import Findings, Windows
from soak_sources import Faults, Kind

TOKEN: Final = "soak-operator-token"  # noqa: S105 - for this run alone
KEY: Final = "soak-signing-key-of-all-zones"
ADMIN: Final = {"Authorization": f"Bearer {TOKEN}"}
ANSWER_S: Final = 90.0
_GRACE_S: Final = 1.0  # a source that was well again a moment ago may still be the reason
_TRIES: Final = 30
_SHOWN_CHARS: Final = 160


class Clients:
    """All clients of one runtime. `over` ends what repeats or waits."""

    def __init__(self, runtime: Runtime, findings: Findings, faults: Faults, began_at: float) -> None:
        self.findings = findings
        self.down = Windows()
        self.over = threading.Event()
        self.runtime = runtime
        self._faults = faults
        self._began_at = began_at
        self._up = threading.Event()

    def note_up(self, now: float) -> None:
        if self.down.is_open:
            self.down.close(now)
        self._up.set()

    def note_down(self, now: float) -> None:
        self._up.clear()
        self.down.open(now)

    def send(
        self,
        host: str,
        method: str,
        path: str,
        *,
        needs: Kind | None = None,
        body: Any = None,
        headers: dict[str, str] | None = None,
        is_signed: bool = False,
    ) -> httpx.Response | None:
        """Return the reply, or None if there was none; one that should not be is reported, `needs` names a source that may be its reason."""
        while not self._up.wait(0.5):
            if self.over.is_set():
                return None
        content = b"" if body is None else json.dumps(body).encode()
        sent = {"Host": host, "Content-Type": "application/json", **(headers or {})}
        if is_signed:
            sent |= sign_request(KEY, method, path, content, now=time.time(), nonce=secrets.token_hex(16))
        began = time.monotonic()
        try:
            # A connection of its own: workerd closes one that is idle while it computes.
            reply = httpx.request(
                method, self.runtime.url + path, content=content, headers=sent, timeout=ANSWER_S, trust_env=False
            )
        except (httpx.TransportError, httpx.UnsupportedProtocol) as error:
            self._judge(began, needs, f"{method} {host}{path}", f"no answer: {error!r}")
            return None
        self.findings.count(f"requests: {host.partition('.localhost')[0]}")
        if reply.status_code == 429:
            self.findings.count("replies: 429")
        if reply.status_code >= 500:
            text = f"{reply.status_code}: {reply.text[:_SHOWN_CHARS]}"
            self._judge(began, needs, f"{method} {host}{path}", text)
        return reply

    def _judge(self, began: float, needs: Kind | None, what: str, answer: str) -> None:
        now = time.monotonic()
        kind = answer.partition(":")[0]
        if self.down.overlaps(began, now):
            self.findings.count(f"replies: {kind}, the runtime was down")
        elif needs and self._faults.windows[needs].overlaps(began - _GRACE_S, now):
            self.findings.count(f"replies: {kind}, {needs} made to fail")
        else:
            self.findings.count(f"replies: {kind}, without a reason")
            self.findings.report("replies", f"{self.tell_time(began)} {what} got {answer}.")

    def send_until_answered(self, send: Callable[[], httpx.Response | None]) -> httpx.Response | None:
        """Repeat a request, which has an idempotency key, until it is answered and not with 5xx."""
        for _ in range(_TRIES):
            reply = send()
            if reply is not None and reply.status_code < 500 and reply.status_code != 429:
                return reply
            if self.over.wait(1.0):
                return None
        return None

    def had_fault(self, kind: Kind, since: float) -> bool:
        return self._faults.windows[kind].overlaps(since - _GRACE_S, time.monotonic())

    def tell_time(self, at: float) -> str:
        return f"In minute {(at - self._began_at) / 60:.1f}"
