"""`sluice overlap`: tells how many rules the sources of a configuration have, share, and have alone."""

import argparse
import asyncio
import json
from collections import Counter
from itertools import combinations
from typing import Any

from sluice.cli.commands.compile import build_compiler, read_configuration
from sluice.cli.streams import Streams
from sluice.core.filters.syntax.lines import is_blank, is_comment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-c", "--config", metavar="FILE", required=True, help="configuration of the list")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Compare the sources after their own transformations, by equal text."""
    sources = asyncio.run(build_compiler().read_sources(read_configuration(options.config)))
    answer = _compare([(label, {rule for rule in lines if _is_rule(rule)}) for label, lines in sources])
    text = json.dumps(answer, ensure_ascii=False, indent=1) if options.json else _format(answer)
    streams.stdout.write(f"{text}\n".encode())
    streams.stdout.flush()
    return 0


def _is_rule(line: str) -> bool:
    return not is_blank(line) and not is_comment(line)


def _compare(sources: list[tuple[str, set[str]]]) -> dict[str, Any]:
    counts = Counter(rule for _, rules in sources for rule in rules)
    return {
        "sources": [
            {"source": label, "rules": len(rules), "unique": sum(counts[rule] == 1 for rule in rules)}
            for label, rules in sources
        ],
        "pairs": [
            {"a": first, "b": second, "shared": len(rules & others)}
            for (first, rules), (second, others) in combinations(sources, 2)
        ],
    }


def _format(answer: dict[str, Any]) -> str:
    rows = [
        f"{at['source']}: {at['rules']:,} rules, {at['unique']:,} of them in no other source"
        for at in answer["sources"]
    ]
    shared = [f"{pair['shared']:,} in both {pair['a']} and {pair['b']}" for pair in answer["pairs"] if pair["shared"]]
    return "\n".join([*rows, *shared])
