"""One line of JSON per unit of work, readable in `wrangler tail`; secrets masked, sizes bounded, never a failure."""

import json
import re
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final

from sluice.core.ports import Clock
from sluice.core.timestamps import iso

MAX_TEXT: Final = 2000
MAX_TRACEBACK: Final = 8000
MAX_ITEMS: Final = 50
MAX_DEPTH: Final = 4
_SECRET: Final = re.compile(r"token|secret|key|authorization|signature|password|cookie", re.IGNORECASE)


class Log:
    """Writes events of one Worker through `write`, which takes a level and a line."""

    def __init__(self, write: Callable[[str, str], object], *, worker: str, clock: Clock) -> None:
        self._write = write
        self._worker = worker
        self._clock = clock

    def event(self, name: str, /, **fields: object) -> None:
        """What was done, and how it ended."""
        self._line("info", name, fields)

    def error(self, name: str, error: BaseException, /, **fields: object) -> None:
        """What failed, with where it did."""
        place = _text("".join(traceback.format_exception(error)))[-MAX_TRACEBACK:]
        said = {"error": type(error).__name__, "message": _text(error)[:MAX_TEXT]}
        self._line("error", name, fields, **said, traceback=place)

    def _line(self, level: str, name: str, fields: Mapping[str, object], **more: str) -> None:
        head = {"time": iso(self._clock.now()), "level": level, "worker": self._worker, "event": name}
        own = {key: value for key, value in _masked(fields, 0).items() if key not in head}
        self._write(level, json.dumps({**head, **own, **more}, ensure_ascii=False))


def _masked(fields: Mapping[Any, object], depth: int) -> dict[str, object]:
    pairs = [(_text(name), value) for name, value in list(fields.items())[:MAX_ITEMS]]
    return {name: "***" if _SECRET.search(name) else _bounded(value, depth + 1) for name, value in pairs}


def _bounded(value: object, depth: int) -> object:
    match value:
        case None | bool():
            return value
        case int() if abs(value) < 2**63:
            return value
        case float() if abs(value) < float("inf"):
            return value
        case Mapping() | list() | tuple() | set() | frozenset() if depth > MAX_DEPTH:
            # Not its text, in which nothing would be masked.
            return "…"
        case Mapping():
            return _masked(value, depth)
        case (str(name), _) if _SECRET.search(name):
            return [name, "***"]
        case list() | tuple() | set() | frozenset():
            return [_bounded(item, depth + 1) for item in list(value)[:MAX_ITEMS]]
    text = _text(value)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def _text(value: object) -> str:
    """A lone surrogate would fail later, when the line is written as UTF-8."""
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception as error:  # noqa: BLE001 - a value that cannot be shown must not end the work it is part of
        text = f"<{type(value).__name__}: {type(error).__name__}>"
    return text.encode("utf-8", "backslashreplace").decode()
