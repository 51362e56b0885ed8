"""The entry point of the command line: `sluice compile`, `sluice transform`, `sluice preload`, `sluice purge`, `sluice news`."""

import argparse
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from types import FrameType
from typing import Final, NoReturn

from sluice import __version__
from sluice.cli.standard_streams import Streams, UsageError
from sluice.core.errors import SluiceError

FAILED: Final = 1
USAGE_ERROR: Final = 2
INTERRUPTED: Final = 130  # 128 + SIGINT, as in shells
# New objects after which Python looks for cycles. By default it is after 700, which takes a twentieth of a short run.
_OBJECTS_PER_COLLECTION: Final = 100_000

# Each command is a module of this package with `add_arguments` and `run`. Only the command that runs is imported:
# importing all of them takes four times as long as printing `--help`.
COMMANDS: Final = {
    "compile": "compile sources into one filter list",
    "transform": "transform lines from standard input to standard output",
    "why": "tell which rule of which source blocks or allows a name",
    "overlap": "tell how many rules the sources of a configuration share",
    "diff": "compare the rules of two lists",
    "convert": "convert a list from standard input to the format of another program",
    "preload": "warm pages of a site through edge-preload",
    "purge": "purge pages of a site through edge-preload",
    "news": "judge, group, read, summarise and extract news",
}


def main() -> NoReturn:
    """Run the command in the arguments of this process, and exit."""
    gc.set_threshold(_OBJECTS_PER_COLLECTION)
    streams = Streams(sys.stdin.buffer, sys.stdout.buffer, sys.stderr)
    # Otherwise asyncio handles the signal at the next await only, and a long transformation has none.
    signal.signal(signal.SIGINT, _raise_interrupt)
    try:
        code = run(sys.argv[1:], streams)
        sys.stdout.flush()
    except KeyboardInterrupt:
        # Exit at once: unwinding the event loop would print its state, and there is nothing to save.
        os._exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader closed the pipe.
        code = FAILED
    os._exit(code)  # at once: to free a list and all modules takes a tenth of the time of a short run


def _raise_interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Run one command and return its exit code; a failure prints one sentence, not a stack trace."""
    options = _build_parser(arguments).parse_args(arguments)
    command: Callable[[argparse.Namespace, Streams], int] = options.command
    try:
        return command(options, streams)
    except UsageError as error:
        streams.print_message(f"sluice: {error}")
        return USAGE_ERROR
    except SluiceError as error:
        streams.print_message(f"sluice: {error}")
        return FAILED


def _build_parser(arguments: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sluice",
        description="Compile and transform filter lists, warm the cache of a site, and read the news.",
    )
    parser.add_argument("--version", action="version", version=f"sluice {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    chosen = [name for name in COMMANDS if name in arguments[:1]]
    for name in chosen or COMMANDS:
        command_parser = commands.add_parser(name, help=COMMANDS[name])
        if chosen:
            command = import_module(f"sluice.cli.commands.{name}")
            command.add_arguments(command_parser)
            command_parser.set_defaults(command=command.run)
    return parser
