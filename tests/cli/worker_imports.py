"""Prints what an entry module imports, as JSON: the number of this project's modules, and the names of other packages.

The platform is stood in for, so this is a process of its own.
"""

import importlib
import json
import sys
from pathlib import Path
from unittest.mock import MagicMock

SOURCE = Path(__file__).parents[2] / "src"
PLATFORM = ("js", "pyodide", "pyodide.ffi", "workers", "workers.workflows")


class Entry:
    """What the SDK's base classes are to the project's."""


def main() -> None:
    sys.path.insert(0, str(SOURCE))
    sys.modules |= {name: MagicMock() for name in PLATFORM}
    for name in ("WorkerEntrypoint", "DurableObject", "WorkflowEntrypoint"):
        setattr(sys.modules["workers"], name, Entry)
    before = set(sys.modules)
    importlib.import_module(sys.argv[1])
    files = {name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
    modules = [name for name, file in files.items() if file.startswith(str(SOURCE))]
    packages = {name.partition(".")[0] for name, file in files.items() if "site-packages" in file}
    print(json.dumps({"modules": len(modules), "packages": sorted(packages)}))  # noqa: T201 - its output is the point


if __name__ == "__main__":
    main()
