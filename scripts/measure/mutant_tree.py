"""A copy of the project of which one file differs; everything else is a link, so that it takes a millisecond and nothing is edited."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

# What a run of the tests makes, or does not read.
HIDDEN: Final = frozenset({".git", ".cache", "__pycache__"})


def copy_tree(root: Path, tree: Path, path: Path | None = None, source: str = "") -> None:
    """Fill an empty folder with links to the project; the changed file and the folders above it are its own."""
    own = path.parts if path else ()
    for depth in range(max(1, len(own))):
        folder = Path(*own[:depth])
        (tree / folder).mkdir(exist_ok=True)
        for each in _list_folder(root / folder):
            if not own or each.name != own[depth]:
                (tree / folder / each.name).symlink_to(each)
    if path:
        (tree / path).write_text(source, encoding="utf-8")
        _link_compiled(root / path, tree / path)


def _list_folder(folder: Path) -> Iterator[Path]:
    return (each for each in folder.iterdir() if each.name not in HIDDEN)


def _link_compiled(original: Path, changed: Path) -> None:
    """Link the compiled neighbours of a changed file, and not its own compiled form."""
    compiled = changed.parent / "__pycache__"
    compiled.mkdir()
    for each in (original.parent / "__pycache__").glob("*.pyc"):
        if not each.name.startswith(f"{original.stem}."):
            (compiled / each.name).symlink_to(each)
