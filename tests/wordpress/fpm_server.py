"""The same site under PHP-FPM, as most hosts run it: a small web server that speaks FastCGI to it.

Only here PHP can send a response and go on: `fastcgi_finish_request`.
"""

import contextlib
import http.server
import os
import socket
import struct
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ports import find_free_port
from runtime import PATIENCE_S, until
from wordpress.wordpress_site import WordPress

BEGIN, END, PARAMS, STDIN, STDOUT = 1, 3, 4, 5, 6
MAX_RECORD: Final = 65_000
CONFIG: Final = """
[global]
error_log = {folder}/fpm.log
daemonize = no
[site]
listen = 127.0.0.1:{port}
pm = static
pm.max_children = 3
"""


class FpmServer:
    """`paths` has each path that was asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.paths: list[str] = []


@contextlib.contextmanager
def fpm_server(wordpress: WordPress, folder: Path) -> Iterator[FpmServer]:
    port = find_free_port()
    (folder / "fpm.conf").write_text(CONFIG.format(folder=folder, port=port))
    programs = wordpress.programs
    command = [str(programs.fpm), "-n", "-c", str(wordpress.php_settings), "-y", str(folder / "fpm.conf")]
    # Compiled files of its own: PHP resolves functions when it compiles, and the command line lacks some of FPM's.
    (folder / "opcache").mkdir()
    command += ["-d", f"opcache.file_cache={folder / 'opcache'}"]
    command += ["--allow-to-run-as-root"] if os.geteuid() == 0 else []
    with (folder / "output.log").open("wb") as log:
        fpm = subprocess.Popen(command, env=programs.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        until(lambda: fpm.poll() is not None or _listens(port))
        assert fpm.poll() is None, (folder / "output.log").read_text()
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler) as web:
            site = FpmServer(f"http://127.0.0.1:{web.server_port}")
            web.RequestHandlerClass = _make_handler(site, port, wordpress.site)
            threading.Thread(target=web.serve_forever, args=(0.05,), daemon=True).start()
            yield site
            web.shutdown()
    finally:
        fpm.terminate()
        fpm.wait(PATIENCE_S)


def _listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionError:
        return False
    return True


def _make_handler(site: FpmServer, port: int, root: Path) -> type[http.server.BaseHTTPRequestHandler]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def _handle(self) -> None:
            site.paths.append(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            path, _, query = self.path.partition("?")
            script = path if (root / path.lstrip("/")).is_file() else "/index.php"
            params = {
                "SCRIPT_FILENAME": f"{root}{script}",
                "SCRIPT_NAME": script,
                "DOCUMENT_ROOT": str(root),
                "REQUEST_METHOD": self.command,
                "REQUEST_URI": self.path,
                "QUERY_STRING": query,
                "SERVER_PROTOCOL": "HTTP/1.1",
                "SERVER_ADDR": "127.0.0.1",
                "SERVER_PORT": site.url.rpartition(":")[2],
                "REMOTE_ADDR": "127.0.0.1",
                "CONTENT_LENGTH": str(len(body)),
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            } | {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in self.headers.items()}
            head, _, content = _ask(port, params, body).partition(b"\r\n\r\n")
            headers = [line.partition(": ") for line in head.decode().split("\r\n")]
            status = next((value for name, _, value in headers if name == "Status"), "200 OK")
            self.send_response(int(status[:3]))
            for name, _, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _handle  # noqa: N815

        def log_message(self, *_args: Any) -> None:
            """Log nothing."""

    return Handler


def _ask(port: int, params: Mapping[str, str], body: bytes) -> bytes:
    """Return what PHP sends until it says that the response is complete; it may go on working after that."""
    pairs = b"".join(_encode(name.encode(), value.encode()) for name, value in params.items())
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as connection:
        connection.sendall(_record(BEGIN, struct.pack(">HB5x", 1, 0)) + _stream(PARAMS, pairs) + _stream(STDIN, body))
        output = b""
        with connection.makefile("rb") as replies:
            while True:
                _, kind, _, length, padding = struct.unpack(">BBHHBx", replies.read(8))
                content = replies.read(length + padding)[:length]
                if kind == END:
                    return output
                output += content if kind == STDOUT else b""


def _stream(kind: int, content: bytes) -> bytes:
    parts = [content[at : at + MAX_RECORD] for at in range(0, len(content), MAX_RECORD)]
    return b"".join(_record(kind, part) for part in [*parts, b""])


def _record(kind: int, content: bytes) -> bytes:
    return struct.pack(">BBHHBx", 1, kind, 1, len(content), 0) + content


def _encode(name: bytes, value: bytes) -> bytes:
    return struct.pack(">II", len(name) | 1 << 31, len(value) | 1 << 31) + name + value
