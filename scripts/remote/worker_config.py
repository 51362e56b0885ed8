"""The wrangler configs: what each of them binds, and which bindings the code uses."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """The config of one Worker."""

    path: Path
    content: dict[str, Any]

    @classmethod
    def read(cls, path: Path) -> "WorkerConfig":
        return cls(path, tomllib.loads(path.read_text()))

    @property
    def name(self) -> str:
        return str(self.content["name"])

    @property
    def main(self) -> Path:
        return self.path.parent / str(self.content["main"])

    @property
    def bindings(self) -> set[str]:
        """Every name in the Worker's environment, with the variables."""
        tables = [entries for entries in self.content.values() if isinstance(entries, list)]
        nested = [self.content.get("queues", {}).get("producers", [])]
        named = {entry["binding"] for table in tables + nested for entry in table if _is_binding(entry)}
        objects = {entry["name"] for entry in self.content.get("durable_objects", {}).get("bindings", [])}
        single = {part["binding"] for part in self.content.values() if isinstance(part, dict) and "binding" in part}
        return named | objects | single | set(self.content.get("vars", {}))

    def all(self, *keys: str) -> list[dict[str, Any]]:
        """Return the entries of a table such as `all("queues", "producers")`, or [] if it is missing."""
        entries: Any = self.content
        for key in keys:
            entries = entries.get(key, {})
        return list(entries)


def _is_binding(entry: object) -> bool:
    return isinstance(entry, dict) and "binding" in entry


def find_used_bindings(source: str) -> set[str]:
    """Return the names that an entry module uses: `Binding("NAME", ...)` and `self.env.NAME`."""
    return set(_find_names(ast.parse(source)))


def _find_names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Binding"), args=[ast.Constant(value=str(name)), *_]):
                yield name
            case ast.Attribute(value=ast.Attribute(attr="env"), attr=name) if name.isupper():
                yield name


def read_configs(root: Path) -> list[WorkerConfig]:
    """Return the configs of all Workers."""
    return [WorkerConfig.read(path) for path in sorted(root.glob("wrangler*.toml"))]
