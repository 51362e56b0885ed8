"""`sluice transform`: transforms lines from standard input to standard output."""

import argparse
import json

from sluice.cli.standard_streams import Streams, UsageError
from sluice.core.errors import Invalid
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.patterns.work import WorkBudget
from sluice.core.filters.pipeline import TRANSFORMATIONS, check_names, transform


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        *("-t", "--transformations"),
        metavar="NAME",
        nargs="+",
        action="extend",
        default=[],
        choices=TRANSFORMATIONS,
        help=f"transformations to apply; they always run in this order: {', '.join(TRANSFORMATIONS)}",
    )
    parser.add_argument(
        "--exclude", metavar="PATTERN", action="append", default=[], help="drop lines that match; repeatable"
    )
    parser.add_argument(
        "--include", metavar="PATTERN", action="append", default=[], help="keep only lines that match; repeatable"
    )
    parser.add_argument("--json", action="store_true", help="read and write a JSON array of strings")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Transform bytes to bytes, independent of the locale; nothing is added to the transformed lines."""
    exclusions, inclusions = _parse_patterns(options)
    lines = _read_lines(streams, as_json=options.json)
    lines = transform(lines, options.transformations, exclusions=exclusions, inclusions=inclusions)
    streams.stdout.write(_encode_lines(lines, as_json=options.json))
    streams.stdout.flush()
    return 0


def _parse_patterns(options: argparse.Namespace) -> tuple[Patterns, Patterns]:
    try:
        check_names(options.transformations)
    except Invalid as error:
        raise UsageError(str(error)) from error
    budget = WorkBudget()
    return Patterns.parse(options.exclude, budget), Patterns.parse(options.include, budget)


def _read_lines(streams: Streams, *, as_json: bool) -> list[str]:
    body = streams.stdin.read()
    if not as_json:
        # Bytes that are not UTF-8 pass through unchanged.
        return body.decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    try:
        lines = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"standard input is not JSON: {error}") from error
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise Invalid("standard input is not a JSON array of strings")
    return lines


def _encode_lines(lines: list[str], *, as_json: bool) -> bytes:
    if as_json:
        return json.dumps(lines).encode()  # escapes non-ASCII characters, so a lone surrogate survives
    return "\n".join(lines).encode("utf-8", "surrogateescape")
