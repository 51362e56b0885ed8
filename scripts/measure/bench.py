"""Measures the figures of docs/figures.md and the README, with one command for each group."""

import argparse
import ast
import sys
from importlib import import_module
from pathlib import Path
from typing import Final

from figures import FIGURES, WRITE, keep_printed, write_figures

# Each is a module of this folder with `add_arguments` and `measure`. Only the one that runs is imported: the list of them
# can be printed before anything is installed.
BENCHES: Final = {
    "capacity": "capacity",
    "compile": "compiling",
    "cost": "cost",
    "lists": "list_builds",
    "mutants": "mutants",
    "news": "news",
    "preload": "preload",
    "purges": "purges",
    "requests": "request_costs",
    "scale": "scale",
    "service": "service",
    "soak": "soak",
    "startup": "startup",
    "verdicts": "verdicts",
}


def read_summary(module: str) -> str:
    """Return the docstring of a module of this folder."""
    source = Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")
    return ast.get_docstring(ast.parse(source)) or ""


def build_parser(arguments: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="./scripts/bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    for name, module in BENCHES.items():
        summary = read_summary(module)
        command = commands.add_parser(name, help=summary, description=summary)
        if name in arguments[:1]:
            bench = import_module(module)
            bench.add_arguments(command)
            command.add_argument(WRITE, action="store_true", help="put what is printed into docs/figures.md")
            command.set_defaults(measure=bench.measure)
    return parser


def main() -> int:
    arguments = sys.argv[1:]
    options = build_parser(arguments).parse_args()
    with keep_printed() as printed:
        options.measure(options)
    if options.write:
        write_figures(FIGURES, arguments, printed.getvalue())
    return 0


if __name__ == "__main__":
    sys.exit(main())
