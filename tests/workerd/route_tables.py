"""Prints the route tables that Workers answer by, as `{worker: [[method, pattern], …]}`, for the Workers that are named.

Each entry module is asked as the runtime asks it, up to where its routes become an App; only then the platform would be
needed, which is stood in for here. A process of its own, so that no other test sees the stand-ins.
"""

import asyncio
import importlib
import json
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import AsyncMock, MagicMock

ROOT = Path(__file__).parents[2]
CONFIGS = {
    config["name"]: config for config in (tomllib.loads(path.read_text()) for path in ROOT.glob("wrangler*.toml"))
}
PLATFORM = ("js", "pyodide", "pyodide.ffi", "workers", "workers.workflows")


class Environment:
    """Has the bindings; no variable is set."""

    def __init__(self, bindings: Iterable[str]) -> None:
        self.__dict__ |= {name: build_empty_binding() for name in bindings}

    def __getattr__(self, _name: str) -> None:
        return None


def build_empty_binding() -> MagicMock:
    """Return a namespace without keys, or a database without rows."""
    statement = MagicMock(all=AsyncMock(return_value={"results": [], "meta": {"changes": 0, "last_row_id": 0}}))
    statement.bind.return_value = statement
    return MagicMock(get=AsyncMock(return_value=None), prepare=MagicMock(return_value=statement))


class Entry:
    """What the SDK's base classes are to the project's."""


class Seen(BaseException):
    """The routes that an App was to be made of; no handler for failures takes it."""

    def __init__(self, routes: Iterable[Any]) -> None:
        super().__init__()
        self.routes = [[route.method, route.pattern] for route in routes]


def show(routes: Iterable[Any], **_options: Any) -> None:
    raise Seen(routes)


def table_of(worker: str) -> list[list[str]]:
    module = importlib.import_module(Path(CONFIGS[worker]["main"]).stem)
    entry = module.Default()
    entry.env, entry.ctx = Environment(binding.name for binding in module.BINDINGS), MagicMock()
    request = MagicMock()
    request.js_object = MagicMock(method="GET", url=f"https://{worker}.localhost/", headers=[])
    try:
        asyncio.run(entry.fetch(request))
    except Seen as seen:
        return seen.routes
    raise SystemExit(f"{worker} answers without routes")


def main() -> None:
    sys.path.insert(0, str(ROOT / "src"))
    sys.modules |= {name: MagicMock() for name in PLATFORM}
    for name in ("WorkerEntrypoint", "DurableObject", "WorkflowEntrypoint"):
        setattr(sys.modules["workers"], name, Entry)
    importlib.import_module("sluice.platform.worker").App = show  # type: ignore[attr-defined]
    print(json.dumps({worker: table_of(worker) for worker in sys.argv[1:]}))  # noqa: T201 - its output is the point


if __name__ == "__main__":
    main()
