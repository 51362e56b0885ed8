"""Makes a module of lists.json, so that the lists of the repository are deployed with the Worker.

./scripts/setup runs it after every change of the file. It refuses a file that the Worker could not use.
"""

import sys
from pathlib import Path

from sluice.core.errors import SluiceError
from sluice.services.compiler.published.declared import read_declared_lists


def main(source: Path, target: Path) -> None:
    text = source.read_text(encoding="utf-8") if source.exists() else ""
    try:
        read_declared_lists("", text)
    except SluiceError as error:
        raise SystemExit(str(error)) from None
    module = f'"""The content of lists.json, written by ./scripts/setup."""\n\nLISTS_FILE = {text.strip()!r}\n'
    target.write_text(module, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
