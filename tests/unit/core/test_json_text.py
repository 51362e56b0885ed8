"""Strict JSON: what is refused, and with which message."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid, SluiceError
from sluice.core.json_text import MAX_DEPTH, parse_json

PIECES = st.sampled_from(["[", "]", "{", "}", '"', "\\", ",", ":", "1", "e9", "-", "a", "NaN", "\\ud800", " ", "\n"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the body is empty; JSON is expected"),
        (b" \n", "the body is empty; JSON is expected"),
        (b'{\n  "a": }', "the body is not JSON: Expecting value at line 2, column 8"),
        (b"{} x", "the body is not JSON: Extra data at line 1, column 4"),
        (b'{"a": "\xff"}', "the body is not UTF-8: see byte 7"),
        ('{"a": 1}'.encode("utf-16"), "the body is not UTF-8: see byte 0"),
        (b"[NaN]", "NaN is not a JSON number"),
        (b"[-Infinity]", "-Infinity is not a JSON number"),
        (b"[1e999]", 'the number "1e999" is too large'),
        (b'{"a": {"b": 1, "c": 2, "b": 1}}', 'the key "b" appears twice in one object'),
        (b'["\\ud800"]', "the body contains half of a surrogate pair, which is not a character"),
        (b'{"\\uDFFF": 1}', "the body contains half of a surrogate pair, which is not a character"),
    ],
)
def test_unclear_json_is_refused_with_the_reason(content, reason):
    """Text that two parsers could read differently is refused, and the message names the place."""
    with pytest.raises(Invalid) as caught:
        parse_json(content)
    assert str(caught.value) == reason


def test_a_number_of_thousands_of_digits_is_refused():
    """An absurd number is refused with a short message."""
    with pytest.raises(Invalid, match="too large") as caught:
        parse_json(b"1" * 5000)
    assert len(str(caught.value)) < 100


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b'\xef\xbb\xbf{"a": 1}', {"a": 1}),
        (b'"\\ud83d\\ude00"', "😀"),
        ('"\u2028"'.encode(), "\u2028"),
        (b'{"a": {"b": 1}, "c": {"b": 2}}', {"a": {"b": 1}, "c": {"b": 2}}),
        (b'"' + b"[" * 500 + b'\\"{"', "[" * 500 + '"{'),
    ],
)
def test_ordinary_json_is_parsed(content, value):
    """A BOM, a whole surrogate pair, equal keys in different objects and brackets in strings are accepted."""
    assert parse_json(content) == value


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_is_bounded(opening, closing):
    """The deepest allowed nesting is parsed; one level more, or a hundred thousand, is Invalid."""
    parse_json(opening * MAX_DEPTH + b"1" + closing * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(Invalid, match="nested"):
            parse_json(opening * depth + b"1" + closing * depth)


def test_an_unfinished_string_costs_one_pass():
    """A megabyte of escaped quotes without an end is refused quickly."""
    with pytest.raises(Invalid, match="Unterminated string"):
        parse_json(b'"' + b'\\"' * 500_000)


@given(JSON)
def test_encoded_json_is_parsed_back(value):
    """Any JSON value survives encoding and parsing."""
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary() | st.text().map(str.encode) | st.lists(PIECES).map("".join).map(str.encode))
def test_any_bytes_are_parsed_or_refused(content):
    """No bytes make the parser raise anything but a SluiceError."""
    try:
        json.dumps(parse_json(content)).encode()
    except SluiceError as error:
        assert error.status == 400  # noqa: PT017 - not raising is fine too
