"""Cuts the Public Suffix List of the Worker's packages down to what is used: the ICANN rules, without comments.

./scripts/setup runs it on the vendored file. Cutting a second time changes nothing.
"""

import sys
from pathlib import Path
from typing import Final

_END: Final = "===END ICANN DOMAINS==="


def cut_public_suffixes(text: str) -> str:
    """Return the rules of the ICANN section, one on a line, and the mark of its end."""
    rules, end, _ = text.partition(_END)
    if not end:
        raise SystemExit(f"the public suffix list has no line {_END}: its format has changed")
    lines = [line.strip() for line in rules.splitlines()]
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("//")) + f"// {_END}\n"


def main(file: Path) -> None:
    file.write_text(cut_public_suffixes(file.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
