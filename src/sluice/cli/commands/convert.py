"""`sluice convert`: converts a list from standard input to the format of another program."""

import argparse
import json
import time

from sluice.cli.files import write_file
from sluice.cli.standard_streams import Streams, UsageError
from sluice.core.errors import Invalid
from sluice.core.filters.formats.table import FORMATS
from sluice.core.filters.formats.writer import check_format, write_list


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--to", metavar="FORMAT", required=True, help=f"one of {', '.join(FORMATS)}")
    parser.add_argument("--report", metavar="FILE", help="write what the format cannot express to FILE as JSON")
    parser.add_argument("--max-entries", metavar="COUNT", type=int, help="write no more entries than this")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Convert bytes to bytes; what the format cannot express is left out and reported."""
    require_format(options.to)
    lines = streams.stdin.read().decode("utf-8", "surrogateescape").replace("\r\n", "\n").split("\n")
    written = write_list(lines, options.to, serial=int(time.time()), max_entries=options.max_entries)
    streams.stdout.write("\n".join(written.lines).encode("utf-8", "surrogateescape"))
    streams.stdout.flush()
    if options.report:
        write_file(options.report, [json.dumps(written.report.as_json(), ensure_ascii=False, indent=1).encode()])
    if written.report.skipped and not options.report:
        streams.print_message(f"{len(written.report.skipped):,} lines cannot be expressed: --report FILE lists them")
    return 0


def require_format(name: str) -> None:
    """Raise UsageError, which lists the formats, for an unknown one."""
    try:
        check_format(name)
    except Invalid as error:
        raise UsageError(str(error)) from error
