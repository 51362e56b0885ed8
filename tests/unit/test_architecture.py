"""The shape of the house: who imports whom, what each layer may hold, and how things are named."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
MODULES = sorted(SOURCE.rglob("*.py"))
CONFIGS = sorted(ROOT.glob("wrangler*.toml"))
# A Worker with many classes has more than one module of them.
ENTRIES = sorted(SOURCE.glob("*.py"))

# Who may import whom: entry modules -> workers -> services + platform -> web -> core. Nobody imports the command line.
MAY_IMPORT = {
    "core": {"core"},
    "web": {"core", "web"},
    "platform": {"core", "web", "platform"},
    "services": {"core", "web", "services"},
    "workers": {"core", "web", "services", "platform", "workers"},
    "cli": {"core", "web", "services", "cli"},
    "": {"core", "web", "services", "platform", "workers"},
}
PLATFORM = {"js", "pyodide", "workers"}
# Clock, chance and environment are arguments.
AMBIENT = {"os", "random", "secrets", "socket", "subprocess", "threading", "time", "uuid"}
DEPENDENCIES = {"feedparser", "idna", "publicsuffixlist", "pydantic", "pydantic_core"}
SQL = re.compile(
    r"\b(select\s.+\sfrom|insert\s+(or\s+\w+\s+)?into|update\s+\w+\s+set|delete\s+from|create\s+table)\b",
    re.IGNORECASE | re.DOTALL,
)
# Past participles that do not end in "ed", and words that end in "ed" or "ing" and are verbs or nouns.
IRREGULAR = frozenset(
    [
        "told",
        "kept",
        "asked",
        "shown",
        "found",
        "held",
        "left",
        "sent",
        "known",
        "made",
        "given",
        "taken",
        "seen",
        "done",
        "built",
        "begun",
        "written",
        "spoken",
        "drawn",
        "put",
        "grown",
        "gone",
        "heard",
        "lost",
        "met",
        "paid",
        "said",
        "sold",
        "stood",
        "taught",
        "thought",
        "understood",
        "won",
        "worn",
        "torn",
        "thrown",
        "sworn",
        "hidden",
        "bound",
    ]
) - {"put"}
VERBS = frozenset(
    {"feed", "need", "seed", "speed", "exceed", "proceed", "embed", "bring", "ping", "ring", "string", "heading"}
)
# What a docstring of a function does not begin with, because it says what the function does.
NO_VERB = re.compile(
    r"(an?|all|any|best|every|how|its?|no|none|nothing|one|only|several|some|something|that|the|their|these|this|those|two|until"
    r"|what|when|where|whether|which|while|who|why|with|without)\b",
    re.IGNORECASE,
)
# The platform's own name for a cron handler.
PLATFORM_NAMES = frozenset({"scheduled"})


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def layer_of(path: Path) -> str:
    """Return the first package below `sluice`; "" for an entry module and for the package itself."""
    parts = path.relative_to(SOURCE).parts
    return parts[1] if len(parts) > 2 else ""


def in_layers(*names: str) -> list[Path]:
    return [path for path in MODULES if layer_of(path) in names]


def functions() -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for path in MODULES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


@pytest.mark.parametrize("path", [path for path in MODULES if path.name != "__main__.py"], ids=name_of)
def test_imports_point_inwards(path: Path):
    """Entry modules, workers, services and platform, web, core: a module imports its own layer or one further in."""
    layers = {name.split(".")[1] for name in imported(path) if name.startswith("sluice.")}
    assert layers <= MAY_IMPORT[layer_of(path)]


@pytest.mark.parametrize("path", in_layers("core", "web", "services"), ids=name_of)
def test_features_run_in_plain_cpython(path: Path):
    """No platform, no clock, no chance, no environment: all of them are arguments."""
    roots = {name.partition(".")[0] for name in imported(path)}
    assert roots <= (sys.stdlib_module_names | DEPENDENCIES | {"sluice"}) - AMBIENT - PLATFORM


@pytest.mark.parametrize("path", in_layers("services"), ids=name_of)
def test_services_stand_alone(path: Path):
    """No service imports another."""
    own = f"sluice.services.{path.relative_to(SOURCE).parts[2]}"
    assert all(name.startswith(own) for name in imported(path) if name.startswith("sluice.services."))


@pytest.mark.parametrize("path", in_layers("core"), ids=name_of)
def test_core_holds_no_sql(path: Path):
    """The core decides; statements belong to the services."""
    texts = [node.value for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Constant)]
    assert [text for text in texts if isinstance(text, str) and SQL.search(text)] == []


@pytest.mark.parametrize("path", in_layers("workers"), ids=name_of)
def test_composition_is_without_the_sdk(path: Path):
    """Composition is plain Python: only entry modules inherit from the SDK."""
    assert not {name.partition(".")[0] for name in imported(path)} & PLATFORM


@pytest.mark.parametrize("path", ENTRIES, ids=name_of)
def test_entry_modules_are_tables_of_contents(path: Path):
    """An entry module stays short; what is worth more lines is worth a module of its own."""
    assert len(path.read_text().splitlines()) <= 60


def is_participle(name: str) -> bool:
    word = name.strip("_")
    if "_" in word or word in VERBS | PLATFORM_NAMES:
        return False
    return word in IRREGULAR or (len(word) > 4 and word.endswith(("ed", "ing")))


def test_functions_are_verbs():
    """Under 1 % of the functions are named by a bare participle."""
    names = [node.name for node in functions()]
    participles = sorted(name for name in names if is_participle(name))
    assert len(participles) < len(names) / 100, f"{len(participles)} of {len(names)}: {' '.join(participles)}"


def test_docstrings_say_what_a_function_does():
    """A function's docstring begins with a verb, "Return …"; ruff sees to its mood."""
    texts = [(node.name, ast.get_docstring(node) or "") for node in functions() if not is_property(node)]
    assert [text for text in texts if NO_VERB.match(text[1])] == []


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(ast.unparse(decorator) in {"property", "cached_property"} for decorator in node.decorator_list)


