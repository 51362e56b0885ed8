"""`sluice diff`: compares the rules of two lists, comments aside."""

import argparse
import json
from typing import Any

from sluice.cli.downloads import LIMITS
from sluice.cli.files import read_file
from sluice.cli.standard_streams import Streams
from sluice.core.compiler.sources.line_splitting import split_lines
from sluice.core.compiler.sources.utf8_conversion import to_utf8
from sluice.core.filters.syntax.lines import is_blank, is_comment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("old", metavar="OLD", help="the former list")
    parser.add_argument("new", metavar="NEW", help="the new list")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Print the rules that were added and removed; the exit code is 0 whatever they are."""
    answer = _compare(_read_rules(options.old), _read_rules(options.new))
    text = json.dumps(answer, ensure_ascii=False, indent=1) if options.json else _format(answer)
    streams.stdout.write(f"{text}\n".encode("utf-8", "surrogatepass"))
    streams.stdout.flush()
    return 0


def _read_rules(path: str) -> dict[str, None]:
    """Return the rules of a file in their order, each once."""
    body = to_utf8(read_file(path, max_bytes=LIMITS.source_bytes), None, max_bytes=LIMITS.source_bytes)
    return dict.fromkeys(line for line in split_lines(body) if not is_blank(line) and not is_comment(line))


def _compare(old: dict[str, None], new: dict[str, None]) -> dict[str, Any]:
    added = [rule for rule in new if rule not in old]
    removed = [rule for rule in old if rule not in new]
    return {"added": added, "removed": removed, "unchanged": len(new) - len(added)}


def _format(answer: dict[str, Any]) -> str:
    lines = [*(f"+ {rule}" for rule in answer["added"]), *(f"- {rule}" for rule in answer["removed"])]
    counts = f"{len(answer['added']):,} added, {len(answer['removed']):,} removed, {answer['unchanged']:,} unchanged"
    return "\n".join([*lines, counts])
