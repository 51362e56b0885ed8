"""The examples of CONTRIBUTING.md, taken from there and run in their place."""

import asyncio
import json
import re
import shutil
import sys
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import pytest

from phrase_files import NEWS
from phrases import build_modules
from sluice.core.filters import pipeline
from sluice.core.filters.formats import table, writer
from sluice.core.filters.pipeline import trace, transform
from sluice.core.news.sentiment import judge_headline, lexicon
from sluice.services.preload.http import operator_routes
from sluice.services.preload.http.access import AccessHandlers
from sluice.services.preload.zone import operator_calls
from sluice.services.preload.zone.operator_calls import OperatorCalls
from sluice.web import App, Request
from sluice.web.api_document.document import build_document
from unit.services.preload.world import UNUSED, ZONE, World
from unit.web.calls import call, content, finished, get, parsed

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text()
SECTION = "## Five things people add"
KINDS = ("An endpoint", "A zone call", "A transformation", "A format", "A news phrase")
_BLOCK = re.compile(r"```python\n# ([\w/]+\.py)([^\n]*)\n(.*?)```", re.DOTALL)


def read_blocks(title: str) -> list[tuple[str, str]]:
    """Return the blocks below a heading, each with the module that it belongs to."""
    return [(name, code) for name, _, code in _BLOCK.findall(read_part(title))]


def read_part(title: str) -> str:
    return TEXT.partition(f"\n### {title}\n")[2].partition("\n### ")[0].partition("\n## ")[0]


