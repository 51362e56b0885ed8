"""How a foreign error becomes an error of the tree."""

import pytest

from fakes.binding import JsError
from sluice.core import errors
from sluice.core.errors import SluiceError, Unavailable
from sluice.core.remote_errors import encode_error
from sluice.platform.failures import TABLE, find_error, translate_errors


@pytest.mark.parametrize(("text", "kind"), TABLE)
def test_table_decides(text, kind):
    """Each text of the table leads to its kind and to no earlier one, and the message says what failed."""
    with pytest.raises(SluiceError, match=r"^D1 query: ") as caught, translate_errors("D1 query"):
        raise JsError(f"before {text} after")
    assert type(caught.value) is kind


def test_unknown_failure_is_an_outage():
    """A message that the table does not contain is Unavailable, which may be retried."""
    with pytest.raises(Unavailable), translate_errors("x"):
        raise JsError("internal error; reference = abc")


def test_errors_of_python_pass():
    """An error of Python passes unchanged: it is a defect of ours, or already an error of the tree."""
    for error in (ValueError("a"), TypeError("b"), errors.Conflict("c"), KeyError("d")):
        with pytest.raises(type(error)) as caught, translate_errors("x"):
            raise error
        assert caught.value is error


LEAVES = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SluiceError)]


@pytest.mark.parametrize("kind", LEAVES)
def test_every_error_survives_as_text(kind):
    """Each error of the tree is made again from its encoded form, alone or at the end of a traceback."""
    error = kind("a: b\nc", 17) if kind is errors.TooManyRequests else kind("a: b\nc")
    for message in (
        encode_error(error),
        f"PythonError: Traceback:\nValueError: x\n\nStepFailed: {encode_error(error)}\n",
    ):
        again = find_error(message)
        assert type(again) is kind
        assert str(again) == "a: b\nc"
        assert getattr(again, "retry_after_s", None) == getattr(error, "retry_after_s", None)


@pytest.mark.parametrize("kind", LEAVES)
def test_uncaught_errors_keep_their_kind(kind):
    """An error that nobody encoded is made again from the last line of its traceback."""
    for prefix in ("PythonError: Traceback:\nValueError: x\n\nsluice.core.errors.", ""):
        again = find_error(f"{prefix}{kind.__name__}: a: b c\n")
        assert type(again) is kind
        assert str(again) == "a: b c"


@pytest.mark.parametrize("message", ["", "Error: x", "Sequence: x", "PythonError: Traceback\nKeyError: 'Invalid'\n"])
def test_foreign_text_is_no_error_of_ours(message):
    """A text that names no error of ours yields none."""
    assert find_error(message) is None
