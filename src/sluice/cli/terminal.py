"""What the terminal shows while a list is compiled: progress bar, messages and stage table."""

from collections.abc import Callable
from shutil import get_terminal_size
from typing import Any, Final, TextIO

from sluice.core.compiler.events import Event
from sluice.core.compiler.stage_metrics import MeasuredStage, Metrics
from sluice.core.json_text import escape_controls

_BAR_WIDTH: Final = 24
_CLEAR: Final = "\r\x1b[K"


class ProgressBar:
    """One line that is redrawn with each event; draws nothing if the stream is not a terminal."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_visible = stream.isatty()
        self._bar = ""

    def show(self, event: Event) -> None:
        if event.name == "progress":
            self._bar = _format_bar(event.data["current"], event.data["total"])
            self._write(event.data["message"])
        elif event.name == "transformation:start":
            self._write(f"{event.data['name']} ({event.data['inputCount']:,} lines)")

    def clear(self) -> None:
        if self._is_visible:
            self._stream.write(_CLEAR)
            self._stream.flush()

    def _write(self, text: str) -> None:
        if self._is_visible:
            columns = get_terminal_size().columns
            self._stream.write(_CLEAR + escape_controls(f"{self._bar} {text}")[: columns - 1])
            self._stream.flush()


def _format_bar(current: int, total: int) -> str:
    filled = _BAR_WIDTH * current // total if total else _BAR_WIDTH
    return f"[{'#' * filled}{'.' * (_BAR_WIDTH - filled)}]"


def _source_name(data: Any) -> str:
    source = data["source"]
    return str(source.get("name") or source["source"])


_DESCRIPTIONS: Final[dict[str, Callable[[Any], str]]] = {
    "source:start": lambda data: f"Reading {_source_name(data)}",
    "source:complete": lambda data: (
        f"Read {_source_name(data)}: {data['ruleCount']:,} lines in {data['durationMs']:,} ms"
    ),
    "source:error": lambda data: f"Failed {_source_name(data)}: {data['error']}",
    "transformation:complete": lambda data: (
        f"{data['name']}: {data['inputCount']:,} lines to {data['outputCount']:,} in {data['durationMs']:,} ms"
    ),
}


def describe_event(event: Event) -> str | None:
    """Describe the event for a verbose run; return None for events that only the progress bar needs."""
    describe = _DESCRIPTIONS.get(event.name)
    return escape_controls(describe(event.data)) if describe else None


def format_stage_table(metrics: Metrics) -> str:
    """Format every stage with its duration and its lines in and out, and the total."""
    rows = [("stage", "ms", "lines in", "lines out"), *map(_format_row, metrics.stages)]
    rows.append(
        ("total", f"{metrics.total_duration_ms:,.1f}", f"{metrics.rule_count:,}", f"{metrics.output_rule_count:,}")
    )
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join(
        f"{row[0]:<{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:>{widths[3]}}" for row in rows
    )


def _format_row(stage: MeasuredStage) -> tuple[str, str, str, str]:
    name = stage.name if stage.source is None else f"{stage.name} ({escape_controls(stage.source)})"
    return name, f"{stage.duration_ms:,.1f}", f"{stage.lines_in:,}", f"{stage.lines_out:,}"
