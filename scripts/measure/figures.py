"""Keeps docs/figures.md: each section is one command, and its fenced block is what that command printed.

A section begins with `## NAME`, or `## NAME --option` for a command that has more than one use; the longest heading of which
the command line has every word is its own. What stands above the block is prose for the reader, and stays.
"""

import io
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path, PurePath
from shlex import quote
from typing import Final

FIGURES: Final = Path(__file__).parents[2] / "docs/figures.md"
WRITE: Final = "--write"
_HEADING: Final = re.compile(r"(?m)^## (.+)\n")
_BLOCK: Final = re.compile(r"(?ms)^```\n.*?^```\n")


class _Copy(io.StringIO):
    """Keeps what is printed, and shows it at once."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = sys.stdout

    def write(self, text: str) -> int:
        self._shown.write(text)
        return super().write(text)

    def flush(self) -> None:
        self._shown.flush()


@contextmanager
def keep_printed() -> Iterator[io.StringIO]:
    """Within it all that this process prints is kept, and shown as always."""
    copy = _Copy()
    with redirect_stdout(copy):
        yield copy


def write_figures(path: Path, arguments: Sequence[str], printed: str) -> None:
    """Put what a command printed into its section of the file; a command without a section gets one at the end."""
    path.write_text(place_figures(path.read_text(encoding="utf-8"), arguments, printed), encoding="utf-8")


def place_figures(document: str, arguments: Sequence[str], printed: str) -> str:
    """Return the document with what was printed in the block of the command's section."""
    words = [argument for argument in arguments if argument != WRITE]
    block = f"```\n$ ./scripts/bench {' '.join(map(_shorten, words))}\n{_tidy(printed)}\n```\n"
    headings = [each for each in _HEADING.finditer(document) if set(each[1].split()) <= set(words)]
    if not headings:
        return f"{document.rstrip()}\n\n## {words[0]}\n\n{block}"
    own = max(headings, key=lambda heading: len(heading[1].split()))
    following = _HEADING.search(document, own.end())
    end = following.start() if following else len(document)
    section = document[own.end() : end]
    if _BLOCK.search(section):
        placed = _BLOCK.sub(lambda _: block, section, count=1)
    else:
        placed = f"{section.rstrip()}\n\n{block}" + ("\n" if following else "")
    return document[: own.end()] + placed + document[end:]


def list_sections(document: str) -> list[str]:
    """Return the headings: the commands that have a section."""
    return [heading[1] for heading in _HEADING.finditer(document)]


def _shorten(argument: str) -> str:
    """Return an argument without the folders of this machine."""
    return quote(PurePath(argument).name if argument.startswith("/") else argument)


def _tidy(printed: str) -> str:
    return "\n".join(line.rstrip() for line in printed.strip("\n").splitlines())
