"""Prints what a Worker imports, as JSON: the number of this project's modules, and the names of other packages.

Its argument is the entry module in the folder of the upload, which has no other modules of this project. With `--all`
every module of the upload is imported, as if all that is imported late were needed.

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
        print_imports(Path(sys.argv[1]), packages, everything="--all" in sys.argv)


def list_modules(folder: Path) -> list[str]:
    names = [".".join(path.relative_to(folder).with_suffix("").parts) for path in sorted(folder.rglob("*.py"))]
    return [name.removesuffix(".__init__") for name in names]


def print_imports(entry: Path, packages_folder: str, *, everything: bool) -> None:
    for name in [name for name in sys.modules if name.startswith("pydantic")]:
        del sys.modules[name]
    sys.path[:0] = [str(entry.parent), packages_folder]
    sys.dont_write_bytecode = True
    sys.modules |= {name: MagicMock() for name in PLATFORM}
    for name in ("WorkerEntrypoint", "DurableObject", "WorkflowEntrypoint"):
        setattr(sys.modules["workers"], name, Entry)
    before = set(sys.modules)
    for name in [entry.stem, *(list_modules(entry.parent) if everything else [])]:
        importlib.import_module(name)
    files = {name: getattr(sys.modules[name], "__file__", None) or "" for name in set(sys.modules) - before}
    modules = [name for name, file in files.items() if file.startswith(str(entry.parent))]
    packages = {
        name.partition(".")[0]
        for name, file in files.items()
        if "site-packages" in file or file.startswith(packages_folder)
    }
    print(json.dumps({"modules": len(modules), "packages": sorted(packages)}))  # noqa: T201 - its output is the point


if __name__ == "__main__":
    main()
