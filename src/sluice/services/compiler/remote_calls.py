"""Calls to the service's own Durable Objects: results and expected errors travel as plain values.

An exception that crosses between objects arrives as text only. A value keeps everything, such as the fields of an Invalid
and the Retry-After of a TooManyRequests.
"""

from collections.abc import Awaitable
from typing import Any, TypedDict

from sluice.core.errors import SluiceError
from sluice.core.remote_errors import decode_error, encode_error


class RemoteReply(TypedDict):
    """Either a result or an error; `error` is the text of `encode_error`, or None."""

    result: Any
    error: str | None


async def encode_reply(work: Awaitable[Any]) -> RemoteReply:
    """Awaits the work inside the object and returns its result or its error."""
    try:
        return RemoteReply(result=await work, error=None)
    except SluiceError as error:
        return RemoteReply(result=None, error=encode_error(error))


def unwrap_reply(reply: RemoteReply) -> Any:
    """Returns the result on the caller's side, or raises the error as the object raised it."""
    if reply["error"] is not None:
        raise decode_error(reply["error"])
    return reply["result"]
