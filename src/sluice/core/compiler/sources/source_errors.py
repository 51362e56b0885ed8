"""The errors of a source, and who is at fault for each."""

from collections.abc import Sequence

from sluice.core import errors
from sluice.core.compiler.sources.locations import format_location
from sluice.core.errors import Invalid, SluiceError, TooLarge, Unusable


class BadSource(Unusable):
    """A source was read, but its content cannot be used."""

    title = "Source cannot be used"


class SourceMissing(Unusable):
    """A host answered that it does not have the source, or does not allow reading it."""

    title = "Source missing"


class _LocatedError(SluiceError):
    """Says where something failed; status and retryability are those of the cause."""

    def __init__(self, message: str, cause: SluiceError) -> None:
        super().__init__(message)
        self.cause = cause
        self.status = cause.status
        self.retryable = cause.retryable


class SourceFailed(_LocatedError):
    """The compilation failed at one source."""

    title = "Source failed"

    def __init__(self, label: str, cause: SluiceError, *, sent_by_caller: bool = False) -> None:
        super().__init__(f"Source {format_location(label)}: {cause}", cause)
        if sent_by_caller and self.status != TooLarge.status:  # content in the request is the caller's responsibility
            self.status = Invalid.status


class IncludeFailed(_LocatedError):
    """A source failed at a file that it includes; the message shows the chain of includes."""

    title = "Include failed"

    def __init__(self, locations: Sequence[str], cause: SluiceError) -> None:
        where = f"{' → '.join(map(format_location, locations))}: " if len(locations) > 1 else ""
        super().__init__(f"{where}{cause}", cause)


def find_cause(error: SluiceError) -> SluiceError:
    """Return what failed, without where."""
    while isinstance(error, _LocatedError):
        error = error.cause
    return error


def to_plain_error(error: SluiceError) -> SluiceError:
    """Convert to an error of the common tree, which can be sent through a queue, a workflow step or an object."""
    if isinstance(error, SourceFailed) and error.status == Invalid.status:
        return Invalid(str(error))
    cause = find_cause(error)
    leaf: type[SluiceError] = next(kind for kind in type(cause).__mro__ if kind.__module__ == errors.__name__)
    return error if type(error) is leaf else leaf(str(error))
