"""The command line: `sluice compile` for hostlist-compiler, `sluice transform` for a pipe, `sluice preload` for a site."""

import argparse
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Final

from sluice import __version__
from sluice.errors import SluiceError
from sluice.filters.pipeline import TRANSFORMATIONS
from sluice.local.compile_command import compile_command
from sluice.local.preload_command import ENDPOINT, KEY_VARIABLE, preload_command
from sluice.local.terminal import Streams
from sluice.local.transform_command import WrongUse, transform_command
from sluice.preload.priority import TRIGGERS

FAILED: Final = 1
WRONG_USE: Final = 2
INTERRUPTED: Final = 130  # 128 + SIGINT, as shells have it


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
        # Whoever read our output has left; the interpreter would complain again when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def run(arguments: Sequence[str], streams: Streams) -> int:
    """Run one command and tell its exit code; a failure is one sentence, not a stack trace."""
    options = _parser().parse_args(arguments)
    command: Callable[[argparse.Namespace, Streams], int] = options.command
    try:
        return command(options, streams)
    except WrongUse as error:
        streams.say(f"sluice: {error}")
        return WRONG_USE
    except SluiceError as error:
        streams.say(f"sluice: {error}")
        return FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sluice", description="Compile and transform filter lists; warm a site's cache."
    )
    parser.add_argument("--version", action="version", version=f"sluice {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_compile(commands.add_parser("compile", help="compile sources into one list"))
    _add_transform(commands.add_parser("transform", help="transform lines from standard input to standard output"))
    _add_preload(commands.add_parser("preload", help="have a site's pages warmed by edge-preload"))
    return parser


def _add_compile(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=compile_command)
    given = parser.add_mutually_exclusive_group(required=True)
    given.add_argument("-c", "--config", metavar="FILE", help="configuration, as HostlistCompiler takes it")
    given.add_argument(
        "-i", "--input", metavar="SOURCE", nargs="+", action="extend", help="URL or file; may be given several times"
    )
    parser.add_argument(
        "-t", "--input-type", choices=("hosts", "adblock"), default="hosts", help="what the sources of -i hold"
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="where the list is written")
    parser.add_argument("-v", "--verbose", action="store_true", help="tell each step")
    parser.add_argument("--report", metavar="FILE", help="write what was dropped, and why, as JSON")
    parser.add_argument("-b", "--benchmark", action="store_true", help="tell how long each stage took")


def _add_preload(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=preload_command)
    parser.add_argument("--zone", metavar="ID", required=True, help="the zone, as it is registered")
    parser.add_argument("--url", metavar="URL", action="append", help="a page; may be given several times")
    parser.add_argument("--sitemap", metavar="URL", help="all pages of a sitemap, which is read here")
    parser.add_argument("--wait", action="store_true", help="wait until all pages are warmed, and tell how they ended")
    parser.add_argument("--endpoint", metavar="URL", default=ENDPOINT, help=f"where edge-preload answers ({ENDPOINT})")
    parser.add_argument(
        "--key-file", metavar="FILE", help=f"holds the signing key; else the variable {KEY_VARIABLE} does"
    )
    parser.add_argument("--priority", metavar="N", type=float, help="0 to 100, in place of the computed one")
    parser.add_argument("--trigger", choices=TRIGGERS, default="manual", help="what is the reason (manual)")


def _add_transform(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=transform_command)
    parser.add_argument(
        *("-t", "--transformations"),
        metavar="NAME",
        nargs="+",
        action="extend",
        default=[],
        choices=TRANSFORMATIONS,
        help=f"in any order, they run in their own: {', '.join(TRANSFORMATIONS)}",
    )
    parser.add_argument("--exclude", metavar="PATTERN", action="append", default=[], help="drop lines that match")
    parser.add_argument("--include", metavar="PATTERN", action="append", default=[], help="keep only lines that match")
    parser.add_argument("--json", action="store_true", help="read and write a JSON array of strings")
