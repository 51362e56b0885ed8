"""`sluice why`: tells which rule of which source blocks or allows a name."""

import argparse
import json
from typing import Any

from sluice.cli.commands.compile import read_configuration
from sluice.cli.compiling import run_compiler
from sluice.cli.standard_streams import Streams, UsageError
from sluice.core.compiler.compilation_result import CompilationResult
from sluice.core.filters.syntax.hostnames import find_name
from sluice.core.filters.verdicts import NameVerdicts


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("domain", metavar="DOMAIN", help="the name to look for, or an address with it")
    parser.add_argument("-c", "--config", metavar="FILE", required=True, help="configuration of the list")
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(options: argparse.Namespace, streams: Streams) -> int:
    """Compile the list and print what it says of the name."""
    name = find_name(options.domain)
    if name is None:
        raise UsageError(f"{options.domain} has no host name: write a name such as ads.example.org, or an address")
    result = run_compiler(
        read_configuration(options.config), lambda compiler, checked: compiler.compile(checked, recorded=True)
    )
    answer = _explain(result, name)
    text = json.dumps(answer, ensure_ascii=False, indent=1) if options.json else _format(options.domain, answer)
    streams.print_answer(text)
    return 0


def _explain(result: CompilationResult, name: str) -> dict[str, Any]:
    decision = NameVerdicts(result.rules).decide(name)
    if decision.line is None or result.recorded is None:
        return {"verdict": decision.verdict, "rule": None, "sources": []}
    rule = result.rules[decision.line]
    places = result.recorded.find_places(rule)
    return {"verdict": decision.verdict, "rule": rule, "sources": [place._asdict() for place in places]}


def _format(domain: str, answer: dict[str, Any]) -> str:
    if answer["rule"] is None:
        return f"{domain} is neither blocked nor allowed: no rule matches it"
    head = f"{domain} is {answer['verdict']} by {answer['rule']}"
    return "\n".join([head, *(f"  {at['source']}: {at['file']}, line {at['line']}" for at in answer["sources"])])
