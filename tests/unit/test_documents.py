"""The documents tell the truth: every file and every function that they name is there."""

import ast
import importlib
import json
import re
import tomllib
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path

import pytest

from bench import BENCHES
from sluice.cli.downloads import LIMITS as COMMAND_LINE_LIMITS
from sluice.cli.main import COMMANDS
from sluice.core.errors import TooLarge
from sluice.services.compiler.limits.memory import LINE_BYTES, MAX_PUBLISHED_BYTES, MAX_REPORTED_BYTES, MAX_TEXT_BYTES
from sluice.services.compiler.limits.metered_download import LIMITS as WORKER_LIMITS

ROOT = Path(__file__).parents[2]
DOCUMENTS = (
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    *sorted(f"docs/{path.name}" for path in ROOT.glob("docs/*.md")),
)
# `services/compiler/http/compile.py` or `…/compile.py: handle_compile, Class.method`, below src/sluice or the root.
STEP = re.compile(r"`([\w./-]+\.(?:py|mjs|toml|sql|php|sh))(?:: ([\w., ]+))?`")
FOLDERS = (ROOT, ROOT / "src/sluice", ROOT / "src", ROOT / "scripts/local", ROOT / "tests")
# `./scripts/NAME` with the words after it on its line.
COMMAND = re.compile(r"\./scripts/(\w[\w.-]*)((?: +[^\s`|;]+)*)")
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A number with its unit in bytes, and a module with the constants that stand behind it.
AMOUNT = re.compile(r"(?<![/\w])([0-9][0-9,.]*)(?: (MB|MiB|KiB))?")
UNITS = {"": 1, "KiB": 1024, "MB": 1_000_000, "MiB": 1024**2}
CONSTANTS = re.compile(r"`([\w/]+)\.py`((?: `[A-Z]\w*(?:\.\w+)?`)+)")
WALKS = ("A compile", "A warmed page", "An article")


def find_file(name: str) -> Path | None:
    return next((folder / name for folder in FOLDERS if (folder / name).is_file()), None)


def defined_names(path: Path) -> set[str]:
    """Return the functions, classes and methods of a module; a method also as `Class.method`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ClassDef):
            names |= {node.name} | {f"{node.name}.{each.name}" for each in node.body if hasattr(each, "name")}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
    return names


def read_document(name: str) -> str:
    return (ROOT / name).read_text()


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


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_resolve(document: str):
    """A link leads to a file that is there, and to a heading that it has."""
    for target in LINK.findall(read_document(document)):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        file = (ROOT / document).parent / name if name else ROOT / document
        assert file.exists(), f"{document} links to {target}"
        assert not anchor or anchor in list_anchors(file), f"{document} links to {target}"


def list_anchors(file: Path) -> set[str]:
    """The headings of a document as a link names them."""
    titles = re.findall(r"(?m)^#+ (.+)$", file.read_text())
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_exist(document: str):
    """A script that a document names exists, and so do the benchmark and the command that it is asked for."""
    for script, words in COMMAND.findall(read_document(document)):
        assert (ROOT / "scripts" / script).is_file(), f"{document} names ./scripts/{script}"
        known = {"bench": BENCHES, "sluice": COMMANDS}.get(script)
        word = (words.split() or [""])[0]
        if known and re.fullmatch(r"[a-z][a-z-]+", word):
            assert word in known, f"{document} names ./scripts/{script} {word}"


def list_docstrings() -> Iterator[tuple[Path, str]]:
    for folder in ("src", "scripts"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            if text := ast.get_docstring(ast.parse(path.read_text())):
                yield path, text


def test_docstrings_name_what_exists():
    """A module's docstring names files that exist, from one of the folders above it, with the functions it names in them."""
    for module, text in list_docstrings():
        for name, symbols in STEP.findall(text):
            if not name.endswith(".py"):  # others may be made by what the module runs
                continue
            near = [
                parent / name for parent in module.parents if parent.is_relative_to(ROOT) and (parent / name).is_file()
            ]
            path = near[0] if near else find_file(name)
            assert path, f"{module} names {name}, which does not exist"
            missing = {symbol.strip() for symbol in symbols.split(",") if symbol} - (
                defined_names(path) if symbols else set()
            )
            assert not missing, f"{module}: {name} has no {missing}"


def test_folders_exist():
    """The tree of ARCHITECTURE.md names folders and files that are there."""
    tree = walk_section("ARCHITECTURE.md", "The folders")
    above = ROOT
    count = 0
    for indent, name in re.findall(r"(?m)^    ( *)([\w./*-]+)", tree):
        if name.startswith(("build/", "tests/")):  # made by the set-up; two on a line
            continue
        above = above if indent else ROOT / name
        path = above / name if indent else above
        assert list(path.parent.glob(path.name)), f"the tree names {name}"
        count += 1
    assert count > 20


def walk_section(document: str, title: str) -> str:
    return read_document(document).partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_architecture_is_read_in_ten_minutes():
    """It is at most 20 KB, and a decision is one paragraph that begins with what was decided."""
    assert len((ROOT / "ARCHITECTURE.md").read_bytes()) <= 20_480
    paragraphs = walk_section("ARCHITECTURE.md", "Decisions").strip().split("\n\n")
    assert len(paragraphs) >= 20
    for paragraph in paragraphs:
        assert paragraph.startswith("**"), paragraph
        assert len(re.sub(r"`[^`]*`", "", paragraph).split()) <= 100, paragraph


def test_contributing_stays_short():
    """Vocabulary, places and examples: at most 16 KB."""
    assert len((ROOT / "CONTRIBUTING.md").read_bytes()) < 16_384


def test_dependencies_are_explained():
    """docs/dependencies.md says of each dependency why it is there, and of nothing else."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    groups = [*project["dependency-groups"].values(), project["project"]["dependencies"]]
    python = {re.split("[=<>]", each)[0] for group in groups for each in group if isinstance(each, str)}
    package = json.loads((ROOT / "package.json").read_text())
    node = package["devDependencies"].keys() | package["optionalDependencies"].keys()
    table = re.findall(r"(?m)^\| ([^|]+) \|", read_document("docs/dependencies.md"))
    named = {word for row in table[1:] for word in re.split(r"[,; ]+", row) if word not in {"", "with", "and", "of"}}
    assert named == python | node


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


def test_bounds_of_strangers():
    """Each limit of docs/security.md is the one of the constant that stands beside it."""
    section = walk_section("docs/security.md", "What is bounded")
    rows = [row.strip("| ").split(" | ") for row in section.splitlines() if row.startswith("| ")][1:]
    assert len(rows) >= 20
    for what, limit, where in rows:
        named = [float(number.replace(",", "")) * UNITS[unit] for number, unit in AMOUNT.findall(limit)]
        assert named == list(read_constants(where)), what


def read_constants(text: str) -> Iterator[float]:
    """Yield the values of constants such as `web/admin.py` `MAX_DELAY_S` `RATE.count`, in their order."""
    for path, names in CONSTANTS.findall(text):
        module = importlib.import_module(f"sluice.{path.replace('/', '.')}")
        yield from (float(attrgetter(name)(module)) for name in re.findall(r"[\w.]+", names))


def test_security_is_short():
    """It is two pages at most, and says something of each role."""
    text = read_document("docs/security.md")
    assert len(text.splitlines()) <= 80
    roles = walk_section("docs/security.md", "Who may do what").split("\n- ")[0]
    assert [row.split("|")[1].strip() for row in roles.splitlines() if row.startswith("| ")][1:] == [
        "anybody",
        "holder of a job",
        "site",
        "operator",
        "Cloudflare account",
    ]


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
