"""./scripts/sluice of a clone and the command of an installed wheel are the same program, also for names in any script."""

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from cli.project_copy import copy_project
from cli.random_lists import make_lists
from cli.sluice_process import host
from cli.test_preload import KEY, FakeService, serve
from cli.test_purge import PurgingService
from runtime import PATIENCE_S, ROOT
from sluice.cli.main import COMMANDS
from sluice.core.filters.formats.table import FORMATS
from sluice.core.filters.pipeline import TRANSFORMATIONS

CLONE: Final = str(ROOT / "scripts/sluice")
# The time and what depends on it: two runs may begin in different seconds.
TIMES: Final = re.compile(rb'(?m)^([!#;] (?:Checksum|Last modified): ).*$|(?<= )\d{10}(?= )|(?<="ms": )[0-9.]+')
ENVIRONMENT: Final = {
    **{
        name: value
        for name, value in os.environ.items()
        if name != "PYTHONPATH" and not name.lower().endswith("_proxy")
    },
    "SLUICE_SIGNING_KEY": KEY,
}
RULES: Final = """! Title: Wörter
||bücher.de^
||faß.de^$important
@@||straße.bücher.de^
||例え.jp^
@@例え.jp^
||😀.example^
||مثال.إختبار^
0.0.0.0 bücher.de  münchen.example
|пример.рф^
/ads[0-9]+\\.例え\\./
||Mixed-例え.BÜCHER.com^$third-party
  ||trimmed.例え.jp^
||xn--bcher-kva.de^
||co.uk^
||ads.example.com^
||below.ads.example.com^
bücher.de##.werbung
||bücher.de^

# καλημέρα
"""
ITEMS: Final = [
    {"id": 1, "title": "Bitcoin klettert über 126.000 $", "description": "Größter Anstieg", "source": "A"},
    {"id": 2, "title": "ビットコインが急騰", "publishedAt": "2026-11-10T09:00:00Z", "source": "B"},
    {"id": 3, "title": "Bitcoin climbs past $126K", "publishedAt": "2026-11-10T09:00:00Z", "source": "C"},
]
PAGE: Final = """<html><head><meta charset="utf-8"><title>Lärche öffnet Werk</title></head><body><article><h1>Lärche öffnet Werk</h1>
<p>Lärche Mining opened a plant with 9,000 machines in Québec on Monday, said the town of 例え.</p></article></body></html>"""
FEED: Final = "<rss><channel><item><title>Ä &amp; 例え</title><link>https://bücher.de/ä</link><guid>g</guid></item></channel></rss>"
OPML: Final = '<opml><body><outline type="rss" xmlUrl="https://bücher.de/feed"/></body></opml>'


class Call(NamedTuple):
    arguments: tuple[str, ...]
    stdin: bytes = b""


def build_wheel(project: Path, folder: Path) -> Path:
    """Build the project's wheel with the locked build backend."""
    options = ("--quiet", "--no-deps", "--no-index", "--no-build-isolation")
    check(
        sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(folder), str(project), folder=folder.parent
    )
    [wheel] = folder.glob("*.whl")
    return wheel


