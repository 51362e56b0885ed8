"""The whole pipeline: order, refusals, observation and the report."""

import re

import pytest

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.pipeline import TRANSFORMATIONS, DroppedLine, check_names, trace, transform

LINES = [
    "! Title",
    "0.0.0.0 ads.example.com tracker.example.com # two",
    "  ||indent.example.net^",
    "||example.net^$third-party",
    "||бюро.рф^",
    "example.com##.ad",
    "||example.net^",
    "",
]


class RecordingObserver:
    def __init__(self) -> None:
        self.calls: list[tuple[str | int, ...]] = []

    def on_step_start(self, name: str, count: int) -> None:
        self.calls.append((name, count))

    def on_step_complete(self, name: str, count_in: int, count_out: int) -> None:
        self.calls.append((name, count_in, count_out))


def test_order():
    """The order is the program's own."""
    assert list(TRANSFORMATIONS) == [
        "ConvertToAscii",
        "TrimLines",
        "RemoveComments",
        "Compress",
        "RemoveModifiers",
        "InvertAllow",
        "Validate",
        "ValidateAllowIp",
        "ValidateAllowPublicSuffix",
        "ValidateAllowIpAndPublicSuffix",
        "Deduplicate",
        "RemoveEmptyLines",
        "InsertFinalNewLine",
    ]


def test_everything_at_once():
    """A mixed list comes out clean, whatever order the names are given in, and the input is left alone."""
    names = [
        "InsertFinalNewLine",
        "Deduplicate",
        "Validate",
        "RemoveModifiers",
        "Compress",
        "TrimLines",
        "ConvertToAscii",
    ]
    before = list(LINES)
    expected = [
        "! Title",
        "||ads.example.com^",
        "||tracker.example.com^",
        "||xn--90a0af9c.xn--p1ai^",
        "||example.net^",
        "",
    ]
    assert transform(LINES, names) == transform(LINES, names[::-1]) == transform(LINES, [*names, *names]) == expected
    assert before == LINES


def test_filters_run_first():
    """Exclusions and then inclusions see the text before any transformation."""
    result = transform(
        ["0.0.0.0 a.com", "||a.com^", "b.com"],
        ["Compress"],
        exclusions=Patterns.parse(["||a.com^"]),
        inclusions=Patterns.parse(["a.com"]),
    )
    assert result == ["||a.com^"]


def test_unknown_names():
    """Names that nobody knows are refused, all of them at once."""
    with pytest.raises(Invalid, match=re.escape("Unknown transformations: Nope, compress.")):
        check_names(["compress", "Compress", "Nope"])


def test_two_validators():
    """Validators exclude each other; the same one twice is one."""
    message = "Validation transformations cannot be combined: Validate, ValidateAllowIp."
    with pytest.raises(Invalid, match=re.escape(message)):
        transform([], ["ValidateAllowIp", "Validate"])
    check_names(["Validate", "Validate"])


@pytest.mark.parametrize("run", [transform, trace])
def test_observer(run):
    """The observer hears of each step before and after it, with the numbers of lines."""
    observer = RecordingObserver()
    run(["a", "! b", "a"], ["Deduplicate", "RemoveComments"], exclusions=Patterns.parse(["x"]), observer=observer)
    assert observer.calls == [
        ("exclusions", 3),
        ("exclusions", 3, 3),
        ("RemoveComments", 3),
        ("RemoveComments", 3, 2),
        ("Deduplicate", 2),
        ("Deduplicate", 2, 1),
    ]


def test_report():
    """Each dropped line is told with its first place, the step, its text at that step and the reason."""
    report = trace(
        ["! c", "0.0.0.0 a.org x.a.org", "||b.org^$popup", "||b.org^", "skip", "||com^", "a.com"],
        ["RemoveComments", "Compress", "RemoveModifiers", "Validate", "Deduplicate", "InsertFinalNewLine"],
        exclusions=Patterns.parse(["skip"]),
    )
    assert report.lines == ["||a.org^", "||b.org^", ""]
    assert report.origins == [1, 3, -1]
    assert report.dropped == [
        DroppedLine(4, "exclusions", "skip", "excluded by skip"),
        DroppedLine(0, "RemoveComments", "! c", "comment"),
        DroppedLine(1, "Compress", "||x.a.org^", "covered by ||a.org^"),
        DroppedLine(6, "Compress", "||a.com^", "covered by ||com^"),
        DroppedLine(5, "Validate", "||com^", "matches only a public suffix"),
        DroppedLine(2, "Deduplicate", "||b.org^", "duplicate of a later line"),
    ]


def test_inclusions_in_the_report():
    """A line that no inclusion matches is told so."""
    report = trace(["a", "b"], [], inclusions=Patterns.parse(["a"]))
    assert report.dropped == [DroppedLine(1, "inclusions", "b", "matches no inclusion")]
