"""Errors as text: between a Worker and a Durable Object, between two Workers, between a workflow and its steps.

An expected error is raised again on the other side with its fields and its Retry-After.
"""

import json
import re
from typing import Any, Final

from sluice.core import errors
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests

_START: Final = re.compile(r'\{"kind": "')


def encode_error(error: SluiceError) -> str:
    """Write the error as one line of JSON text."""
    return json.dumps(
        {
            "kind": type(error).__name__,
            "message": str(error),
            "retryAfterS": getattr(error, "retry_after_s", None),
            "fields": [[bad.field, bad.reason] for bad in getattr(error, "fields", ())],
        }
    )


def decode_error(text: str) -> SluiceError:
    """Make the error that `encode_error` wrote; a kind that this version does not know is a plain SluiceError."""
    return _build_error(json.loads(text))


def find_encoded_error(text: str) -> SluiceError | None:
    """Return the last encoded error within a longer text, such as a traceback, or None."""
    decoder = json.JSONDecoder()
    for start in reversed([match.start() for match in _START.finditer(text)]):
        try:
            return _build_error(decoder.raw_decode(text, start)[0])
        except (KeyError, TypeError, ValueError):
            continue
    return None


def _build_error(encoded: dict[str, Any]) -> SluiceError:
    kind = getattr(errors, encoded["kind"], SluiceError)
    message = encoded["message"]
    if kind is TooManyRequests:
        return TooManyRequests(message, encoded.get("retryAfterS") or 1)
    if kind is Invalid:
        return Invalid(message, [BadField(field, reason) for field, reason in encoded.get("fields", ())])
    is_known = isinstance(kind, type) and issubclass(kind, SluiceError)
    return kind(message) if is_known else SluiceError(message)
