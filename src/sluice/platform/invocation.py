"""The invocation that runs now, for parts that an isolate makes once and uses in many invocations."""

from contextvars import ContextVar
from typing import Any, Final

_CURRENT: Final[ContextVar[Any]] = ContextVar("invocation")


class CurrentInvocation:
    """Stands for `ctx`: whatever is asked of it is asked of the `ctx` of the request that is being answered."""

    def waitUntil(self, promise: Any) -> None:  # noqa: N802 - the platform's name
        _CURRENT.get().waitUntil(promise)

    def __getattr__(self, name: str) -> Any:
        return getattr(_CURRENT.get(), name)


def enter_invocation(ctx: Any) -> None:
    """Make `ctx` the one that CurrentInvocation stands for in this task and in those that it starts."""
    _CURRENT.set(ctx)
