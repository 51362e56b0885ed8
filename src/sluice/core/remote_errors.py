"""The encoding of expected errors between Durable Objects and Workers.

A call between objects carries plain values only. An expected error is sent as JSON text and raised again on the other
side with the same type, message, fields and Retry-After.
"""

import json
from typing import Any

from sluice.core import errors
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests


def encode_error(error: SluiceError) -> str:
    """Encode the error as one line of JSON text."""
    return json.dumps(
        {
            "kind": type(error).__name__,
            "message": str(error),
            "retryAfterS": getattr(error, "retry_after_s", None),
            "fields": [[bad.field, bad.reason] for bad in getattr(error, "fields", ())],
        }
    )


def decode_error(text: str) -> SluiceError:
    """Decode what `encode_error` encoded; a kind that this version does not know becomes a plain SluiceError."""
    encoded: dict[str, Any] = json.loads(text)
    kind = getattr(errors, encoded["kind"], SluiceError)
    message = encoded["message"]
    if kind is TooManyRequests:
        return TooManyRequests(message, encoded["retryAfterS"])
    if kind is Invalid:
        return Invalid(message, [BadField(field, reason) for field, reason in encoded["fields"]])
    is_known = isinstance(kind, type) and issubclass(kind, SluiceError)
    return kind(message) if is_known else SluiceError(message)
