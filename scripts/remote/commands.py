"""Runs wrangler and pywrangler as processes."""

import subprocess
from collections.abc import Callable

Wrangler = Callable[..., str]


class DeployError(Exception):
    """A problem that the operator can fix; its text is printed without a traceback."""


class CommandFailed(DeployError):
    """A command failed; the text is its output."""


def run_wrangler(*arguments: str) -> str:
    """Run wrangler and return what it prints."""
    return _run("wrangler", *arguments)


def run_pywrangler(*arguments: str) -> str:
    """Run pywrangler, which passes all commands but its own on to wrangler, and return what it prints."""
    return _run("pywrangler", *arguments)


def _run(*command: str) -> str:
    process = subprocess.run(command, capture_output=True, text=True, check=False)
    if process.returncode:
        raise CommandFailed(f"{' '.join(command)} failed:\n{(process.stderr + process.stdout).strip()}")
    return process.stdout


def print_line(text: str) -> None:
    print(text, flush=True)
