"""The one error tree.

- SluiceError: anything this project raises on purpose
  - CallerError: the caller is at fault, and the same call will fail again
    - Invalid: a value is not valid; names each bad field
    - Unauthorized, Forbidden, NotFound, Conflict, PreconditionFailed
    - TooSlowToSend: the body did not arrive in time
    - TooLarge: the body, or what it asks for, is larger than a limit
    - UnsupportedMediaType, TooManyRequests
    - Refused: an address or content that must not be fetched
      - Looped: a reply that is our own, because the request for it came back to us
  - PeerError: another service is at fault, and trying again may help
    - Unavailable: it did not answer, or answered that it cannot serve now
      - ConnectionLost: the connection was closed before the response was there
      - NotAccepted: our own storage did not keep what the caller has sent, so nothing was started
    - TimedOut: it did not answer in time
      - Preempted: it was not waited for any longer, because others waited
    - Oversized: its response is larger than the limit; trying again does not help
    - Unusable: its response cannot be used; trying again does not help
  - LimitReached: one invocation has done as much as the platform allows; trying again in it does not help
  - ConfigError: the operator is at fault: a variable or binding is missing or wrong
    - NotReady: a secret is missing or unfit, so that nobody is let in

Each boundary (HTTP, queue, workflow) maps the tree once, by `status` and `retryable`.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, Self

_FIELDS_IN_MESSAGE: Final = 3  # enough for one line; `fields` has them all


class SluiceError(Exception):
    """Base of all errors raised on purpose; `str(error)` is one sentence for a person."""

    status = 500
    title = "Internal error"
    retryable = False


class CallerError(SluiceError):
    status = 400
    title = "Bad request"


class BadField(NamedTuple):
    """One value that is not valid: its place in the body (`sources[2].url`) and the reason."""

    field: str
    reason: str


class Invalid(CallerError):
    """Some fields are not valid; `fields` names all of them, not only the first."""

    title = "Invalid request"

    def __init__(self, message: str, fields: Sequence[BadField] = ()) -> None:
        super().__init__(message)
        self.fields = tuple(fields)

    @classmethod
    def from_fields(cls, fields: Sequence[BadField]) -> Self:
        """Build the error whose message names the first few of these fields."""
        named = [f"{bad.field} {bad.reason}".strip() for bad in fields[:_FIELDS_IN_MESSAGE]]
        more = len(fields) - len(named)
        return cls("; ".join(named) + (f"; and {more} more" if more else ""), fields)


class Unauthorized(CallerError):
    status = 401
    title = "Unauthorized"


class Forbidden(CallerError):
    status = 403
    title = "Forbidden"


class NotFound(CallerError):
    status = 404
    title = "Not found"


class Conflict(CallerError):
    status = 409
    title = "Conflict"


class TooSlowToSend(CallerError):
    """The body of the request did not arrive in time; it may when it is sent again."""

    status = 408
    title = "Request timeout"


class PreconditionFailed(CallerError):
    """The caller's copy is not the current one, so nothing was changed."""

    status = 412
    title = "Precondition failed"


class TooLarge(CallerError):
    """The body, or what it asks for, is larger than a limit; it must be made smaller."""

    status = 413
    title = "Content too large"


class UnsupportedMediaType(CallerError):
    status = 415
    title = "Unsupported media type"


class Refused(CallerError):
    """An address or content that must not be fetched, no matter who asks."""

    title = "Refused"


class Looped(Refused):
    """A reply that is our own, because the request for it came back to us instead of reaching the origin."""


class TooManyRequests(CallerError):
    status = 429
    title = "Too many requests"
    retryable = True

    def __init__(self, message: str, retry_after_s: int) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PeerError(SluiceError):
    status = 502
    title = "Upstream failed"
    retryable = True


class Unavailable(PeerError):
    """A service did not answer, or answered that it cannot serve now."""


class ConnectionLost(Unavailable):
    """The connection was closed before the response was there; nobody can tell whether the request arrived."""


class NotAccepted(Unavailable):
    """What the caller has sent could not be kept, so nothing was started; the same call may succeed later."""

    status = 503
    title = "Not accepted"


class TimedOut(PeerError):
    status = 504
    title = "Upstream timed out"


class RedirectsToItself(PeerError):
    """A page answers with its own address as the next one: whoever follows it goes in a circle."""

    status = 508
    title = "Loop detected"


class Preempted(TimedOut):
    """A request was not waited for any longer, because others waited for its place."""


class Oversized(PeerError):
    """The response of a service is larger than the limit; trying again does not help."""

    retryable = False


class Unusable(PeerError):
    """The response of a service cannot be used; trying again does not help."""

    retryable = False


class LimitReached(SluiceError):
    """One invocation has done as much as the platform allows: the work must be smaller, or spread over several."""

    status = 503
    title = "Limit of the platform reached"


class ConfigError(SluiceError):
    title = "Misconfigured"


class NotReady(ConfigError):
    """Nobody can use this before the operator has finished the set-up."""

    status = 503
    title = "Not ready"
