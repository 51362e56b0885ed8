"""An error that is sent between objects keeps its type, message and fields."""

import json

import pytest

from sluice.core import errors
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests
from sluice.core.remote_errors import decode_error, encode_error, find_encoded_error

KINDS = [
    kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, SluiceError) and kind not in {Invalid, TooManyRequests}
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.__name__))
def test_kind_and_text_survive(kind: type[SluiceError]):
    """Every error type is decoded as itself, with any text."""
    decoded = decode_error(encode_error(kind('a: "b"\nc é')))
    assert (type(decoded), str(decoded)) == (kind, 'a: "b"\nc é')


def test_retry_after_survives():
    """Retry-After is kept."""
    decoded = decode_error(encode_error(TooManyRequests("later", 17)))
    assert isinstance(decoded, TooManyRequests)
    assert decoded.retry_after_s == 17


def test_fields_survive():
    """The bad fields are kept."""
    decoded = decode_error(encode_error(Invalid("bad", [BadField("a.b[2]", "is no URL")])))
    assert isinstance(decoded, Invalid)
    assert decoded.fields == (BadField("a.b[2]", "is no URL"),)


@pytest.mark.parametrize("kind", ["Newer", "Sequence", "dataclass"])
def test_unknown_kinds_stay_errors(kind: str):
    """An error of a newer version, or a name that is not an error, is decoded as a plain SluiceError."""
    decoded = decode_error(json.dumps({"kind": kind, "message": "m", "retryAfterS": None, "fields": []}))
    assert (type(decoded), str(decoded)) == (SluiceError, "m")


def test_the_last_error_of_a_text_is_found():
    """Within a longer text the last encoded error counts, whatever stands around it."""
    text = f"Traceback\nFirst: {encode_error(Invalid('a'))}\nSecond: {encode_error(TooManyRequests('b', 5))} at step"
    found = find_encoded_error(text)
    assert isinstance(found, TooManyRequests)
    assert (str(found), found.retry_after_s) == ("b", 5)


@pytest.mark.parametrize(
    "text", ["", "Error: x", '{"kind": "Invalid"', '{"kind": "Invalid"}', '{"kind": "a"} {"kind": "']
)
def test_foreign_text_holds_no_error(text: str):
    """A text that only looks like an encoded error yields none."""
    assert find_encoded_error(text) is None
