"""A Worker's upload has what it imports, now or later, and nothing of another service."""

import dis
import gzip
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any, Final

import pytest

from runtime import PATIENCE_S, ROOT
from sluice.core.filters.syntax import public_suffixes
from sluice.core.filters.syntax.public_suffixes import load_public_suffixes, prepare_public_suffixes
from uploads import find_imports

VENDORED: Final = ROOT / "python_modules"
CONFIGS: Final = {
    config["name"]: config
    for config in (tomllib.loads(path.read_text()) for path in sorted(ROOT.glob("wrangler*.toml")))
}
PACKAGES_OF_MODELS: Final = {
    "annotated_types",
    "pydantic",
    "pydantic_core",
    "typing_extensions",
    "typing_inspection",
}
SERVICES: Final = {
    name: "news" if "news" in config["main"] else Path(config["main"]).stem.removesuffix("_worker")
    for name, config in CONFIGS.items()
}
MORE_COMPOSITION: Final = {"compiler": ("declared_lists",)}
CORES: Final = {"compiler": {"compiler", "filters"}, "preload": {"preload"}, "news": {"news"}, "tail": set[str]()}


def to_pattern(glob: str) -> re.Pattern[str]:
    parts = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.compile("".join(parts.get(part) or re.escape(part) for part in re.split(r"(\*\*/|\*\*|\*)", glob)))


def list_uploaded(worker: str) -> set[str]:
    excluded = [to_pattern(glob) for glob in CONFIGS[worker]["python_modules"]["exclude"]]
    paths = [str(path.relative_to(VENDORED)) for path in VENDORED.rglob("*") if path.is_file()]
    return {path for path in paths if not any(pattern.fullmatch(path) for pattern in excluded)}


def run_imports(worker: str, *options: str) -> dict[str, Any]:
    command = [sys.executable, Path(__file__).with_name("worker_imports.py"), ROOT / CONFIGS[worker]["main"], *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_imported_packages_are_uploaded(worker: str):
    """Every package that a Worker imports is in its upload, and no other package that has models."""
    found = run_imports(worker)
    uploaded = {path.partition("/")[0].removesuffix(".py") for path in list_uploaded(worker)}
    assert set(found["packages"]) <= uploaded
    assert uploaded & PACKAGES_OF_MODELS == set(found["packages"]) & PACKAGES_OF_MODELS


def upload_folder(worker: str) -> Path:
    main: str = CONFIGS[worker]["main"]
    return (ROOT / main).parent


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_nothing_of_another_service_is_uploaded(worker: str):
    """A Worker has modules of its own service and core alone, and of its own composition; no page documents another."""
    folder = upload_folder(worker)
    own = SERVICES[worker]
    uploaded = [path.relative_to(folder).parts for path in folder.rglob("*.py")]
    assert {parts[2] for parts in uploaded if parts[:2] == ("sluice", "services") and len(parts) > 3} == {own}
    assert {parts[2] for parts in uploaded if parts[:2] == ("sluice", "core") and len(parts) > 3} <= {
        *CORES[own],
        "net",
    }
    assert all(
        parts[2].startswith((own, "__init__", *MORE_COMPOSITION.get(own, ())))
        for parts in uploaded
        if parts[:2] == ("sluice", "workers")
    )
    assert {parts[1] for parts in uploaded if parts[0] == "sluice"}.isdisjoint({"cli", "console"})
    assert [path.name for path in (folder.parent / "console/openapi").iterdir()] == [f"{worker}.json"]


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_every_uploaded_module_can_be_imported(worker: str):
    """What a Worker imports late is there, with all that it needs, although no module of this project lies elsewhere."""
    assert run_imports(worker, "--all")["modules"] == len(list(upload_folder(worker).rglob("*.py")))


def list_imported_names(code: CodeType) -> Iterator[str]:
    """Return the names that the functions of a code object import, read from their instructions."""
    for function in filter(lambda constant: isinstance(constant, CodeType), code.co_consts):
        module = ""
        for step in dis.get_instructions(function):
            if step.opname == "IMPORT_NAME":
                yield (module := str(step.argval))
            elif step.opname == "IMPORT_FROM":
                yield f"{module}.{step.argval}"
        yield from list_imported_names(function)


def is_module(folder: Path, name: str) -> bool:
    path = folder.joinpath(*name.split("."))
    return path.with_suffix(".py").is_file() or (path / "__init__.py").is_file()


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_no_late_import_is_missing(worker: str):
    """Every module of this project that an uploaded function imports is uploaded."""
    folder = upload_folder(worker)
    codes = [compile(path.read_text(), path, "exec") for path in folder.rglob("*.py")]
    late = {name for code in codes for name in list_imported_names(code) if is_module(ROOT / "src", name)}
    assert [name for name in sorted(late) if not is_module(folder, name)] == []


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_size(worker: str):
    """An upload stays small: Cloudflare takes 3 MB on the smallest plan, and starts slower with more."""
    files = [*upload_folder(worker).rglob("*.py"), *(VENDORED / path for path in list_uploaded(worker))]
    size = sum(len(gzip.compress(file.read_bytes())) for file in files)
    assert size <= (2_200_000 if SERVICES[worker] in {"compiler", "preload"} else 1_000_000)


def test_late_imports_are_followed():
    """The builder sees imports in functions and in branches, but not those for the type checker alone."""
    source = """
import a.b
if TYPE_CHECKING:
    from never import Type
else:
    from other import thing
def work():
    try:
        from late.module import function
    except ImportError:
        import fallback
"""
    names = set(find_imports(source))
    assert names == {"a.b", "other", "other.thing", "late.module", "late.module.function", "fallback"}


def test_public_suffixes_are_the_same(monkeypatch: pytest.MonkeyPatch):
    """The list that is deployed has the rules of the package, and needs no more preparation."""
    deployed = (VENDORED / "publicsuffixlist/public_suffix_list.dat").read_text()
    assert prepare_public_suffixes(deployed) is deployed
    load = load_public_suffixes.__wrapped__
    whole = load()
    monkeypatch.setattr(public_suffixes, "get_data", lambda *_names: deployed.encode())
    assert load() == whole
    assert len(whole.plain) > 5000
