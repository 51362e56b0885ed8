"""whether Optimise changes any verdict: a million host names before and after, under tsurlfilter and a brute-force matcher"""

import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from compiling import HERE, NODE
from runtime import ROOT
from sluice.core.filters.pipeline import transform

sys.path.insert(0, str(ROOT / "tests"))
from unit.core.filters import brute_matcher

JUDGE = ROOT / ".cache/tsurlfilter"
NAME = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)+")
LITERAL = re.compile(r"[a-z0-9_.-]+")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lists", type=Path, nargs="+", metavar="LIST", help="lists to compress and optimise")
    parser.add_argument("--names", type=int, default=1_000_000, help="host names to ask for (default: 1,000,000)")


def measure(options: argparse.Namespace) -> None:
    install_judge()
    names = choose_names(options.lists, options.names)
    print(f"{len(names):,} host names")
    for path in options.lists:
        before = transform(read_lines(path), ["Compress"])
        after = transform(list(before), ["Optimise"])
        by_judge = compare_by_judge(before, after, names)
        by_matcher = list(compare_by_matcher(before, after, names))
        print(
            f"{path.name}: {len(before):,} lines, {len(before) - len(after):,} fewer; verdicts changed:"
            f" {len(by_judge)} by tsurlfilter, {len(by_matcher)} by the brute-force matcher",
            flush=True,
        )
        for example in (*by_judge[:5], *by_matcher[:5]):
            print(f"    {example}")


def install_judge() -> None:
    if not (JUDGE / "node_modules").exists():
        shutil.copytree(HERE / "tsurlfilter", JUDGE, dirs_exist_ok=True)
        subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"], cwd=JUDGE, check=True)


def read_lines(path: Path) -> list[str]:
    return path.read_bytes().decode().replace("\r\n", "\n").split("\n")


def choose_names(lists: list[Path], count: int) -> list[str]:
    """Choose from the names in the lists, their parents, children and look-alikes, and add unrelated ones; always the same."""
    found = {name for path in lists for line in read_lines(path) for name in NAME.findall(line.lower())}
    chance = random.Random(1)  # noqa: S311
    related = {name for each in sorted(found) for name in relate(each)}
    chosen = chance.sample(sorted(related), min(len(related), count * 9 // 10))
    letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
    while len(chosen) < count:
        chosen.append(
            f"{''.join(chance.choices(letters, k=chance.randint(1, 14)))}.{chance.choice(['com', 'net', 'de', 'co.uk'])}"
        )
    return [name for name in chosen if not name.startswith(("-", "."))]


def relate(name: str) -> Iterator[str]:
    parent = name.partition(".")[2]
    yield from (name, f"a.{name}", f"good{name}", f"{name}.evil.net", *([parent] if "." in parent else []))


def compare_by_judge(before: list[str], after: list[str], names: list[str]) -> list[str]:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / name for name in ("before", "after", "names")]
        for file, lines in zip(files, (before, after, names), strict=True):
            file.write_text("\n".join(lines))
        command = [str(NODE), "--max-old-space-size=4096", str(HERE / "tsurlfilter/judge.mjs"), *map(str, files)]
        return subprocess.run(command, cwd=JUDGE, capture_output=True, text=True, check=True).stdout.splitlines()


def compare_by_matcher(before: list[str], after: list[str], names: list[str]) -> Iterator[str]:
    """Try every rule on each name that a dropped rule matches: the others cannot have changed."""
    kept = set(after)
    dropped = [line for line in before if line not in kept]
    text = "\n".join(names)
    concerned = {name for line in dropped for name in find_matches(line, names, text)}
    literals = [find_literal(line) for line in before]
    for name in sorted(concerned):
        near = [line for line, literal in zip(before, literals, strict=True) if literal in name or "badfilter" in line]
        old, now = (brute_matcher.decide(lines, name) for lines in (near, [line for line in near if line in kept]))
        if old != now:
            yield f"{name}: {old} before, {now} after"


def find_matches(line: str, names: list[str], text: str) -> list[str]:
    literal = find_literal(line)
    if literal not in text:
        return []
    return [name for name in names if literal in name and brute_matcher.is_match(line, name)]


def find_literal(line: str) -> str:
    """Return the longest text that each matched name contains; a hosts line is matched by each of its names."""
    if line.startswith(("!", "#")) or "##" in line or re.match(r"[0-9a-f.:]+\s", line):
        return "" if re.match(r"[0-9a-f.:]+\s", line) else "\n"
    pattern = line.lower().removeprefix("@@").partition("$")[0]
    if pattern.startswith("/") and pattern.endswith("/"):
        return "\n"  # the matcher does not know regular expressions, and none is dropped
    return max(LITERAL.findall(pattern.replace("http://", "*")), key=len, default="\n")
