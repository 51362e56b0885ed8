"""Prepares the Public Suffix List of the Worker's packages: only what is used, in the form in which it is used.

./scripts/setup runs it on the vendored file.
"""

import sys
from pathlib import Path

from sluice.core.filters.syntax.public_suffixes import prepare_public_suffixes


def main(file: Path) -> None:
    file.write_text(prepare_public_suffixes(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
