"""Which test modules belong to a module: those that import it, directly or through others."""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

TESTS: Final = "tests/unit"
# Of the tools, which are not what is changed.
TOOLS: Final = ("tests/unit/measure", "tests/unit/deploy")


def name_modules(root: Path) -> dict[str, Path]:
    """Return the modules of the sources and the tests by their names, with their paths below the root."""
    paths: dict[str, Path] = {}
    for folder in ("src", "tests"):
        for path in sorted((root / folder).rglob("*.py")):
            below = path.relative_to(root / folder).with_suffix("")
            parts = below.parts[:-1] if below.name == "__init__" else below.parts
            if parts:
                paths[".".join(parts)] = path.relative_to(root)
    return paths


def read_imports(name: str, source: str, is_package: bool, known: Mapping[str, Path]) -> set[str]:
    """Return the modules of the project that a module imports, wherever in it the import stands."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = _resolve(name, is_package, node)
            members = {f"{base}.{alias.name}" for alias in node.names}
            found |= (members & known.keys()) or {base}
    return found & known.keys()


def _resolve(name: str, is_package: bool, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = name.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, *filter(None, [node.module])])


class ImportGraph:
    """Who imports whom, in the sources and the tests."""

    def __init__(self, modules: Mapping[str, Path], imports: Mapping[str, set[str]]) -> None:
        self._modules = modules
        self._importers: dict[str, set[str]] = defaultdict(set)
        for name, imported in imports.items():
            for each in imported:
                self._importers[each].add(name)

    @classmethod
    def read(cls, root: Path) -> "ImportGraph":
        modules = name_modules(root)
        imports = {
            name: read_imports(name, (root / path).read_text(encoding="utf-8"), path.name == "__init__.py", modules)
            for name, path in modules.items()
        }
        return cls(modules, imports)

    def find_tests(self, path: Path, max_steps: int) -> Sequence[tuple[int, Path]]:
        """Return the unit tests that import a file through at most so many steps, with the steps, nearest first."""
        [start] = [name for name, each in self._modules.items() if each == path]
        return [(steps, self._modules[name]) for steps, name in self._walk(start, max_steps) if self._is_test(name)]

    def _is_test(self, name: str) -> bool:
        path = self._modules[name]
        return (
            path.name.startswith("test_")
            and path.is_relative_to(TESTS)
            and not any(path.is_relative_to(folder) for folder in TOOLS)
        )

    def _walk(self, start: str, max_steps: int) -> Iterator[tuple[int, str]]:
        seen = {start}
        edge = {start}
        for steps in range(1, max_steps + 1):
            edge = {importer for name in edge for importer in self._importers[name]} - seen
            seen |= edge
            yield from ((steps, name) for name in sorted(edge))
