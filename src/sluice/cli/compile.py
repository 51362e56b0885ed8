"""`sluice compile`: compiles a configuration, or a few sources, into a list on disk."""

import argparse
import asyncio
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sluice.cli.clock import SystemClock
from sluice.cli.downloads import LIMITS, download
from sluice.cli.files import read_file, write_file
from sluice.cli.streams import Streams
from sluice.cli.terminal import ProgressBar, describe_event, format_stage_table
from sluice.core.compiler.compile import CompilationResult, FilterCompiler
from sluice.core.compiler.configuration import parse_configuration
from sluice.core.compiler.events import Event
from sluice.core.errors import ConfigError, Invalid, SluiceError

MAX_CONFIGURATION_BYTES: Final = 10_000_000
# The name and transformations that HostlistCompiler uses for sources named on its command line.
DEFAULT_NAME: Final = "Blocklist"
DEFAULT_TRANSFORMATIONS: Final = (
    "RemoveComments",
    "Deduplicate",
    "Compress",
    "Validate",
    "TrimLines",
    "InsertFinalNewLine",
)
_CHUNK_LINES: Final = 65_536


def add_arguments(parser: argparse.ArgumentParser) -> None:
    inputs = parser.add_mutually_exclusive_group(required=True)
    inputs.add_argument("-c", "--config", metavar="FILE", help="configuration file in the format of HostlistCompiler")
    inputs.add_argument(
        "-i", "--input", metavar="SOURCE", nargs="+", action="extend", help="URL or file to compile; repeatable"
    )
    parser.add_argument(
        *("-t", "--input-type"),
        choices=("hosts", "adblock"),
        default="hosts",
        help="format of the sources named by -i (default: hosts)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="file to write the list to")
    parser.add_argument("-v", "--verbose", action="store_true", help="print each step")
    parser.add_argument("--report", metavar="FILE", help="write every dropped line and its reason to FILE as JSON")
    parser.add_argument("-b", "--benchmark", action="store_true", help="print the duration of each stage")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Compile and write the list; the old output file stays if anything fails."""
    configuration = _load_configuration(options)
    bar = ProgressBar(streams.stderr)
    try:
        emit = _choose_listener(options, streams, bar)
        result = asyncio.run(_compile(configuration, emit, detailed=bool(options.report)))
    finally:
        bar.clear()
    write_file(options.output, _encode_rules(result.rules))
    if options.report:
        write_file(options.report, [json.dumps(result.report.as_json(), ensure_ascii=False, indent=1).encode()])
    if options.benchmark and result.metrics:
        streams.stdout.write(f"{format_stage_table(result.metrics)}\n".encode())
    if options.verbose:
        streams.print_message(f"Wrote {len(result.rules):,} lines to {options.output}")
    return 0


def _load_configuration(options: argparse.Namespace) -> object:
    if options.config:
        return read_configuration(options.config)
    return build_default_configuration(options.input, options.input_type)


def read_configuration(path: str) -> object:
    """Read the configuration from a JSON file."""
    try:
        return json.loads(read_file(path, max_bytes=MAX_CONFIGURATION_BYTES))
    except SluiceError as error:
        raise ConfigError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{path} is not JSON: {error}") from error


def build_default_configuration(inputs: Sequence[str], source_type: str) -> dict[str, Any]:
    """Build the configuration for sources named on the command line."""
    return {
        "name": DEFAULT_NAME,
        "sources": [{"source": source, "type": source_type} for source in inputs],
        "transformations": list(DEFAULT_TRANSFORMATIONS),
    }


def _choose_listener(options: argparse.Namespace, streams: Streams, bar: ProgressBar) -> Callable[[Event], None]:
    if not options.verbose:
        return bar.show

    def print_event(event: Event) -> None:
        if text := describe_event(event):
            streams.print_message(text)

    return print_event


async def _compile(configuration: object, emit: Callable[[Event], None], *, detailed: bool) -> CompilationResult:
    compiler = FilterCompiler(download=download, clock=SystemClock(), draw=random.random, limits=LIMITS, emit=emit)
    return await compiler.compile_with_metrics(parse_configuration(configuration), detailed=detailed)


def _encode_rules(rules: list[str]) -> Iterator[bytes]:
    """Yield the list as bytes, a chunk of lines at a time, joined by line feeds."""
    for start in range(0, len(rules), _CHUNK_LINES):
        separator = "\n" if start else ""
        yield (separator + "\n".join(rules[start : start + _CHUNK_LINES])).encode()
