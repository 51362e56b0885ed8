"""`sluice purge` as a process, against a service that checks every signature."""

import json
import subprocess
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

from cli.sluice_process import COMMAND, ENVIRONMENT
from cli.test_preload import KEY, FakeService, serve
from runtime import PATIENCE_S


class PurgingService(FakeService):
    """A purge is done at the second look."""

    def respond(self, handler: BaseHTTPRequestHandler, body: bytes) -> tuple[int, dict[str, str], dict[str, Any]]:
        status, headers, reply = super().respond(handler, body)
        if handler.command == "POST":
            assert handler.path == "/api/v1/purge"
            return status, headers, {"purge_id": "purge-1", "status": "accepted"}
        assert handler.path == "/api/v1/zones/abc123xyz/purges/purge-1"
        return 200, {}, {"state": "done" if reply["state"] == "finished" else "removing", "pages_removed": 7}


def run(folder: Path, endpoint: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    command = [*COMMAND, "purge", "--zone", "abc123xyz", "--endpoint", endpoint, *arguments]
    environment = ENVIRONMENT | {"SLUICE_SIGNING_KEY": KEY}
    return subprocess.run(command, cwd=folder, capture_output=True, env=environment, check=False, timeout=PATIENCE_S)


def test_purge(tmp_path: Path):
    """What is named is sent in one signed purge; --wait prints how many copies were removed."""
    api = PurgingService()
    with serve(api) as endpoint:
        done = run(tmp_path, endpoint, "--tag", "post:1", "--prefix", "https://e.com/blog/", "--soft", "--wait")
    assert done.returncode == 0, done.stderr
    [body] = api.bodies
    assert (body["tags"], body["prefixes"], body["soft"]) == (["post:1"], ["https://e.com/blog/"], True)
    assert body["idempotency_key"].startswith("purge-")
    assert json.loads(done.stdout)["purge_id"] == "purge-1"
    assert b"7 pages removed" in done.stderr


def test_nothing_named(tmp_path: Path):
    """A purge of nothing is a mistake of the caller."""
    done = run(tmp_path, "http://edge-preload.localhost:1")
    assert done.returncode == 2
    assert b"--everything" in done.stderr