def check(*command: str, folder: Path) -> None:
    done = subprocess.run(
        command, cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(name="wheel", scope="module")
def _wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of a clone in which nothing was set up yet, in a folder with a name that is not ASCII."""
    folder = tmp_path_factory.mktemp("wheel")
    copy_project(folder / "new comer 100% ü")
    return build_wheel(folder / "new comer 100% ü", folder / "dist")


@pytest.fixture(name="installed", scope="module")
def _installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The command of the wheel, in an environment that has only what the wheel asks for, in the locked versions."""
    folder = tmp_path_factory.mktemp("environment")
    check(sys.executable, "-m", "venv", ".", folder=folder)
    packages = ("--no-index", "--find-links", str(ROOT / ".cache/packages"))
    check(str(folder / "bin/pip"), "install", "--quiet", *packages, str(wheel), folder=folder)
    return str(folder / "bin/sluice")


def run(command: str, call: Call, folder: Path) -> tuple[int, bytes, bytes, dict[str, bytes]]:
    """Run the command in its own copy of the same files; returns its outcome with the files that it wrote."""
    folder.mkdir()
    (folder / "rules.txt").write_text(RULES, encoding="utf-8")
    (folder / "other.txt").write_text(RULES.replace("bücher", "bäcker"), encoding="utf-8")
    (folder / "page.html").write_text(PAGE, encoding="utf-8")
    (folder / "feed.xml").write_text(FEED, encoding="utf-8")
    (folder / "feeds.opml").write_text(OPML, encoding="utf-8")
    sources = [{"source": "rules.txt", "name": "Größe"}, {"source": "other.txt"}]
    configuration = {"name": "例え", "sources": sources, "transformations": ["Compress", "ConvertToAscii", "Validate"]}
    (folder / "c.json").write_text(json.dumps(configuration), encoding="utf-8")
    before = set(folder.iterdir())
    done = subprocess.run(
        [command, *call.arguments],
        cwd=folder,
        input=call.stdin,
        capture_output=True,
        env=ENVIRONMENT,
        check=False,
        timeout=PATIENCE_S,
    )
    written = {path.name: TIMES.sub(rb"\1", path.read_bytes()) for path in set(folder.iterdir()) - before}
    return done.returncode, TIMES.sub(rb"\1", done.stdout), done.stderr, written


def compare(call: Call, installed: str, folder: Path) -> tuple[int, bytes, bytes, dict[str, bytes]]:
    """Run both; returns what both did."""
    clone, wheel = (run(command, call, folder / name) for command, name in ((CLONE, "clone"), (installed, "wheel")))
    assert clone == wheel
    assert b"Traceback" not in clone[2], clone[2].decode()
    return clone


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations(name: str, installed: str, tmp_path: Path):
    """Every transformation gives the same lines."""
    code, stdout, stderr, _ = compare(Call(("transform", "-t", name), RULES.encode()), installed, tmp_path)
    assert (code, stderr) == (0, b"")
    assert b"xn--r8jz45g.jp" in stdout or name != "ConvertToAscii"


@pytest.mark.parametrize("name", FORMATS)
def test_formats(name: str, installed: str, tmp_path: Path):
    """Every format gives the same list and the same report."""
    call = Call(("convert", "--to", name, "--report", "report.json"), RULES.encode())
    code, stdout, _, written = compare(call, installed, tmp_path)
    assert code == 0
    assert b"ads.example.com" in stdout.replace(b"\\", b"")
    assert set(written) == {"report.json"}


# A call of each command that needs no server.
CALLS: Final[dict[str, Call]] = {
    "compile": Call(("compile", "-c", "c.json", "-o", "list.txt", "--report", "report.json", "--format", "dnsmasq")),
    "transform": Call(
        ("transform", "-t", *(name for name in TRANSFORMATIONS if not name.startswith("Validate"))), RULES.encode()
    ),
    "why": Call(("why", "straße.bücher.de", "-c", "c.json", "--json")),
    "overlap": Call(("overlap", "-c", "c.json")),
    "diff": Call(("diff", "rules.txt", "other.txt")),
    "convert": Call(("convert", "--to", "rpz", "--max-entries", "2"), RULES.encode()),
}
_LINES: Final = "\n".join(json.dumps(item) for item in ITEMS).encode()
NEWS: Final[dict[str, Call]] = {
    "judge": Call(("news", "judge"), _LINES),
    "group": Call(("news", "group"), _LINES),
    "read": Call(("news", "read", "feed.xml")),
    "summarise": Call(("news", "summarise", "page.html", "--title", "Lärche öffnet Werk")),
    "feeds": Call(("news", "feeds", "feeds.opml")),
    "extract": Call(("news", "extract", "page.html")),
}
SERVED: Final[dict[str, type[FakeService]]] = {"preload": FakeService, "purge": PurgingService}


def list_news_actions() -> set[str]:
    parser = argparse.ArgumentParser()
    importlib.import_module("sluice.cli.commands.news").add_arguments(parser)
    return {name for action in parser._actions for name in action.choices or ()}


def test_no_command_is_left_out():
    """Every command, and every action of `news`, is called by a test of this module."""
    assert CALLS.keys() | SERVED.keys() | {"news"} == COMMANDS.keys()
    assert NEWS.keys() == list_news_actions()


@pytest.mark.parametrize("name", CALLS)
def test_commands(name: str, installed: str, tmp_path: Path):
    """Every command does the same."""
    code, stdout, _, written = compare(CALLS[name], installed, tmp_path)
    assert code == 0
    assert stdout or written


@pytest.mark.parametrize("name", NEWS)
def test_news(name: str, installed: str, tmp_path: Path):
    """Every action of `news` does the same."""
    code, stdout, stderr, _ = compare(NEWS[name], installed, tmp_path)
    assert (code, stderr) == (0, b"")
    assert stdout


@pytest.mark.parametrize("name", SERVED)
def test_commands_for_a_service(name: str, installed: str, tmp_path: Path):
    """The commands that call a service send it the same, and print the same."""
    arguments = ("--zone", "abc123xyz", "--url", "https://bücher.de/例え?ä=ö", "--wait")
    outcomes = []
    for number, command in enumerate((CLONE, installed)):
        api = SERVED[name]()
        with serve(api) as endpoint:
            done = run(command, Call((name, *arguments, "--endpoint", endpoint)), tmp_path / str(number))
        outcomes.append((done, [{**body, "idempotency_key": ""} for body in api.bodies]))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0][0] == 0, outcomes[0]


