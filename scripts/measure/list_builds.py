"""a published list made of these files: heap of its Worker, time of `why`, and `why` and `overlap` beside brute force"""

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import httpx

from list_addresses import TOKEN
from request_costs import Processor
from runtime import Runtime, until
from served_files import serve_files
from service import heap_bytes, run_service
from sluice.cli.downloads import SystemClock
from sluice.core.compiler.compilation_result import CompilationResult
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.filters.syntax.lines import is_blank, is_comment
from sluice.core.filters.verdicts import NameVerdicts

ADMIN: Final = {"Authorization": f"Bearer {TOKEN}"}
FORMATS: Final = ["hosts", "dnsmasq", "sing-box"]
TRANSFORMATIONS: Final = ["RemoveComments", "Compress", "Validate", "Deduplicate"]
CHANGED_LINES: Final = 200
TIMED_NAMES: Final = 40
RUNS: Final = 5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lists", nargs="+", type=Path, metavar="LIST", help="filter lists: the sources")
    parser.add_argument("--names", type=int, default=1_000, help="names that are asked for and compared (1,000)")
    parser.add_argument("--transformations", default=",".join(TRANSFORMATIONS), help="of the list, with commas between")


def measure(options: argparse.Namespace) -> None:
    files = {f"/{at}": path.read_bytes() for at, path in enumerate(options.lists)}
    with tempfile.TemporaryDirectory() as folder, serve_files(files) as address:
        sources = [{"source": f"http://{address}{path}"} for path in files]
        names = [each for each in options.transformations.split(",") if each]
        configuration = {"name": "Bench", "sources": sources, "transformations": names, "neverBlock": ["example.org"]}
        with run_service(Path(folder), address, f"ADMIN_TOKEN={TOKEN}") as runtime:
            print_heaps(runtime, configuration, files)
            print_agreement(runtime, configuration, files, options.names)


def print_heaps(runtime: Runtime, configuration: dict[str, Any], files: dict[str, bytes]) -> None:
    with open_client(runtime) as client:
        body = {"configuration": configuration, "formats": FORMATS}

        def show(what: str, build_id: str | None = None) -> None:
            facts = wait_for(client, build_id) if build_id else {}
            counts = f", {facts['ruleCount']:,} rules, {facts['lastBuild']['outcome']}" if facts else ""
            print(
                f"{heap_bytes(client) / 1e6:6.1f} MB, {time.monotonic() - started:5.1f} s: {what}{counts}", flush=True
            )

        started = time.monotonic()
        show("before")
        show("first build", client.put("/lists/bench", json=body, headers=ADMIN).json()["buildId"])
        change_every_file(files)
        started = time.monotonic()
        show("new version with its patch", client.post("/lists/bench/rebuild", headers=ADMIN).json()["buildId"])
        started = time.monotonic()
        show("rollback", client.post("/lists/bench/rollback", json={"version": 1}, headers=ADMIN).json()["buildId"])
        started = time.monotonic()
        client.get("/lists/bench/diff", params={"from": 1, "to": 2}).raise_for_status()
        show("difference of two versions")
        started = time.monotonic()
        client.put("/lists/bench?dryRun=1", json=body, headers=ADMIN).raise_for_status()
        show("dry run")
        change_every_file(files)
        started = time.monotonic()
        show("new version after a rollback", client.post("/lists/bench/rebuild", headers=ADMIN).json()["buildId"])


