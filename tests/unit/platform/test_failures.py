"""How a foreign failure becomes a leaf of the error tree."""

import pytest

from fakes.binding import JsError
from sluice.core import errors
from sluice.core.errors import SluiceError, Unavailable
from sluice.platform.failures import TABLE, revived, translate_errors, written


@pytest.mark.parametrize(("text", "kind"), TABLE)
def test_table_decides(text, kind):
    """Each text of the table leads to its kind and to none before it, and the message says what failed."""
    with pytest.raises(SluiceError, match=r"^D1 query: ") as caught, translate_errors("D1 query"):
        raise JsError(f"before {text} after")
    assert type(caught.value) is kind


def test_unknown_failure_is_an_outage():
    """What the table does not know may pass, so it may be tried again."""
    with pytest.raises(Unavailable), translate_errors("x"):
        raise JsError("internal error; reference = abc")


def test_errors_of_python_pass():
    """An error that is not JavaScript's is a mistake of ours, or ours already, and passes unchanged."""
    for error in (ValueError("a"), TypeError("b"), errors.Conflict("c"), KeyError("d")):
        with pytest.raises(type(error)) as caught, translate_errors("x"):
            raise error
        assert caught.value is error


LEAVES = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, SluiceError)]


@pytest.mark.parametrize("kind", LEAVES)
def test_every_error_survives_as_text(kind):
    """Each error of the tree is made again from the text it crossed as, alone or at the end of a traceback."""
    error = kind("a: b\nc", 1) if kind is errors.TooManyRequests else kind("a: b\nc")
    for message in (
        written(error),
        f"PythonError: Traceback:\nValueError: x\n\nsluice.core.errors.{kind.__name__}: a: b c\n",
    ):
        again = revived(message)
        assert type(again) is kind
        assert str(again) == "a: b c"


@pytest.mark.parametrize("message", ["", "Error: x", "Sequence: x", "PythonError: Traceback\nKeyError: 'Invalid'\n"])
def test_foreign_text_is_not_revived(message):
    """Text that names no error of ours makes none."""
    assert revived(message) is None
