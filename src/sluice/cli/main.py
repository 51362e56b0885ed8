"""Finds the command that the process was started with and runs it: `sluice compile`, `sluice transform`, `sluice preload`."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FrameType
from typing import Final

from sluice import __version__
from sluice.cli.streams import Streams, UsageError
from sluice.core.errors import SluiceError

FAILED: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells have it

# Each is the name of a module beside this one with `add_arguments` and `run`. Only the one that is called is imported:
# together they take four times as long to import as `--help` takes to print.
COMMANDS: Final = {
    "compile": "compile sources into one list",
    "transform": "transform lines from standard input to standard output",
    "preload": "warm a site's pages through edge-preload",
}


def main() -> int:
    """Run the command that the process was started with."""
    streams = Streams(sys.stdin.buffer, sys.stdout.buffer, sys.stderr)
    # Otherwise asyncio waits for the next await, and a long transformation has none.
    signal.signal(signal.SIGINT, _interrupt)
    try:
        return run(sys.argv[1:], streams)
    except KeyboardInterrupt:
        # At once: unwinding the event loop would print what it was doing, and there is nothing to save.
        os._exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output has left; the interpreter would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Run one command and return its exit code; a failure is one sentence, not a stack trace."""
    options = _build_parser(arguments).parse_args(arguments)
    command: Callable[[argparse.Namespace, Streams], int] = options.command
    try:
        return command(options, streams)
    except UsageError as error:
        streams.say(f"sluice: {error}")
        return WRONG_USE
    except SluiceError as error:
        streams.say(f"sluice: {error}")
        return FAILED


def _build_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sluice", description="Compile and transform filter lists; warm a site's cache."
    )
    parser.add_argument("--version", action="version", version=f"sluice {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command_parser = commands.add_parser(name, help=summary)
        if name in arguments:
            command = import_module(f"sluice.cli.{name}")
            command.add_arguments(command_parser)
            command_parser.set_defaults(command=command.run)
    return parser