def print_agreement(runtime: Runtime, configuration: dict[str, Any], files: dict[str, bytes], count: int) -> None:
    result = compile_here(configuration, files)
    names = [*choose_names(result.rules, count)]
    verdicts = NameVerdicts(result.rules)
    with open_client(runtime) as client:
        answers = {name: ask_why(client, name) for name in names}
        agreed = sum(is_same(answers[name], explain(result, verdicts, name), configuration) for name in names)
        blocked = sum(answer["verdict"] == "blocked" for answer in answers.values())
        print(f"why: {agreed} of {len(names)} names as by brute force, {blocked} of them blocked")
        processor = Processor(runtime)
        spent = sorted(measure_ms(processor, client, name) for name in names[:: max(1, len(names) // TIMED_NAMES)])
        print(f"why: {spent[len(spent) // 2]:.1f} ms of processor time, at most {spent[-1]:.1f}, of all of workerd")
        overlap = client.get("/lists/bench/overlap").raise_for_status().json()
    print(f"overlap: {'as' if overlap == count_by_sets(configuration, files) else 'NOT as'} by brute force")


def compile_here(configuration: dict[str, Any], files: dict[str, bytes]) -> CompilationResult:
    async def download(url: str) -> bytes:
        return files[f"/{url.rpartition('/')[2]}"]

    compiler = FilterCompiler(download=download, clock=SystemClock(), draw=lambda: 0.0)
    return asyncio.run(compiler.compile(configuration, recorded=True))


def choose_names(rules: list[str], count: int) -> Iterator[str]:
    """Yield names in rules, names below them, and names that are in none."""
    choose = random.Random(1)  # noqa: S311 - chooses samples
    texts = [rule.strip("|^@").partition("^")[0].split()[-1:] for rule in choose.sample(rules, count * 2)]
    known = [text[0].lower() for text in texts if text and "." in text[0] and "/" not in text[0] and "*" not in text[0]]
    for at, name in enumerate(known[:count]):
        yield (name, f"www.{name}", f"a.b.{name}", f"un{name}", name.partition(".")[2])[at % 5]


def explain(result: CompilationResult, verdicts: NameVerdicts, name: str) -> dict[str, Any]:
    decision = verdicts.decide(name)
    if decision.line is None or result.recorded is None:
        return {"verdict": decision.verdict, "rule": None, "sources": []}
    rule = result.rules[decision.line]
    places = [{"file": place.file, "line": place.line} for place in result.recorded.find_places(rule)]
    return {"verdict": decision.verdict, "rule": rule, "sources": places}


def is_same(answer: dict[str, Any], expected: dict[str, Any], configuration: dict[str, Any]) -> bool:
    places = [{"file": place["file"], "line": place["line"]} for place in answer["sources"]]
    order = [source["source"] for source in configuration["sources"]]
    places.sort(key=lambda place: (order.index(place["file"]), place["line"]))
    is_equal = answer | {"sources": places} == expected
    if not is_equal:
        print(f"differs: {json.dumps(answer)} is not {json.dumps(expected)}")
    return is_equal


def count_by_sets(configuration: dict[str, Any], files: dict[str, bytes]) -> dict[str, Any]:
    labels = [source["source"] for source in configuration["sources"]]
    texts = (text.decode(errors="replace").replace("\r", "\n").split("\n") for text in files.values())
    rules = [{line for line in text if not is_blank(line) and not is_comment(line)} for text in texts]
    rows = []
    for at, own in enumerate(rules):
        others = set[str]().union(*(rules[other] for other in range(len(rules)) if other != at))
        unique = len(own - others)
        rows.append({"source": labels[at], "rules": len(own), "unique": unique, "shared": len(own) - unique})
    pairs = [
        {"a": labels[a], "b": labels[b], "shared": len(rules[a] & rules[b])}
        for a, b in combinations(range(len(rules)), 2)
    ]
    return {"sources": rows, "pairs": pairs}


def measure_ms(processor: Processor, client: httpx.Client, name: str) -> float:
    def ask() -> float:
        before = processor.spent_ms()
        ask_why(client, name)
        return processor.spent_ms() - before

    return min(ask() for _ in range(RUNS))


def ask_why(client: httpx.Client, name: str) -> dict[str, Any]:
    answer: dict[str, Any] = client.get("/lists/bench/why", params={"domain": name}).raise_for_status().json()
    return answer


def change_every_file(files: dict[str, bytes]) -> None:
    """Remove lines from each file, and add as many in the middle of it."""
    for path, text in files.items():
        lines = text.split(b"\n")
        middle = len(lines) // 2
        del lines[middle : middle + CHANGED_LINES + 1]
        lines[middle:middle] = [
            b"0.0.0.0 new%d%b%d.example" % (at, path[1:].encode(), len(lines)) for at in range(CHANGED_LINES)
        ]
        files[path] = b"\n".join(lines)


def wait_for(client: httpx.Client, build_id: str) -> dict[str, Any]:
    def look() -> Any:
        try:
            facts = client.get("/lists/bench").json()
        except httpx.TransportError:
            return None  # workerd drops connections while a Worker computes
        last = facts.get("lastBuild") or {}
        return facts if last.get("id") == build_id and last["endedAt"] else None

    facts: dict[str, Any] = until(look)
    return facts


def open_client(runtime: Runtime) -> httpx.Client:
    return httpx.Client(base_url=runtime.url, timeout=600, limits=httpx.Limits(max_keepalive_connections=0))
