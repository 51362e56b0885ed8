"""The whole pipeline: order, invalid names, observer and trace."""

import re

import pytest

from sluice.core.errors import Invalid
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.filters.pipeline import TRANSFORMATIONS, PipelineDrop, check_names, trace, transform

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
    """The transformations have a fixed order."""
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
        "Optimise",
        "RemoveEmptyLines",
        "InsertFinalNewLine",
    ]


def test_everything_at_once():
    """A mixed list is transformed independent of the order of the names, and the input is not changed."""
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
    """Exclusions run first, then inclusions, then the transformations."""
    result = transform(
        ["0.0.0.0 a.com", "||a.com^", "b.com"],
        ["Compress"],
        exclusions=Patterns.parse(["||a.com^"]),
        inclusions=Patterns.parse(["a.com"]),
    )
    assert result == ["||a.com^"]


def test_unknown_names():
    """The error names all unknown transformations."""
    with pytest.raises(Invalid, match=re.escape("Unknown transformations: Nope, compress.")):
        check_names(["compress", "Compress", "Nope"])


def test_two_validators():
    """Two validators are refused; the same one twice counts once."""
    message = "Validation transformations cannot be combined: Validate, ValidateAllowIp."
    with pytest.raises(Invalid, match=re.escape(message)):
        transform([], ["ValidateAllowIp", "Validate"])
    check_names(["Validate", "Validate"])


@pytest.mark.parametrize("run", [transform, trace])
def test_observer(run):
    """The observer is called before and after each step with the numbers of lines."""
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


def test_trace():
    """Each dropped line is recorded with its original index, the step, its text at that step and the reason."""
    report = trace(
        ["! c", "0.0.0.0 a.org x.a.org", "||b.org^$popup", "||b.org^", "skip", "||com^", "a.com"],
        ["RemoveComments", "Compress", "RemoveModifiers", "Validate", "Deduplicate", "InsertFinalNewLine"],
        exclusions=Patterns.parse(["skip"]),
    )
    assert report.lines == ["||a.org^", "||b.org^", "||a.com^", ""]
    assert report.origins == [1, 3, 6, -1]
    assert report.dropped == [
        PipelineDrop(4, "exclusions", "skip", "excluded by skip"),
        PipelineDrop(0, "RemoveComments", "! c", "comment"),
        PipelineDrop(1, "Compress", "||x.a.org^", "covered by ||a.org^"),
        PipelineDrop(5, "Validate", "||com^", "matches only a public suffix"),
        PipelineDrop(2, "Deduplicate", "||b.org^", "duplicate of a later line"),
    ]


def test_inclusions_in_the_trace():
    """A line that no inclusion matches has that reason."""
    report = trace(["a", "b"], [], inclusions=Patterns.parse(["a"]))
    assert report.dropped == [PipelineDrop(1, "inclusions", "b", "matches no inclusion")]


@pytest.mark.parametrize(
    ("names", "result"),
    [
        (["Compress"], ["||com^", "||localhost^", "||1.2.3.4^"]),
        (["Compress", "Validate"], ["||a.com^", "||b.a.localhost^"]),
        (["Compress", "ValidateAllowIp"], ["||a.com^", "||b.a.localhost^", "||1.2.3.4^"]),
        (["Compress", "ValidateAllowPublicSuffix"], ["||com^", "||b.a.localhost^"]),
    ],
)
def test_a_rule_that_is_dropped_later_absorbs_nothing(names, result):
    """Compress keeps the rules below one that the validator drops, in both ways to run it."""
    lines = ["0.0.0.0 com", "a.com", "b.a.com", "||localhost^", "||b.a.localhost^", "||1.2.3.4^", "||x.1.2.3.4^"]
    lines = [line for line in lines if "Validate" in names or line != "||x.1.2.3.4^"]
    assert transform(lines, names)[: len(result)] == result
    assert trace(lines, names).lines == transform(lines, names)
