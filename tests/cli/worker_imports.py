"""Prints what an entry module imports, as JSON: the number of this project's modules, and the names of other packages.

The platform is stood in for, so this is a process of its own. It imports pydantic as a Worker has it, on this interpreter.
"""

import importlib
import json
import shutil
import sys
import tempfile
from pathlib import Path
from unittest.mock import MagicMock

from pydantic_core import _pydantic_core

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
PLATFORM = ("js", "pyodide", "pyodide.ffi", "workers", "workers.workflows")


class Entry:
    """What the SDK's base classes are to the project's."""


def copy_packages(folder: Path) -> None:
    """Copy the Worker's pydantic, and the part of it that is compiled for this interpreter."""
    for package in ("pydantic", "pydantic_core"):
        shutil.copytree(
            ROOT / "python_modules" / package, folder / package, ignore=shutil.ignore_patterns("*.pyc", "*.so")
        )
    shutil.copy(str(_pydantic_core.__file__), folder / "pydantic_core")


def main() -> None:
    with tempfile.TemporaryDirectory() as packages:
        copy_packages(Path(packages))
        print_imports(packages)


def print_imports(packages_folder: str) -> None:
    for name in [name for name in sys.modules if name.startswith("pydantic")]:
        del sys.modules[name]
    sys.path[:0] = [str(SOURCE), packages_folder]
    sys.modules |= {name: MagicMock() for name in PLATFORM}
    for name in ("WorkerEntrypoint", "DurableObject", "WorkflowEntrypoint"):
        setattr(sys.modules["workers"], name, Entry)
    before = set(sys.modules)
    importlib.import_module(sys.argv[1])
    files = {name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
    modules = [name for name, file in files.items() if file.startswith(str(SOURCE))]
    packages = {
        name.partition(".")[0]
        for name, file in files.items()
        if "site-packages" in file or file.startswith(packages_folder)
    }
    print(json.dumps({"modules": len(modules), "packages": sorted(packages)}))  # noqa: T201 - its output is the point


if __name__ == "__main__":
    main()
