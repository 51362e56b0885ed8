"""Counts the source files that one request crosses."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

SOURCE = Path(__file__).parents[2] / "src"


@contextmanager
def files_crossed() -> Iterator[set[str]]:
    """Collects the files under `src`, relative to it, in which a function runs inside the block.

    The code of a module or a class body is import time and does not count. Handle the request once before the block, so
    that everything that is imported late is there.
    """
    crossed: set[str] = set()
    prefix = f"{SOURCE}/"

    def note_call(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        # A function has its own local variables; the body of a module or class has not.
        if event == "call" and code.co_flags & 0x2 and code.co_filename.startswith(prefix):
            crossed.add(code.co_filename.removeprefix(prefix))

    sys.setprofile(note_call)
    try:
        yield crossed
    finally:
        sys.setprofile(None)
