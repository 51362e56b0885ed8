"""Translates what the platform throws into the error tree.

The platform tells its failures apart by message only, so this is the one module that reads foreign error texts.
"""

import re
from typing import Final

from sluice.core import errors
from sluice.core.errors import (
    ConfigError,
    Conflict,
    Invalid,
    LimitReached,
    NotFound,
    Refused,
    SluiceError,
    TooLarge,
    Unavailable,
)
from sluice.core.remote_errors import find_encoded_error

# The first text that the message contains decides. Any other failure is Unavailable, because most of them are the network's.
TABLE: Final[tuple[tuple[str, type[SluiceError]], ...]] = (
    ("Too many subrequests", LimitReached),
    ("Too many API requests", LimitReached),
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

# Pyodide gives an uncaught exception to JavaScript as the text of its traceback. An object that cannot even be constructed
# reports its error in this form, so the name and the message are read from the last line that names an error of ours.
_TRACEBACK_LINE: Final = re.compile(r"^(?:sluice\.core\.errors\.)?(\w+): (.*)$", re.MULTILINE)


_AI_CODE: Final = re.compile(r"(?:^|: )([0-9]{4}): ", re.MULTILINE)


def get_js_message(error: BaseException) -> str | None:
    """Return the text of a JavaScript error (Pyodide's JsException), or None for an error of Python."""
    message = getattr(error, "message", None)
    return message if isinstance(message, str) else None


def translate_errors(what: str) -> "ErrorTranslation":
    """Raise a JavaScript error of the block as a SluiceError; `what` names the operation that failed."""
    return ErrorTranslation(what)


class ErrorTranslation:
    """The block of `translate_errors`; a class, because a generator takes longer, and every operation has one."""

    __slots__ = ("_what",)

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: object) -> None:
        if not isinstance(error, Exception):
            return
        message = get_js_message(error)
        if message is not None:
            raise (find_error(message) or _classify(self._what, message)) from error


def find_error(message: str) -> SluiceError | None:
    """Return the SluiceError that was raised on the other side of a JavaScript boundary, or None for a foreign error."""
    return find_encoded_error(message) or _find_in_traceback(message)


def is_throttled(error: BaseException) -> bool:
    """Return whether KV refused an operation because the key is written too often."""
    return "failed: 429" in (get_js_message(error) or "")


def is_connection_lost(error: BaseException) -> bool:
    """Return whether a fetch failed because the server had closed the connection before."""
    return get_js_message(error) == "Network connection lost."


def is_limit_reached(error: BaseException) -> bool:
    """Return whether the invocation has made as many requests as the platform allows."""
    message = get_js_message(error) or ""
    return any(text in message for text, kind in TABLE if kind is LimitReached)


def is_instance_missing(error: BaseException) -> bool:
    """Return whether a workflow has no instance with the id."""
    return "not_found" in (get_js_message(error) or "")


def read_ai_code(message: str) -> int | None:
    """Return the code in an error of Workers AI, which reads "AiError: 5028: This model was deprecated"."""
    codes = _AI_CODE.findall(message)
    return int(codes[-1]) if codes else None


def is_step_timeout(message: str) -> bool:
    """Return whether the workflow engine stopped a step because it took too long."""
    return "Execution timed out" in message


def _find_in_traceback(message: str) -> SluiceError | None:
    for name, text in reversed(_TRACEBACK_LINE.findall(message)):
        kind = getattr(errors, name, None)
        if isinstance(kind, type) and issubclass(kind, SluiceError):
            # A traceback does not hold the Retry-After: 1 s is the shortest.
            return kind(text, retry_after_s=1) if issubclass(kind, errors.TooManyRequests) else kind(text)
    return None


def _classify(what: str, message: str) -> SluiceError:
    kind = next((kind for text, kind in TABLE if text in message), Unavailable)
    return kind(f"{what}: {message}")
