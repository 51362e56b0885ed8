"""The documents tell the truth: every file and every function that they name is there."""

import ast
import re
from pathlib import Path

import pytest

from sluice.cli.downloads import LIMITS as COMMAND_LINE_LIMITS
from sluice.core.errors import TooLarge
from sluice.services.compiler.limits.memory import LINE_BYTES, MAX_PUBLISHED_BYTES, MAX_REPORTED_BYTES, MAX_TEXT_BYTES
from sluice.services.compiler.limits.metered_download import LIMITS as WORKER_LIMITS

ROOT = Path(__file__).parents[2]
DOCUMENTS = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")
# `services/compiler/http/compile.py` or `…/compile.py: handle_compile, Class.method`, below src/sluice or the root.
STEP = re.compile(r"`([\w./-]+\.(?:py|mjs|toml|sql|php|sh))(?:: ([\w., ]+))?`")
FOLDERS = (ROOT, ROOT / "src/sluice", ROOT / "src", ROOT / "scripts/local", ROOT / "tests")
WALKS = ("A compile", "A warmed page", "An article")


def find_file(name: str) -> Path | None:
    return next((folder / name for folder in FOLDERS if (folder / name).is_file()), None)


def defined_names(path: Path) -> set[str]:
    """Functions, classes and methods of a module; a method also as `Class.method`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            names |= {node.name} | {f"{node.name}.{each.name}" for each in node.body if hasattr(each, "name")}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


def walk(title: str) -> str:
    text = (ROOT / "ARCHITECTURE.md").read_text()
    return text.partition(f"### {title}")[2].partition("\n## ")[0].partition("\n### ")[0]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_and_functions_exist(document: str):
    """A file that a document names exists, and so do the functions it names in it."""
    for name, symbols in STEP.findall((ROOT / document).read_text()):
        path = find_file(name)
        assert path, f"{document} names {name}, which does not exist"
        missing = {symbol.strip() for symbol in symbols.split(",") if symbol} - (
            defined_names(path) if symbols else set()
        )
        assert not missing, f"{document}: {name} has no {missing}"


@pytest.mark.parametrize("title", WALKS)
def test_walks_name_files_with_their_functions(title: str):
    """Each walk leads through several files, and says which function to look at in each."""
    steps = STEP.findall(walk(title))
    assert len({name for name, _ in steps}) >= 6
    assert all(symbols for _, symbols in steps)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_headers_are_found_in_any_case(document: str):
    """A command that looks for a header ignores its case: HTTP/2, and the local runtime, send names in small letters."""
    commands = re.findall(r"curl -\w*I[^`\n]*\| *grep [^`\n]*", (ROOT / document).read_text())
    assert all(re.search(r"\| *grep -\w*i", command) for command in commands), commands


def test_limits_of_a_list():
    """The limits that README names are those of the code, in megabytes of a million bytes."""
    text = " ".join((ROOT / "README.md").read_text().split())
    sentence = text.partition("In a Worker one source may have ")[2].partition(" ### ")[0]
    named = [int(number.replace(",", "")) for number in re.findall(r"[0-9][0-9,]*[0-9]|[0-9]", sentence)]
    mega = 1_000_000
    assert named == [
        WORKER_LIMITS.source_bytes // mega,
        WORKER_LIMITS.total_bytes // mega,
        WORKER_LIMITS.total_lines,
        MAX_TEXT_BYTES // mega,
        MAX_REPORTED_BYTES // mega,
        MAX_PUBLISHED_BYTES // mega,
        LINE_BYTES,
        TooLarge.status,
        COMMAND_LINE_LIMITS.source_bytes // mega,
        COMMAND_LINE_LIMITS.total_bytes // mega,
    ]


def test_readme_fits_a_user():
    """The README is for users: what needs more room is in the other documents or at /docs."""
    assert len((ROOT / "README.md").read_text().splitlines()) <= 220
