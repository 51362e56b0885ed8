"""A log of JSON lines, readable in `wrangler tail`: secrets are masked, no control character reaches a terminal, sizes are bounded, and logging never fails."""

import json
import re
import traceback
from collections.abc import Callable, Mapping
from typing import Any, Final

from sluice.core.json_text import escape_controls
from sluice.core.ports import Clock
from sluice.core.timestamps import iso

MAX_TEXT: Final = 2000
MAX_TRACEBACK: Final = 8000
MAX_ITEMS: Final = 50
MAX_DEPTH: Final = 4
_SECRET: Final = re.compile(r"token|secret|key|authorization|signature|password|cookie", re.IGNORECASE)


class JsonLog:
    """Writes the events of one Worker through `write`, which takes a level and a line."""

    def __init__(self, write: Callable[[str, str], object], *, worker: str, clock: Clock) -> None:
        self._write = write
        self._worker = worker
        self._clock = clock

    def event(self, name: str, /, **fields: object) -> None:
        """Write what was done and how it ended."""
        self._write_line("info", name, fields)

    def error(self, name: str, error: BaseException, /, **fields: object) -> None:
        """Write what failed, with the traceback."""
        message = _to_text(error)[:MAX_TEXT]
        lines = _to_text("".join(traceback.format_exception(error)))[-MAX_TRACEBACK:]
        self._write_line("error", name, fields, error=type(error).__name__, message=message, traceback=lines)

    def _write_line(self, level: str, name: str, fields: Mapping[str, object], **more: str) -> None:
        head = {"time": iso(self._clock.now()), "level": level, "worker": self._worker, "event": name}
        masked = {key: value for key, value in _mask_fields(fields, 0).items() if key not in head}
        self._write(level, escape_controls(json.dumps({**head, **masked, **more}, ensure_ascii=False)))


def _mask_fields(fields: Mapping[Any, object], depth: int) -> dict[str, object]:
    pairs = [(_to_text(name), value) for name, value in list(fields.items())[:MAX_ITEMS]]
    return {name: "***" if _SECRET.search(name) else _bound_value(value, depth + 1) for name, value in pairs}


def _bound_value(value: object, depth: int) -> object:
    match value:
        case None | bool():
            return value
        case int() if abs(value) < 2**63:
            return value
        case float() if abs(value) < float("inf"):
            return value
        case Mapping() | list() | tuple() | set() | frozenset() if depth > MAX_DEPTH:
            # Its text would show secrets unmasked.
            return "…"
        case Mapping():
            return _mask_fields(value, depth)
        case (str(name), _) if _SECRET.search(name):
            return [name, "***"]
        case list() | tuple() | set() | frozenset():
            return [_bound_value(item, depth + 1) for item in list(value)[:MAX_ITEMS]]
    text = _to_text(value)
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"


def _to_text(value: object) -> str:
    """Return text that can be written as UTF-8: lone surrogates are escaped."""
    try:
        text = value if isinstance(value, str) else str(value)
    except Exception as error:  # noqa: BLE001 - a value without a text must not stop the work that logs it
        text = f"<{type(value).__name__}: {type(error).__name__}>"
    return text.encode("utf-8", "backslashreplace").decode()
