"""What the terminal shows."""

import io

from sluice.cli.standard_streams import Streams
from sluice.cli.terminal import ProgressBar, describe_event, format_stage_table
from sluice.core.compiler import events
from sluice.core.compiler.configuration import Source
from sluice.core.compiler.stage_metrics import MeasuredStage, Metrics

SOURCE = Source(source="https://h.example/a.txt", name="A")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_on_a_terminal():
    """On a terminal one line shows the progress, and is cleared at the end."""
    terminal = Terminal()
    bar = ProgressBar(terminal)
    bar.show(events.progress("sources", 1, 2, "Read A"))
    bar.show(events.source_start(SOURCE, 0, 1))
    bar.show(events.transformation_start("Compress", 1234))
    bar.clear()
    half = f"[{'#' * 12}{'.' * 12}]"
    assert terminal.getvalue() == f"\r\x1b[K{half} Read A\r\x1b[K{half} Compress (1,234 lines)\r\x1b[K"


def test_no_bar_in_a_pipe():
    """In a pipe or file nothing is drawn."""
    pipe = io.StringIO()
    bar = ProgressBar(pipe)
    bar.show(events.progress("sources", 0, 0, "Read A"))
    bar.clear()
    assert pipe.getvalue() == ""


def test_descriptions():
    """A verbose run prints a line for each source and transformation."""
    emitted = [
        events.source_start(SOURCE, 0, 1),
        events.source_complete(SOURCE, 0, 1, rule_count=1234, duration_ms=56),
        events.source_error(Source(source="b.txt"), 0, 1, ValueError("gone")),
        events.transformation_complete("Compress", 1234, 5, 7),
        events.progress("sources", 0, 1, "hidden"),
    ]
    assert [describe_event(event) for event in emitted] == [
        "Reading A",
        "Read A: 1,234 lines in 56 ms",
        "Failed b.txt: gone",
        "Compress: 1,234 lines to 5 in 7 ms",
        None,
    ]


def test_stage_table():
    """A benchmark is a table of stages with a total; numbers are aligned to the right."""
    stages = (
        MeasuredStage(name="download", source="A", duration_ms=1500, lines_in=3, lines_out=3),
        MeasuredStage(name="Deduplicate", duration_ms=0.25, lines_in=1_000, lines_out=2),
    )
    metrics = Metrics(total_duration_ms=1501, stages=stages, source_count=1, rule_count=3, output_rule_count=12)
    assert format_stage_table(metrics).splitlines() == [
        "stage              ms  lines in  lines out",
        "download (A)  1,500.0         3          3",
        "Deduplicate       0.2     1,000          2",
        "total         1,501.0         3         12",
    ]


def test_names_cannot_steer_the_terminal():
    """A source's name is text wherever it is shown: in the bar, in messages, in tables and in answers."""
    name = "a\x1b[2J\r\nWrote 5 lines \u202e\x9b"
    shown = r"a\u001b[2J\u000d\u000aWrote 5 lines \u202e\u009b"
    event = events.source_start(Source(source="https://h.example/a.txt", name=name), 0, 1)
    assert describe_event(event) == f"Reading {shown}"
    terminal = Terminal()
    ProgressBar(terminal).show(events.progress("sources", 1, 2, name))
    assert terminal.getvalue().count("\x1b") == 1  # the bar's own
    assert shown in terminal.getvalue()
    answers, messages = io.BytesIO(), io.StringIO()
    streams = Streams(io.BytesIO(), answers, messages)
    streams.print_message("two\nlines \x1b")
    streams.print_answer("two\nlines \x1b")
    assert messages.getvalue() == "two\nlines \\u001b\n"
    assert answers.getvalue() == b"two\nlines \\u001b\n"
