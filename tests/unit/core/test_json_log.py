"""The structured log: one line of bounded size, without secrets, and it never fails."""

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from sluice.core.json_log import MAX_ITEMS, MAX_TEXT, MAX_TRACEBACK, JsonLog


def make_log(lines: list[tuple[str, str]], clock: ManualClock) -> JsonLog:
    return JsonLog(lambda level, line: lines.append((level, line)), worker="w", clock=clock)


def log_event(**fields: object) -> dict[str, Any]:
    lines: list[tuple[str, str]] = []
    make_log(lines, ManualClock(1_800_000_000.5)).event("list.compiled", **fields)
    ((level, line),) = lines
    assert level == "info"
    assert "\n" not in line
    line.encode()
    parsed: dict[str, Any] = json.loads(line)
    return parsed


def test_event_is_one_line_of_json():
    """An event says when, who, what, and what was measured."""
    assert log_event(rules=3, ok=True, ratio=0.5, name=None) == {
        "time": "2027-01-15T08:00:00.500Z",
        "level": "info",
        "worker": "w",
        "event": "list.compiled",
        "rules": 3,
        "ok": True,
        "ratio": 0.5,
        "name": None,
    }


@pytest.mark.parametrize("name", ["token", "ADMIN_TOKEN", "secretValue", "api_key", "Authorization", "x_signature"])
def test_secrets_are_masked(name):
    """A field with the name of a secret is masked, at any depth and in pairs of headers."""
    line = log_event(
        **{name: "s3cret", "nested": {"a": [{name: "s3cret"}]}, "headers": [(name, "s3cret"), ("accept", "x")]}
    )
    assert "s3cret" not in json.dumps(line)
    assert line[name] == "***"
    assert line["headers"] == [[name, "***"], ["accept", "x"]]


def test_deep_values_are_cut_not_shown():
    """Past the depth shown, a value is left out, since nothing would be masked in its text."""
    assert "s3cret" not in json.dumps(log_event(a={"b": {"c": {"d": {"e": {"token": "s3cret"}}}}}))


def test_sizes_are_bounded():
    """Long texts and long lists are cut."""
    line = log_event(text="x" * 10_000, items=list(range(1000)), number=10**400)
    assert line["text"] == "x" * MAX_TEXT + "…"
    assert len(line["items"]) == MAX_ITEMS
    assert len(line["number"]) <= MAX_TEXT + 1


def test_own_fields_cannot_be_forged():
    """A field named like one of the log's own does not replace it."""
    assert log_event(time="never", worker="x", level="fine")["worker"] == "w"


def failed() -> ValueError:
    """Return an error with a traceback, as it is caught."""
    with pytest.raises(ValueError) as caught:
        int("odd" * 5_000, base=99)
    return caught.value


def test_error_has_its_place():
    """An error is written at its level, with its kind, its message and the end of its traceback, each bounded."""
    lines: list[tuple[str, str]] = []
    make_log(lines, ManualClock()).error("job.failed", ValueError("odd" * 10_000), job=7)
    level, text = lines[0]
    line = json.loads(text)
    assert level == line["level"] == "error"
    assert (line["event"], line["error"], line["job"]) == ("job.failed", "ValueError", 7)
    assert len(line["message"]) == MAX_TEXT
    assert len(line["traceback"]) == MAX_TRACEBACK


def test_traceback_names_the_line():
    """The traceback says where the error came from."""
    lines: list[tuple[str, str]] = []
    make_log(lines, ManualClock()).error("job.failed", failed())
    assert "in failed" in json.loads(lines[0][1])["traceback"]


class Odd:
    """Cannot be shown."""

    def __str__(self) -> str:
        raise RuntimeError("no")


def test_odd_values_are_logged_somehow():
    """A value that cannot be shown, a lone surrogate and infinity do not fail the work they are part of."""
    line = log_event(odd=Odd(), surrogate="\ud800", infinite=float("inf"), nan=float("nan"), raw=b"\xff", mixed={1: 2})
    assert line["odd"] == "<Odd: RuntimeError>"
    assert line["surrogate"] == "\\ud800"
    assert line["infinite"] == "inf"
    assert line["mixed"] == {"1": 2}


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(st.dictionaries(st.text(), ANYTHING))
def test_any_value_makes_one_line(fields):
    """Whatever is logged, the line is one line of JSON."""
    assert log_event(value=fields)["event"] == "list.compiled"


@given(st.text())
def test_a_line_cannot_steer_a_terminal(text: str):
    """No control character, line separator or change of direction is in the line as such; the value is the same."""
    lines: list[tuple[str, str]] = []
    make_log(lines, ManualClock()).event("fetched", name=text)
    [(_, line)] = lines
    assert not [each for each in line if unicodedata.category(each) in {"Cc", "Zl", "Zp"} or each in BIDI]
    assert len(line.splitlines()) == 1
    assert json.loads(line)["name"] == text.encode("utf-8", "backslashreplace").decode()


BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
