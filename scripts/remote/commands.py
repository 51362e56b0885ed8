"""Runs wrangler and pywrangler as processes, each for a limited time and never longer than this program.

Each runs in a process group of its own, which ends with its time limit, with Ctrl-C and with SIGTERM.
"""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

Wrangler = Callable[..., str]

QUESTION_LIMIT_S: Final = 120.0  # a question takes seconds
UPLOAD_LIMIT_S: Final = 900.0  # may install packages first, and sends megabytes
LONG_COMMANDS: Final = (("deploy",), ("sync",), ("d1", "migrations"))
GRACE_S: Final = 5.0  # between the request to end and the end


class DeployError(Exception):
    """A problem that the operator can fix; its text is printed without a traceback."""


class CommandFailed(DeployError):
    """A command failed; the text is its output. `code` is that of Cloudflare's API, if it was that which refused."""

    def __init__(self, text: str, *, output: str = "", code: int | None = None) -> None:
        super().__init__(text)
        self.output = output
        self.code = code


class CommandTimedOut(DeployError):
    """A command was ended after its time limit."""


@dataclass(frozen=True, slots=True)
class Program:
    """A program on the search path; `limit_s` replaces the limits that its commands have."""

    name: str
    limit_s: float | None = None

    def __call__(self, *arguments: str) -> str:
        """Run it and return what it prints; raise CommandFailed or CommandTimedOut."""
        with tempfile.TemporaryDirectory() as folder:
            events = Path(folder) / "events"
            process = _start(self.name, *arguments, events=events)
            try:
                output, errors = process.communicate(timeout=self.choose_limit(arguments))
            except subprocess.TimeoutExpired as expired:
                raise CommandTimedOut(self._explain_limit(arguments, expired.timeout)) from None
            finally:
                _end(process)
            if process.returncode:
                text = f"{self.name} {' '.join(arguments)} failed:\n{(errors + output).strip()}"
                raise CommandFailed(text, output=output, code=_read_code(events))
        return output

    def choose_limit(self, arguments: tuple[str, ...]) -> float:
        """Return for how many seconds a command may run."""
        is_long = any(arguments[: len(command)] == command for command in LONG_COMMANDS)
        return self.limit_s or (UPLOAD_LIMIT_S if is_long else QUESTION_LIMIT_S)

    def _explain_limit(self, arguments: tuple[str, ...], limit_s: float) -> str:
        return (
            f"{self.name} {' '.join(arguments)} did not end within {limit_s:g} s and was stopped: check the connection to "
            "Cloudflare and try again, or allow more with --time-limit SECONDS"
        )


def _start(*command: str, events: Path) -> subprocess.Popen[str]:
    """Start a command in a process group of its own, so that all that it starts ends with it."""
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"WRANGLER_OUTPUT_FILE_PATH": str(events)},
        start_new_session=True,
    )


def _end(process: subprocess.Popen[str]) -> None:
    """End what is left of a command: its own process, if we were interrupted or it took too long, and its children."""
    try:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(GRACE_S)
    finally:
        with contextlib.suppress(ProcessLookupError, PermissionError):  # nothing is left, or only what has ended
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in filter(None, (process.stdout, process.stderr)):
            pipe.close()


def _read_code(events: Path) -> int | None:
    """Return the code with which Cloudflare's API refused, from the events that wrangler writes down."""
    lines = events.read_text().splitlines() if events.exists() else []
    codes = (event.get("code") for event in map(json.loads, lines) if event["type"] == "command-failed")
    return next((code for code in codes if isinstance(code, int)), None)


def read_json(run: Wrangler, *arguments: str) -> Any:
    """Run a command and return what it prints as a value."""
    output = run(*arguments)
    try:
        return json.loads(output)
    except ValueError:
        raise DeployError(
            f"wrangler {' '.join(arguments)} did not print JSON: check that package.json pins the tested version. It printed:\n{output}"
        ) from None


def print_line(text: str) -> None:
    print(text, flush=True)
