"""Measures the numbers in the README, with one command for each group."""

import argparse
import sys

import capacity
import compiling
import cost
import list_builds
import list_crashes
import news
import outage
import preload
import purges
import request_costs
import saves
import scale
import service
import startup
import verdicts

BENCHES = {
    "capacity": capacity,
    "compile": compiling,
    "cost": cost,
    "lists": list_builds,
    "list-crashes": list_crashes,
    "news": news,
    "outage": outage,
    "preload": preload,
    "purges": purges,
    "requests": request_costs,
    "saves": saves,
    "scale": scale,
    "service": service,
    "startup": startup,
    "verdicts": verdicts,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./scripts/bench", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="WHAT")
    for name, bench in BENCHES.items():
        command = commands.add_parser(name, help=bench.__doc__, description=bench.__doc__)
        bench.add_arguments(command)
        command.set_defaults(measure=bench.measure)
    options = parser.parse_args()
    options.measure(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
