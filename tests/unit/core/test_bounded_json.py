"""JSON from other services and from storage: nesting is limited, and a stored text that is not JSON is None."""

import pytest

from sluice.core.json_text import MAX_DEPTH, parse_bounded_json, parse_stored_json


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_limited(opening: str, closing: str):
    """The deepest allowed nesting is parsed; one level more, or a hundred thousand, is a ValueError."""
    parse_bounded_json(opening * MAX_DEPTH + "1" + closing * MAX_DEPTH)
    for depth in (MAX_DEPTH + 1, 100_000):
        with pytest.raises(ValueError, match="nested"):
            parse_bounded_json(opening * depth + "1" + closing * depth)


def test_many_brackets_without_depth():
    """Brackets side by side or in strings are not nesting."""
    assert parse_bounded_json("[" + ",".join(["[]"] * 200) + "]") == [[]] * 200
    assert parse_bounded_json('"' + "[" * 200 + '\\""') == "[" * 200 + '"'


def test_control_characters():
    """Only without `strict` may a string contain control characters."""
    assert parse_bounded_json('"a\nb"', strict=False) == "a\nb"
    with pytest.raises(ValueError, match="control character"):
        parse_bounded_json('"a\nb"')


@pytest.mark.parametrize(
    ("text", "value"), [(None, None), ("", None), ("{", None), ("[" * 99, None), ('{"a": 1}', {"a": 1})]
)
def test_stored_json(text: str | None, value: object):
    """A stored text that is missing or not JSON is None."""
    assert parse_stored_json(text) == value
