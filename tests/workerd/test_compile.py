"""The compiler inside workerd, in the bundle that is deployed."""

import http.server
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from runtime import ROOT, open_client
from workerd.conftest import StartRuntime

LIST = "! a comment\n||co.uk^\n||ads.example.co.uk^\n0.0.0.0 ads.example.co.uk\n||пример.рф^\n"


class Lists(http.server.BaseHTTPRequestHandler):
    """Serves the list at /list and nothing else."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        content = LIST.encode() if self.path == "/list" else b""
        self.send_response(200 if content else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_args: Any) -> None:
        """Log nothing."""


@pytest.fixture(name="address", scope="module")
def _address() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Lists) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(name="compiler", scope="module")
def _compiler(start: StartRuntime, address: str) -> Iterator[httpx.Client]:
    config = str(ROOT / "scripts/measure/compile_worker/wrangler.toml")
    runtime = start("--config", config, "--var", f"ALLOW_PRIVATE_HOSTS={address}")
    with open_client(runtime.url) as client:
        yield client


def test_suffixes_are_in_the_bundle(compiler: httpx.Client):
    """A rule for a whole public suffix is dropped, so the suffix list is in the bundle."""
    compiler.put("/", content=b"||co.uk^\n||example.co.uk^")
    assert compiler.get("/", params={"name": "Validate"}).json()["lines"] == 1


def test_compile(compiler: httpx.Client, address: str):
    """A configuration is compiled from its source's URL: the header, and the two rules that are left."""
    names = ["ConvertToAscii", "RemoveComments", "Compress", "Validate", "Deduplicate"]
    configuration = {"name": "T", "sources": [{"source": f"http://{address}/list"}], "transformations": names}
    reply = compiler.post("/", json=configuration)
    assert reply.status_code == 200, reply.text
    header = 7
    assert reply.json()["lines"] == header + 2  # ||co.uk^ is dropped, and has covered nothing


def test_unreachable_source(compiler: httpx.Client, address: str):
    """An unreachable source fails the compilation."""
    configuration = {"name": "T", "sources": [{"source": f"http://{address}/nothing"}]}
    assert compiler.post("/", json=configuration).status_code == 500
