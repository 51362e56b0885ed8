"""What can go wrong with a source, and whose fault it is."""

from collections.abc import Sequence
from urllib.parse import urlsplit

from sluice.core import errors
from sluice.core.errors import Invalid, SluiceError, Unusable

_SHOWN_CHARS = 200  # of a name or address in a message


class BadSource(Unusable):
    """A source was read and makes no sense."""

    title = "Source cannot be used"


class SourceMissing(Unusable):
    """A host answered that it does not have the source, or does not give it."""

    title = "Source missing"


class _Blamed(SluiceError):
    """Says where something failed; blame and hope are those of the cause."""

    def __init__(self, message: str, cause: SluiceError) -> None:
        super().__init__(message)
        self.cause = cause
        self.status = cause.status
        self.retryable = cause.retryable


class SourceFailed(_Blamed):
    """The compilation failed at one source."""

    title = "Source failed"

    def __init__(self, label: str, cause: SluiceError, *, given: bool = False) -> None:
        super().__init__(f"Source {shown(label)}: {cause}", cause)
        if given:  # what the caller sent along is the caller's own
            self.status = 400


class IncludeFailed(_Blamed):
    """A source failed at a file that it includes; the chain leads there."""

    title = "Include failed"

    def __init__(self, chain: Sequence[str], cause: SluiceError) -> None:
        where = f"{' → '.join(map(shown, chain))}: " if len(chain) > 1 else ""
        super().__init__(f"{where}{cause}", cause)


def plain(error: SluiceError) -> SluiceError:
    """The same failure as a leaf of the common tree, which survives the way through a queue, a step or an object."""
    if isinstance(error, SourceFailed) and error.status == 400:
        return Invalid(str(error))
    cause = error
    while isinstance(cause, _Blamed):
        cause = cause.cause
    if cause is error:
        return error
    leaf: type[SluiceError] = next(kind for kind in type(cause).__mro__ if kind.__module__ == errors.__name__)
    return leaf(str(error))


def shown(location: str) -> str:
    """A name or address for messages: without the query, which may hold a secret, and not too long."""
    try:
        plain = location.partition("?")[0] if urlsplit(location).query else location
    except ValueError:
        plain = location
    return plain if len(plain) <= _SHOWN_CHARS else f"{plain[:_SHOWN_CHARS]}…"