def test_configs_agree():
    """All Workers share one compatibility date and one set of flags; edge-preload alone reaches its own zone's origin."""
    configs = [tomllib.loads(path.read_text()) for path in CONFIGS]
    assert len(configs) == 6
    assert len({config["compatibility_date"] for config in configs}) == 1
    for config in configs:
        public = [] if config["name"] == "edge-preload" else ["global_fetch_strictly_public"]
        assert config["compatibility_flags"] == ["python_workers", *public], config["name"]


@pytest.mark.parametrize("path", CONFIGS, ids=name_of)
def test_platform_settings(path: Path):
    """Every Worker completes its packages before a build, has a limit of processor time and samples its logs."""
    config = tomllib.loads(path.read_text())
    assert config["build"] == {"command": "./scripts/setup --modules"}
    assert 1_000 <= config["limits"]["cpu_ms"] <= 300_000
    assert config["observability"]["enabled"]
    assert 0 < config["observability"]["head_sampling_rate"] <= 1


@pytest.mark.parametrize("path", CONFIGS, ids=name_of)
def test_entry_knows_its_name(path: Path):
    """The name that a Worker tells is the name it is deployed under."""
    config = tomllib.loads(path.read_text())
    assert f'NAME = "{config["name"]}"' in (ROOT / "src" / Path(config["main"]).name).read_text()


@pytest.mark.parametrize("path", CONFIGS, ids=name_of)
def test_everyone_is_tailed(path: Path):
    """Every Worker but the tail itself sends its events to sluice-tail."""
    config = tomllib.loads(path.read_text())
    expected = [] if config["name"] == "sluice-tail" else [{"service": "sluice-tail"}]
    assert config.get("tail_consumers", []) == expected


def test_version():
    """The package tells the version it is published under."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f'__version__ = "{project["version"]}"' in (SOURCE / "sluice/__init__.py").read_text()


def test_only_web_decides_what_caches_may_keep():
    """A handler shares a reply with `share_reply`; the one other writer is the server of a zone's own pages."""
    writers = [name_of(path) for path in in_layers("web", "services") if '("Cache-Control"' in path.read_text()]
    assert [name for name in writers if "/preload/" not in name] == [
        "src/sluice/web/app.py",
        "src/sluice/web/caching.py",
    ]
