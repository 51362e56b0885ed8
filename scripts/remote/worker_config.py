"""A wrangler config as the deployment sees it: what it binds, and what the code asks for."""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class WorkerConfig:
    """One Worker: its config file and what stands in it."""

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
        """Every name that the Worker finds in its environment, variables included."""
        tables = [entries for entries in self.content.values() if isinstance(entries, list)]
        nested = [self.content.get("queues", {}).get("producers", [])]
        named = {entry["binding"] for table in tables + nested for entry in table if _is_binding(entry)}
        objects = {entry["name"] for entry in self.content.get("durable_objects", {}).get("bindings", [])}
        single = {part["binding"] for part in self.content.values() if isinstance(part, dict) and "binding" in part}
        return named | objects | single | set(self.content.get("vars", {}))

    def all(self, *keys: str) -> list[dict[str, Any]]:
        """The entries of a table, [] where there is none: `all("queues", "producers")`."""
        found: Any = self.content
        for key in keys:
            found = found.get(key, {})
        return list(found)


def _is_binding(entry: object) -> bool:
    return isinstance(entry, dict) and "binding" in entry


def bindings_in_code(source: str) -> set[str]:
    """Names that an entry module asks for: `Binding("NAME", ...)` and `self.env.NAME`."""
    return set(_names(ast.parse(source)))


def _names(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="Binding"), args=[ast.Constant(value=str(name)), *_]):
                yield name
            case ast.Attribute(value=ast.Attribute(attr="env"), attr=name) if name.isupper():
                yield name


def worker_configs(root: Path) -> list[WorkerConfig]:
    """Every Worker of the project; tail consumers first, since a Worker that names one needs it to exist."""
    configs = [WorkerConfig.read(path) for path in sorted(root.glob("wrangler*.toml"))]
    consumers = {entry["service"] for config in configs for entry in config.all("tail_consumers")}
    return sorted(configs, key=lambda config: config.name not in consumers)
