"""Runs the command line as a process, and serves pages for it on a local host."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

from runtime import PATIENCE_S

SOURCE: Final = Path(__file__).parents[2] / "src"
COMMAND: Final = (sys.executable, "-m", "sluice")
# No proxy for the local host, and an ASCII locale.
ENVIRONMENT: Final = {
    **{name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")},
    "PYTHONPATH": str(SOURCE),
    "LC_ALL": "C",
    "PYTHONUTF8": "0",
}
Respond = Callable[[BaseHTTPRequestHandler], None]


def sluice(*arguments: str, folder: Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        input=stdin,
        capture_output=True,
        env=ENVIRONMENT,
        check=False,
        timeout=PATIENCE_S,
    )


@contextmanager
def host(pages: dict[str, Respond | bytes]) -> Iterator[str]:
    """Serve these pages on a local host and yield its address; a page of bytes has status 200."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = pages.get(self.path, status(404))
            (status(200, page) if isinstance(page, bytes) else page)(self)

        def log_message(self, *_arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def status(code: int, body: bytes = b"", **headers: str) -> Respond:
    def respond(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return respond
