"""The API documents that ./scripts/setup builds: they are those of the routes that the Workers answer by."""

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from documents import WORKERS as BUILT_FOR
from documents import build_worker_document, main
from runtime import PATIENCE_S, ROOT
from sluice.web.router import Shape, get_shape
from workerd.route_tables import CONFIGS

WORKERS = sorted(CONFIGS)
BUILT = ROOT / ".cache/openapi"


@pytest.fixture(name="tables", scope="module")
def _tables() -> dict[str, list[list[str]]]:
    script = ROOT / "tests/workerd/route_tables.py"
    done = subprocess.run(
        [sys.executable, script, *WORKERS], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    tables: dict[str, list[list[str]]] = json.loads(done.stdout)
    return tables


def test_every_worker_has_a_document():
    """No Worker is left out."""
    assert sorted(BUILT_FOR) == WORKERS


@pytest.mark.parametrize("worker", WORKERS)
def test_every_route_is_documented(tables: dict[str, list[list[str]]], worker: str):
    """Every route that the Worker answers by has its documentation, and every documentation has its route."""
    paths = build_worker_document(worker)["paths"]
    documented = {(method.upper(), path.replace("{", ":")) for path, methods in paths.items() for method in methods}
    assert list_shapes(documented) == list_shapes((method, pattern) for method, pattern in tables[worker])


def list_shapes(routes: Iterable[tuple[str, str]]) -> set[tuple[str, Shape]]:
    """Return routes without the names of their parameters, which two routes of one path may call differently."""
    return {(method, get_shape(pattern)) for method, pattern in routes}


@pytest.mark.parametrize("worker", WORKERS)
def test_deployed_document_is_current(worker: str):
    """What is deployed was built from these sources."""
    assert json.loads((BUILT / f"{worker}.json").read_text()) == build_worker_document(worker)


def test_a_second_build_is_equal(tmp_path: Path):
    """The same sources give the same bytes."""
    main(tmp_path)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert files == {path.name: path.read_bytes() for path in BUILT.iterdir()}
    assert len(files) == len(WORKERS)
