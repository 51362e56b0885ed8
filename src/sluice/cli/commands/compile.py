"""`sluice compile`: compiles a configuration, or a few sources, into a list on disk."""

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from sluice.cli.compiling import run_compiler
from sluice.cli.files import read_file, write_file
from sluice.cli.standard_streams import Streams
from sluice.cli.terminal import ProgressBar, describe_event, format_stage_table
from sluice.core.compiler.compilation_result import CompilationResult
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
STANDARD_OUTPUT: Final = "-"
ADBLOCK: Final = "adblock"


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
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help="file to write the list to; - for standard output"
    )
    parser.add_argument(
        "--format",
        metavar="NAME",
        default=ADBLOCK,
        help="format of the list, such as hosts, dnsmasq or rpz (default: adblock); `convert --help` lists all",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="print each step")
    parser.add_argument("--report", metavar="FILE", help="write every dropped line and its reason to FILE as JSON")
    parser.add_argument("-b", "--benchmark", action="store_true", help="print the duration of each stage")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Compile and write the list; the old output file stays if anything fails."""
    if options.format != ADBLOCK:
        _require_format(options.format)
    configuration = _load_configuration(options)
    bar = ProgressBar(streams.stderr)
    try:
        emit = _choose_listener(options, streams, bar)
        result = run_compiler(
            configuration,
            lambda compiler, checked: compiler.compile_with_metrics(checked, detailed=bool(options.report)),
            emit,
        )
    finally:
        bar.clear()
    lines, report = _format_list(result, options.format, with_report=bool(options.report))
    _write_list(options.output, streams, _encode_rules(lines))
    if options.report:
        write_file(options.report, [json.dumps(report, ensure_ascii=False, indent=1).encode()])
    if options.benchmark and result.metrics:
        _print_stages(options.output, streams, format_stage_table(result.metrics))
    if options.verbose or (streams.stderr.isatty() and options.output != STANDARD_OUTPUT):
        count = len(lines) - (lines[-1:] == [""])  # the last line feed begins no line
        streams.print_message(f"Wrote {count:,} lines to {options.output}")
    return 0


def _require_format(name: str) -> None:
    from sluice.cli.commands.convert import require_format  # noqa: PLC0415 - delays the start

    require_format(name)


def _format_list(result: CompilationResult, name: str, *, with_report: bool) -> tuple[list[str], dict[str, Any]]:
    """Return the list in its format, and the whole report if it is wanted."""
    if name == ADBLOCK and not with_report:
        return result.rules, {}
    from sluice.core.filters.formats.writer import write_list  # noqa: PLC0415 - delays the start

    written = write_list(result.rules, name, serial=int(time.time()))
    return written.lines, {**result.report.as_json(), "format": written.report.as_json()} if with_report else {}


def _write_list(output: str, streams: Streams, parts: Iterator[bytes]) -> None:
    if output == STANDARD_OUTPUT:
        streams.stdout.writelines(parts)
        streams.stdout.flush()
    else:
        write_file(output, parts)


def _print_stages(output: str, streams: Streams, table: str) -> None:
    if output == STANDARD_OUTPUT:
        streams.print_message(table)
    else:
        streams.print_answer(table)


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


def _encode_rules(rules: list[str]) -> Iterator[bytes]:
    """Yield the list as bytes, a chunk of lines at a time, joined by line feeds."""
    for start in range(0, len(rules), _CHUNK_LINES):
        separator = "\n" if start else ""
        yield (separator + "\n".join(rules[start : start + _CHUNK_LINES])).encode()
