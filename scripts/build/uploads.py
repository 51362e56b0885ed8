"""Builds what is uploaded of each Worker: its own modules, and the pages with its own API document.

wrangler uploads every Python file below the folder of `main`, and refuses rules for them, so each Worker gets a folder
of its own. It holds the entry module and the modules that this one reaches by its imports, late ones included.
./scripts/setup runs it after every change of the sources; `main` and `[assets]` of the configs name what it makes, for
wrangler and for the local runtime: what runs here is what is uploaded. `[python_modules]` in each config leaves out the
packages that its Worker does not import.
"""

import ast
import shutil
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "src"
CONSOLE: Final = SOURCE / "sluice/console"


def find_upload(main: str) -> set[Path]:
    """Return the files of the module and of all modules of this project that it reaches, relative to `src`."""
    found: set[Path] = set()
    waiting = list(_locate(main))
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += find_imported_files(file)
    return found


@cache
def find_imported_files(file: Path) -> frozenset[Path]:
    """Return the files of this project that one imports; most are part of several Workers."""
    names = set(find_imports((SOURCE / file).read_text(encoding="utf-8")))
    return frozenset(located for name in names for located in _locate(name))


def find_imports(source: str) -> Iterator[str]:
    """Yield every name that a module imports, at its top or in a function; a name may be that of a class."""
    waiting: list[ast.AST] = [ast.parse(source)]
    while waiting:
        match node := waiting.pop():
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield module
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.ImportFrom():
                raise SystemExit(f"line {node.lineno}: relative imports are not followed: write the whole name")
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                waiting += node.orelse
            case _:
                waiting += ast.iter_child_nodes(node)


def _locate(name: str) -> Iterator[Path]:
    """Yield the file of a module of this project and those of its packages; nothing for any other name."""
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        path = Path(*parts[:length])
        yield from (file for file in (path.with_suffix(".py"), path / "__init__.py") if (SOURCE / file).is_file())


def copy_files(folder: Path, origin: Path, files: set[Path]) -> None:
    """Replace the folder by one with these files."""
    part = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    for file in sorted(files):
        (part / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(origin / file, part / file)
    shutil.rmtree(folder, ignore_errors=True)
    part.rename(folder)


def list_pages() -> set[Path]:
    return {path.relative_to(CONSOLE) for path in CONSOLE.rglob("*") if path.is_file()}


def build_upload(config: dict[str, Any], documents: Path) -> None:
    main = ROOT / config["main"]
    copy_files(main.parent, SOURCE, find_upload(main.stem))
    pages = ROOT / config["assets"]["directory"]
    copy_files(pages, CONSOLE, list_pages())
    shutil.rmtree(pages / "openapi", ignore_errors=True)  # an earlier version built all documents into the sources
    (pages / "openapi").mkdir()
    shutil.copy(documents / f"{config['name']}.json", pages / "openapi")


def main(documents: Path) -> None:
    for path in sorted(ROOT.glob("wrangler*.toml")):
        build_upload(tomllib.loads(path.read_text()), documents)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
