"""Print requirements of pyproject.toml, one a line: `dependencies`, or the name of a dependency group."""

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def expand(groups: dict[str, list[Any]], name: str) -> Iterator[str]:
    for entry in groups[name]:
        if isinstance(entry, str):
            yield entry
        else:
            yield from expand(groups, entry["include-group"])


def main(names: list[str]) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    groups = {**project["dependency-groups"], "dependencies": project["project"]["dependencies"]}
    for name in names:
        print(*expand(groups, name), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
