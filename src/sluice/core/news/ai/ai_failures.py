"""What the failures of Workers AI mean: whether another try can help, and when."""

from enum import StrEnum
from typing import Final

from sluice.core.errors import SluiceError


class AiFault(StrEnum):
    """Why the model did not answer."""

    # The model was removed or may not be used: the operator has to choose another.
    PERMANENT = "permanent"
    # The allowance of the day is used up, until midnight UTC.
    QUOTA = "quota"
    # This one question cannot be answered, such as a text that is too long.
    REQUEST = "request"
    # Too busy, too slow, or unknown: later it may answer.
    PASSING = "passing"


# By the codes of Workers AI. Any other code, and none, is a passing failure.
FAULTS: Final = {
    **dict.fromkeys((3023, 3041, 3042, 5005, 5007, 5016, 5018, 5019, 5028, 5035), AiFault.PERMANENT),
    **dict.fromkeys((3036, 4006), AiFault.QUOTA),
    **dict.fromkeys((3003, 3006, 5004), AiFault.REQUEST),
}


class ModelFailed(SluiceError):
    """A model did not answer; `code` is that of Workers AI, if it gave one."""

    retryable = True

    def __init__(self, message: str, code: int | None) -> None:
        super().__init__(message)
        self.code = code


def find_fault(error: SluiceError) -> AiFault:
    """Return what a failure means; an answer of the wrong shape is a temporary one."""
    code = error.code if isinstance(error, ModelFailed) else None
    return FAULTS.get(code, AiFault.PASSING) if code is not None else AiFault.PASSING
