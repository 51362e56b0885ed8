"""Errors of ours on their way between two objects or Workers: one encoder, one decoder, and nothing is lost on the way.

A call between objects carries plain values, so an expected error travels as a JSON text and is raised again on the other
side as what it was, with its fields and its Retry-After.
"""

import json
from typing import Any

from sluice.core import errors
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests


def encode_error(error: SluiceError) -> str:
    """The error as one line of JSON text."""
    return json.dumps(
        {
            "kind": type(error).__name__,
            "message": str(error),
            "retryAfterS": getattr(error, "retry_after_s", None),
            "fields": [[bad.path, bad.reason] for bad in getattr(error, "fields", ())],
        }
    )


def decode_error(text: str) -> SluiceError:
    """The error that `encode_error` encoded; a kind that this version does not know is a plain SluiceError."""
    encoded: dict[str, Any] = json.loads(text)
    kind = getattr(errors, encoded["kind"], SluiceError)
    message = encoded["message"]
    if kind is TooManyRequests:
        return TooManyRequests(message, encoded["retryAfterS"])
    if kind is Invalid:
        return Invalid(message, [BadField(path, reason) for path, reason in encoded["fields"]])
    is_ours = isinstance(kind, type) and issubclass(kind, SluiceError)
    return kind(message) if is_ours else SluiceError(message)
