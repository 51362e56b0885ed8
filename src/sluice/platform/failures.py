"""Foreign failures, translated once: what a binding threw becomes a leaf of the error tree."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from sluice.core import errors
from sluice.core.errors import ConfigError, Conflict, Invalid, NotFound, Refused, SluiceError, TooLarge, Unavailable

# The first text found in the message decides. What matches nothing is Unavailable: most failures left are the network's.
TABLE: Final[tuple[tuple[str, type[SluiceError]], ...]] = (
    ("UNIQUE constraint failed", Conflict),
    ("constraint failed", Invalid),
    ("SQLITE_TOOBIG", TooLarge),
    ("no such table", ConfigError),
    ("no such column", ConfigError),
    ("has no column", ConfigError),
    ("SQLITE_ERROR", SluiceError),
    ("Wrong number of parameter bindings", SluiceError),
    ("D1_TYPE_ERROR", SluiceError),
    ("failed: 400", Invalid),
    ("failed: 413", TooLarge),
    ("failed: 414", Invalid),
    ("(10012)", TooLarge),
    ("(10020)", Invalid),
    ("(10039)", Invalid),
    ("instance.not_found", NotFound),
    ("instance.already_exists", Conflict),
    ("instance.cannot_", Conflict),
    ("Workflow instance has invalid id", Invalid),
    ("does not implement the method", ConfigError),
    ("Cannot cache response", Refused),
)

# An error of ours that crossed JavaScript is only text by then: the last line of a traceback, or our own "Name: text".
_OURS: Final = re.compile(r"^(?:sluice\.core\.errors\.)?(\w+): (.*)$", re.MULTILINE)


def get_js_message(error: BaseException) -> str | None:
    """The text of a JavaScript error (pyodide's JsException); None for an error of Python's own."""
    message = getattr(error, "message", None)
    return message if isinstance(message, str) else None


@contextmanager
def translate_errors(what: str) -> Iterator[None]:
    """Within it, a JavaScript error is raised as a SluiceError that says `what` failed."""
    try:
        yield
    except Exception as error:
        message = get_js_message(error)
        if message is None:
            raise
        raise (revived(message) or _by_table(what, message)) from error


def revived(message: str) -> SluiceError | None:
    """The SluiceError a message was made from on the other side, or None."""
    for name, text in reversed(_OURS.findall(message)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, SluiceError):
            return kind(text, retry_after_s=1) if issubclass(kind, errors.TooManyRequests) else kind(text)
    return None


def written(error: Exception) -> str:
    """One line from which `revived` makes the error again."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _by_table(what: str, message: str) -> SluiceError:
    kind = next((kind for text, kind in TABLE if text in message), Unavailable)
    return kind(f"{what}: {message}")
