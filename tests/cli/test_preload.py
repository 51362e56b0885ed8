"""`sluice preload` as a process, against a service that checks every signature."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from cli.sluice_process import COMMAND, ENVIRONMENT, host
from runtime import PATIENCE_S
from sluice.core.preload.request_signing import SignedRequest

KEY = "the-signing-key-of-a-zone"


class FakeService:
    """A small edge-preload: verifies signatures, and a batch is finished at the second poll."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.polls = 0
        self.refusals: list[tuple[int, dict[str, str]]] = []
        self.nonces: set[str] = set()

    def respond(self, handler: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], dict[str, Any]]:
        headers = {name.lower(): value for name, value in handler.headers.items()}
        request = SignedRequest.from_request(handler.command, handler.path, headers, body)
        request.verify([KEY], float(request.timestamp))
        assert request.nonce not in self.nonces
        self.nonces.add(request.nonce)
        if self.refusals:
            status, more = self.refusals.pop(0)
            return status, more, {"detail": "not now"}
        if handler.command == "POST":
            self.bodies.append(json.loads(body))
            return 202, {}, {"preload_batch_id": f"preload-{len(self.bodies)}", "status": "accepted"}
        self.polls += 1
        counts = dict.fromkeys(("done", "failed", "gone", "skipped", "dropped", "cancelled"), 0)
        finished = self.polls > len(self.bodies)
        counts["done"] = 2 if finished else 1
        return 200, {}, {"state": "finished" if finished else "running", "total": 2, "eta_s": 1, **counts}


@contextmanager
def serve(api: FakeService) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, headers, reply = api.respond(self, body)
            content = json.dumps(reply).encode()
            self.send_response(status)
            for name, value in {"Content-Length": str(len(content)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://edge-preload.localhost:{server.server_port}"
        server.shutdown()


def run(folder: Path, endpoint: str, *arguments: str, key: str = KEY) -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, "preload", "--zone", "abc123xyz", "--endpoint", endpoint, *arguments]
    environment = ENVIRONMENT | {"SLUICE_SIGNING_KEY": key}
    return subprocess.run(command, cwd=folder, capture_output=True, env=environment, check=False, timeout=PATIENCE_S)


def test_submit_and_wait(tmp_path: Path):
    """Pages are sent in a signed request; with --wait the command ends when they are warm."""
    api = FakeService()
    with serve(api) as endpoint:
        done = run(
            tmp_path, endpoint, "--url", "https://e.com/a", "--url", "https://e.com/b", "--priority", "7", "--wait"
        )
    assert (done.returncode, done.stderr) == (0, b"2 done\n")
    assert json.loads(done.stdout)["preload_batch_id"] == "preload-1"
    [body] = api.bodies
    assert (body["zone_id"], body["urls"]) == ("abc123xyz", ["https://e.com/a", "https://e.com/b"])
    assert (body["priority"], body["trigger"]) == (7, "manual")
    assert api.polls == 2


def test_sitemap_in_batches(tmp_path: Path):
    """A sitemap is read on this machine and sent in batches of 100."""
    api = FakeService()
    pages = "".join(f"<url><loc>https://e.com/{n}</loc></url>" for n in range(230))
    with serve(api) as endpoint, host({"/s.xml": f"<urlset>{pages}</urlset>".encode()}) as address:
        done = run(tmp_path, endpoint, "--sitemap", f"{address}/s.xml")
    assert done.returncode == 0, done.stderr
    assert [len(body["urls"]) for body in api.bodies] == [100, 100, 30]
    assert len({body["idempotency_key"] for body in api.bodies}) == 3


def test_retries(tmp_path: Path):
    """A temporary failure is retried with the same idempotency key and a new nonce."""
    api = FakeService()
    api.refusals = [(429, {"Retry-After": "1"}), (503, {})]
    with serve(api) as endpoint:
        done = run(tmp_path, endpoint, "--url", "https://e.com/a")
    assert (done.returncode, len(api.bodies)) == (0, 1)


def fail_with(tmp_path: Path, check: Callable[[str], subprocess.CompletedProcess[bytes]], refusal: int) -> bytes:
    api = FakeService()
    api.refusals = [(refusal, {})] * 9
    with serve(api) as endpoint:
        done = check(endpoint)
    assert done.returncode == 1
    assert tmp_path.exists()
    return done.stderr


def test_refused(tmp_path: Path):
    """A final refusal by the service is printed in one sentence."""
    message = fail_with(tmp_path, lambda endpoint: run(tmp_path, endpoint, "--url", "https://e.com/a"), 401)
    assert message == b"sluice: the service answered 401: not now\n"


def test_usage_errors(tmp_path: Path):
    """Without a key or without pages nothing is sent."""
    done = run(tmp_path, "http://127.0.0.1:9", "--url", "https://e.com/a", key="")
    assert (done.returncode, done.stderr) == (1, b"sluice: set SLUICE_SIGNING_KEY, or name a file with --key-file\n")
    done = run(tmp_path, "http://127.0.0.1:9")
    assert done.returncode == 2
    assert b"--sitemap" in done.stderr