def test_sources_on_the_web(installed: str, tmp_path: Path):
    """A list that is downloaded is the same."""
    with host({"/b%C3%BCcher": RULES.encode()}) as address:
        call = Call(("compile", "-i", f"{address}/bücher", "-o", "-", "-v"))
        code, stdout, *_ = run(CLONE, call, tmp_path / "clone")
        assert (code, stdout) == run(installed, call, tmp_path / "wheel")[:2]
    assert (code, "||ads.example.com^" in stdout.decode()) == (0, True)


@pytest.mark.parametrize(
    "command", [(), *((name, "--help") for name in COMMANDS), ("compile",), ("--version",), ("no",)]
)
def test_help_and_mistakes(command: tuple[str, ...], installed: str, tmp_path: Path):
    """Help and mistakes of the caller read the same."""
    code, stdout, stderr, _ = compare(Call(command), installed, tmp_path)
    assert (code == 0) == bool(stdout)
    assert (code == 2) == bool(stderr)


@pytest.mark.parametrize("seed", range(3))
def test_random_lists(seed: int, installed: str, tmp_path: Path):
    """A hundred random lists with names in any script are the same, line by line and in the report."""
    for name in ("clone", "wheel"):
        (tmp_path / name).mkdir()
    outcomes = []
    for command, folder in ((CLONE, tmp_path / "clone"), (installed, tmp_path / "wheel")):
        configuration = {"name": "Random", "sources": list(write_sources(seed, folder))}
        (folder / "random.json").write_text(json.dumps(configuration), encoding="utf-8")
        done = subprocess.run(
            [command, "compile", "-c", "random.json", "-o", "list.txt", "--report", "report.json"],
            cwd=folder,
            env=ENVIRONMENT,
            capture_output=True,
            check=True,
            timeout=PATIENCE_S,
        )
        outcomes.append(
            (done.stderr, TIMES.sub(rb"\1", (folder / "list.txt").read_bytes()), (folder / "report.json").read_bytes())
        )
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][1].count(b"! Source: ") == 100


def write_sources(seed: int, folder: Path) -> Iterator[dict[str, Any]]:
    names = list(TRANSFORMATIONS)
    for number, lines in enumerate(make_lists(seed, 100)):
        (folder / f"{number}.txt").write_text("\n".join(lines), encoding="utf-8")
        yield {"source": f"{number}.txt", "transformations": [names[number % len(names)], "ConvertToAscii"]}


def read_names(wheel: Path, choose: Callable[[str], bool]) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if choose(name)}


def test_what_was_set_up_is_not_in_the_wheel(wheel: Path, tmp_path: Path):
    """A clone that was set up makes the same wheel as a fresh one, and it has all modules and the mark of its types."""
    fresh = read_names(wheel, lambda name: not name.endswith("RECORD"))
    assert read_names(build_wheel(ROOT, tmp_path / "dist"), lambda name: not name.endswith("RECORD")) == fresh
    modules = {
        f"sluice/{path.relative_to(ROOT / 'src/sluice').as_posix()}" for path in (ROOT / "src/sluice").rglob("*.py")
    }
    assert modules - fresh.keys() == {"sluice/workers/declared_lists.py"}
    assert "sluice/py.typed" in fresh