def run_code(name: str, code: str, known: ModuleType | None, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run a block as a module, or as more of one that is there; return its names."""
    module = ModuleType(f"example.{name.removesuffix('.py').replace('/', '.')}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    names = vars(module)
    names.update({key: value for key, value in vars(known).items() if not key.startswith("__")} if known else {})
    exec(compile(code, name, "exec"), names)  # noqa: S102 - the example
    return names


def _refuse_errors(error: Exception, _request: Request) -> None:
    raise AssertionError from error


def test_all_examples_are_there():
    """The section has an example of each kind, and every block of code is run by a test here."""
    section = TEXT.partition(f"{SECTION}\n")[2].partition("\n## ")[0]
    assert tuple(re.findall(r"(?m)^### (.+)$", section)) == KINDS
    assert TEXT.count("```python\n") == sum(len(read_blocks(kind)) for kind in KINDS) == 7


@pytest.mark.parametrize("kind", KINDS)
def test_modules_are_where_they_belong(kind: str):
    """A block that extends a module names one that exists, and one that is a module of its own a folder that exists."""
    for name, code in read_blocks(kind):
        is_own = "import" in code
        assert (ROOT / "src/sluice" / name).parent.is_dir(), name
        assert (ROOT / "src/sluice" / name).is_file() != is_own, name


def test_endpoint(monkeypatch: pytest.MonkeyPatch):
    """The route is documented as it answers, and refuses what it does not declare."""
    [(name, code)] = read_blocks("An endpoint")
    names = run_code(name, code, None, monkeypatch)

    async def count_records(days: int) -> int:
        return 10 * days

    routes = names["count_routes"](count_records)
    described = build_document("example", "1", routes)["paths"]["/logs/count"]["get"]
    assert described["operationId"] == "countLogs"
    assert [each["name"] for each in described["parameters"]] == ["days"]
    app = App(routes, on_error=_refuse_errors)
    assert parsed(finished(app.handle(get("/logs/count?days=3")))) == {"days": 3, "records": 30}
    assert parsed(finished(app.handle(get("/logs/count")))) == {"days": 1, "records": 10}
    assert {finished(app.handle(get(f"/logs/count?{query}"))).status for query in ("days=8", "weeks=1")} == {400}


class _OneZone:
    """The zones of a world, and its operator, who is let in."""

    def __init__(self, here: World) -> None:
        self._here = here

    def get(self, zone_id: str) -> Any:
        assert zone_id == ZONE
        return self._here.zone

    async def admit(self, _request: Request) -> None:
        pass


def test_zone_call(monkeypatch: pytest.MonkeyPatch):
    """The call travels to the zone's object and back, and its route is documented."""
    (calls, method), (routes, operation), (same, row) = read_blocks("A zone call")
    assert routes == same
    added = run_code(calls, method, operator_calls, monkeypatch)
    monkeypatch.setattr(OperatorCalls, "show_backlog", added["show_backlog"], raising=False)
    declared = run_code(routes, operation, _extend(operator_routes, Backlog=added["Backlog"]), monkeypatch)

    async def ask() -> tuple[int, Any, Any]:
        here = await World().register()
        await here.enqueue("/a", "/b")
        zones: Any = _OneZone(here)
        access = AccessHandlers(zones=zones, clock=here.clock, defer=UNUSED, gate=zones, signing_keys=())
        [route] = eval(f"[{row}]", {**declared, "ask": access.by_operator})  # noqa: S307 - the example
        reply = await App([route], on_error=_refuse_errors).handle(call("GET", f"/api/v1/zones/{ZONE}/backlog"))
        return reply.status, json.loads(content(reply)), build_document("example", "1", [route])

    status, reply, document = asyncio.run(ask())
    assert (status, reply) == (200, {"queued": 2, "unknown": 2})
    [operations] = document["paths"].values()
    assert operations["get"]["operationId"] == "showBacklog"
    assert document["components"]["schemas"]["Backlog"]["properties"].keys() == reply.keys()


def _extend(module: ModuleType, **names: Any) -> ModuleType:
    extended = ModuleType(module.__name__)
    vars(extended).update({**vars(module), **names})
    return extended


def test_transformation(monkeypatch: pytest.MonkeyPatch):
    """The step runs in the pipeline under its name, and its report says why a line was dropped."""
    (own, code), (name, row) = read_blocks("A transformation")
    names = run_code(own, code, None, monkeypatch)
    assert name == "core/filters/pipeline.py"
    steps = {**pipeline.TRANSFORMATIONS, **_evaluate_row(row, names)}
    monkeypatch.setattr(pipeline, "TRANSFORMATIONS", MappingProxyType(steps))
    lines = ["||a.com^", "abc", " x ", "abcd"]
    chosen = ["RemoveShortLines", "TrimLines"]
    assert transform(list(lines), chosen) == ["||a.com^", "abcd"]
    traced = trace(list(lines), chosen)
    assert (traced.lines, traced.origins) == (["||a.com^", "abcd"], [0, 3])
    assert [(drop.at, drop.transformation, drop.reason) for drop in traced.dropped] == [
        (1, "RemoveShortLines", "too short"),
        (2, "RemoveShortLines", "too short"),
    ]


def _evaluate_row(row: str, names: dict[str, Any]) -> dict[str, Any]:
    """Return the row of a table as a table of its own."""
    rows: dict[str, Any] = eval(f"{{{row}}}", names)  # noqa: S307 - the example
    return rows


def test_format(monkeypatch: pytest.MonkeyPatch):
    """The format blocks nothing that the list opens: it writes what it can say, and reports what it leaves out of a rule."""
    [(name, row)] = read_blocks("A format")
    assert name == "core/filters/formats/table.py"
    rows = {**table.FORMATS, **_evaluate_row(row, {**vars(table)})}
    monkeypatch.setattr(writer, "FORMATS", MappingProxyType(rows))
    written = writer.write_list(["||a.com^", "|b.com^", "||c.com^", "@@||www.c.com^", "/ads/"], "squid")
    assert [line for line in written.lines if line and not line.startswith("#")] == [".a.com", "b.com", "c.com"]
    assert [each.line for each in written.report.skipped] == [3, 5]


def test_news_phrase(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """A headline without a meaning to the analyst is as its case says with the phrase, and with the verb's other forms."""
    row, case = re.findall(r"```\n(.*?)\n```", read_part("A news phrase"))
    title, label = json.loads(case)["title"], json.loads(case)["label"]
    titles = (title, title.replace("tips", "tipped"))
    assert {judge_headline(each).sentiment for each in titles} == {"neutral"}
    shutil.copytree(NEWS / "phrases", tmp_path / "phrases")
    with (tmp_path / "phrases/headlines.txt").open("a", encoding="utf-8") as table:
        table.write(f"{row}\n")
    built: dict[str, Any] = {}
    exec(build_modules(tmp_path / "phrases")["sentiment"], built)  # noqa: S102 - as it is imported
    monkeypatch.setattr(lexicon, "PHRASES", built["PHRASES"])
    lexicon._lexicon.cache_clear()
    try:
        assert {judge_headline(each).sentiment for each in titles} == {label}
    finally:
        monkeypatch.undo()
        lexicon._lexicon.cache_clear()
