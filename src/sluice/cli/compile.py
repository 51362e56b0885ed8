"""`sluice compile`: a configuration or a few sources into a list on disk."""

import argparse
import asyncio
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sluice.cli.downloads import LIMITS, download
from sluice.cli.files import read_file, write_file
from sluice.cli.streams import Streams
from sluice.cli.terminal import ProgressBar, describe_event, format_stage_table
from sluice.core.compiler.compile import CompilationResult, FilterCompiler
from sluice.core.compiler.configuration import parse_configuration
from sluice.core.compiler.events import Event
from sluice.core.errors import ConfigError, Invalid, SluiceError
from sluice.platform.clock import SystemClock

MAX_CONFIGURATION_BYTES: Final = 10_000_000
# What HostlistCompiler does to sources named on its command line.
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


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Compile and write; the old output stays when anything fails."""
    configuration = (
        read_configuration(options.config)
        if options.config
        else build_default_configuration(options.input, options.input_type)
    )
    bar = ProgressBar(streams.stderr)
    try:
        result = asyncio.run(_compiled(configuration, _listener(options, streams, bar), detailed=bool(options.report)))
    finally:
        bar.clear()
    write_file(options.output, _encoded(result.rules))
    if options.report:
        write_file(options.report, [json.dumps(result.report.as_json(), ensure_ascii=False, indent=1).encode()])
    if options.benchmark and result.metrics:
        streams.stdout.write(f"{format_stage_table(result.metrics)}\n".encode())
    if options.verbose:
        streams.say(f"Wrote {len(result.rules):,} lines to {options.output}")
    return 0


def read_configuration(path: str) -> object:
    """The configuration in a JSON file."""
    try:
        return json.loads(read_file(path, max_bytes=MAX_CONFIGURATION_BYTES))
    except SluiceError as error:
        raise ConfigError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{path} is not JSON: {error}") from error


def build_default_configuration(inputs: Sequence[str], kind: str) -> dict[str, Any]:
    """The configuration for sources that came without one."""
    return {
        "name": DEFAULT_NAME,
        "sources": [{"source": source, "type": kind} for source in inputs],
        "transformations": list(DEFAULT_TRANSFORMATIONS),
    }


def _listener(options: argparse.Namespace, streams: Streams, bar: ProgressBar) -> Callable[[Event], None]:
    if not options.verbose:
        return bar.show

    def tell(event: Event) -> None:
        if text := describe_event(event):
            streams.say(text)

    return tell


async def _compiled(configuration: object, emit: Callable[[Event], None], *, detailed: bool) -> CompilationResult:
    compiler = FilterCompiler(download=download, clock=SystemClock(), draw=random.random, limits=LIMITS, emit=emit)
    return await compiler.compile_with_metrics(parse_configuration(configuration), detailed=detailed)


def _encoded(rules: list[str]) -> Iterator[bytes]:
    """The list as bytes, lines joined by line feeds, a part at a time."""
    for start in range(0, len(rules), _CHUNK_LINES):
        separator = "\n" if start else ""
        yield (separator + "\n".join(rules[start : start + _CHUNK_LINES])).encode()
