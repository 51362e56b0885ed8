"""The adapters over the real bindings keep the promises that they keep over the fakes."""

import contextlib
import http.server
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from contract import SUITES
from contract.fetch import upstream
from runtime import PATIENCE_S, Runtime
from workerd.conftest import PROBE, StartRuntime

CASES = [pytest.param(suite, case, id=f"{suite}-{case}") for suite, cases in SUITES.items() for case in cases]


class Upstream(http.server.BaseHTTPRequestHandler):
    """Answers as the contract of fetch says."""

    def do_GET(self) -> None:
        origin = f"http://{self.headers['Host']}"
        status, headers, body = upstream(origin).get(self.path.partition("?")[0], (404, (), b""))
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # a body that is too large is left unread
            super().handle()


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Upstream) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(name="contract", scope="module")
def _contract(start: StartRuntime) -> Runtime:
    return start("--config", str(PROBE / "wrangler.contract.toml"))


@pytest.mark.parametrize(("suite", "case"), CASES)
def test_contract(contract: Runtime, origin: str, suite: str, case: str):
    """The adapter over the real binding keeps the promise."""
    reply = httpx.get(f"{contract.url}/{suite}/{case}", params={"origin": origin}, timeout=PATIENCE_S)
    assert (reply.status_code, reply.text) == (200, "")
