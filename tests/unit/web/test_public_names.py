"""The package's surface: what others may import."""

import ast
import sys
from pathlib import Path

import pytest

import sluice.web

PACKAGE = Path(sluice.web.__file__).parent
ALLOWED = (sys.stdlib_module_names | {"pydantic", "pydantic_core", "sluice"}) - {"os", "random", "time", "threading"}


def imported_modules(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


def test_all_is_sorted_and_complete():
    """`__all__` lists exactly the public names, sorted."""
    public = {name for name, value in vars(sluice.web).items() if name[0] != "_" and not hasattr(value, "__path__")}
    modules = {path.stem for path in PACKAGE.glob("*.py")}
    assert sluice.web.__all__ == sorted(sluice.web.__all__)
    assert public - set(sluice.web.__all__) <= modules
    assert set(sluice.web.__all__) <= public


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: path.stem)
def test_the_layer_stands_alone(path):
    """No module imports the platform, a clock, randomness, or a package other than core and web."""
    modules = imported_modules(path)
    assert {module.partition(".")[0] for module in modules} <= ALLOWED
    ours = {module for module in modules if module.startswith("sluice")}
    assert all(module.startswith(("sluice.core.", "sluice.web.")) for module in ours)
