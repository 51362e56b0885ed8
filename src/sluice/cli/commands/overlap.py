"""`sluice overlap`: tells how many rules the sources of a configuration have, share, and have alone."""

import argparse
import json

from sluice.cli.commands.compile import read_configuration
from sluice.cli.compiling import run_compiler
from sluice.cli.standard_streams import Streams
from sluice.core.compiler.published.overlap import Counts, OverlapCounter


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--config", metavar="FILE", required=True, help="configuration of the list")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Compare the sources after their own transformations, by equal text."""
    sources = run_compiler(read_configuration(options.config), lambda compiler, checked: compiler.read_sources(checked))
    counter = OverlapCounter()
    for label, lines in sources:
        counter.add_source(label, lines)
    answer = counter.count()
    text = json.dumps(answer, ensure_ascii=False, indent=1) if options.json else _format(answer)
    streams.print_answer(text)
    return 0


def _format(answer: Counts) -> str:
    rows = [
        f"{at['source']}: {at['rules']:,} rules, {at['unique']:,} of them in no other source"
        for at in answer["sources"]
    ]
    shared = [f"{pair['shared']:,} in both {pair['a']} and {pair['b']}" for pair in answer["pairs"] if pair["shared"]]
    return "\n".join([*rows, *shared])
