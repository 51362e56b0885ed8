"""Counts the source files that one request crosses."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import sluice

# The folder of the sources, on this machine and inside a Worker.
SOURCE = Path(sluice.__file__).parents[1]
_IS_FUNCTION = 0x2  # the flag of code with local variables of its own; the body of a module or class has none


@contextmanager
def files_crossed() -> Iterator[set[str]]:
    """Collect the files under `src`, relative to it, in which a function runs inside the block.

    The code of a module or a class body is import time and does not count. Handle the request once before the block, so
    that everything that is imported late is there.
    """
    crossed: set[str] = set()
    prefix = f"{SOURCE}/"

    def note(code: CodeType) -> None:
        if code.co_flags & _IS_FUNCTION and code.co_filename.startswith(prefix):
            crossed.add(code.co_filename.removeprefix(prefix))

    stop = _monitor(note) if hasattr(sys, "monitoring") else _profile(note)
    try:
        yield crossed
    finally:
        stop()
        crossed.discard(__file__.removeprefix(prefix))  # inside a Worker this file is among the sources


def _monitor(note: Callable[[CodeType], None]) -> Callable[[], None]:
    """See all of the interpreter: inside a Worker a request comes back from every await on a stack of its own."""
    monitoring = sys.monitoring  # type: ignore[attr-defined]
    events = monitoring.events
    tool = monitoring.PROFILER_ID
    monitoring.use_tool_id(tool, "files crossed")
    for event in (events.PY_START, events.PY_RESUME):
        monitoring.register_callback(tool, event, lambda code, _offset: note(code))
    monitoring.set_events(tool, events.PY_START | events.PY_RESUME)
    return lambda: monitoring.free_tool_id(tool)


def _profile(note: Callable[[CodeType], None]) -> Callable[[], None]:
    """Do the same before Python 3.12, for one thread."""

    def on_event(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            note(frame.f_code)

    sys.setprofile(on_event)
    return lambda: sys.setprofile(None)
