"""The local runtime as a process that a test or a benchmark can start, talk to, kill and start again."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

import httpx

ROOT = Path(__file__).parents[2]
V8_FLAGS: Final = "MINIFLARE_WORKERD_V8_FLAGS"  # of private_interfaces.mjs
START_TIMEOUT_S = 600.0  # a first start installs everything
# A wait ends as soon as what it waits for is there, so this costs nothing and only bounds what never comes.
PATIENCE_S: Final = 240.0
# workerd closes a connection that was idle for five seconds. When Python kept it busy meanwhile, it does so although the next
# request has come in already, and that request gets no answer. So each request has a connection of its own.
NO_KEEP_ALIVE: Final = httpx.Limits(max_keepalive_connections=0)


class NotStarted(Exception):
    """The runtime ended or fell silent before it was ready; the text is what it printed."""


class Runtime:
    """./scripts/run on a free port, with its own state."""

    def __init__(
        self, state: Path, *arguments: str, root: Path = ROOT, watch: bool = False, v8_flags: str | None = None
    ) -> None:
        self.state = state
        self._root = root
        self._watching = [] if watch else ["--no-watch"]
        self._arguments = arguments
        self._variables = {V8_FLAGS: v8_flags} if v8_flags else {}
        self.lines: list[str] = []
        self.url = ""

    def start(self) -> "Runtime":
        options = ["--port", "0", "--state", str(self.state), *self._watching, *self._arguments]
        self.process = subprocess.Popen(
            [str(self._root / "scripts/run"), *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env=os.environ | self._variables,
        )
        ready = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout, ready), daemon=True)
        self._reader.start()
        if not ready.wait(START_TIMEOUT_S) or not self.url:
            self.kill()
            raise NotStarted("\n".join(self.lines))
        return self

    def _read(self, output: IO[str], ready: threading.Event) -> None:
        with output:
            for line in output:
                self.lines.append(line.rstrip("\n"))
                if found := re.match(r"Ready on (http://127\.0\.0\.1:\d+)", line):
                    self.url = found[1]
                    ready.set()
        ready.set()

    def workerd_bytes(self) -> int:
        """Return the resident memory of its workerd."""
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if os.getsid(int(folder.name)) == self.process.pid and (folder / "comm").read_text() == "workerd\n":
                    return int((folder / "statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")
        raise LookupError("the runtime has no process named workerd")

    def log(self) -> list[dict[str, Any]]:
        """Return what the Workers have logged so far, as values."""
        return [json.loads(line) for line in self.lines if line.startswith("{")]

    def client(self, worker: str) -> httpx.Client:
        return open_client(self.url, Host=f"{worker}.localhost")

    def cron(self, worker: str, expression: str) -> httpx.Response:
        query = {"worker": worker, "cron": expression}
        return httpx.get(f"{self.url}/cdn-cgi/handler/scheduled", params=query, timeout=PATIENCE_S)

    def kill(self) -> None:
        """Kill the runtime and its workerd at once, as a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self._reader.join()
        self.url = ""

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to end, as a service manager would; return the exit code."""
        self.process.send_signal(how)
        code = self.process.wait(PATIENCE_S)
        self._reader.join()
        return code


def open_client(url: str, **headers: str) -> httpx.Client:
    """Return a client of the runtime at this address, which sends these headers."""
    return httpx.Client(base_url=url, headers=headers, timeout=PATIENCE_S, limits=NO_KEEP_ALIVE)


def until(look: Callable[[], Any], timeout_s: float = PATIENCE_S) -> Any:
    """Return what `look` returns as soon as that is true; fail when it never is."""
    end = time.monotonic() + timeout_s
    while not (found := look()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {timeout_s} s")
        time.sleep(0.05)
    return found
