"""Calls of the state object: one method of the Durable Object carries them all."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol

from sluice.core.errors import NotFound
from sluice.services.news.state.remote_state import RemoteNewsState

# The methods that other Workers may call.
CALLS: Final = frozenset(name for name in vars(RemoteNewsState) if not name.startswith("_"))


class CallableObject(Protocol):
    """The Durable Object as the platform shows it."""

    def call(self, name: str, arguments: list[Any]) -> Awaitable[Any]: ...


class StateCalls:
    """Looks like a RemoteNewsState: `await calls.publish(...)`."""

    def __init__(self, remote: CallableObject) -> None:
        self._remote = remote

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        return lambda *arguments: self._remote.call(name, list(arguments))


async def answer_call(state: RemoteNewsState, name: str, arguments: list[Any]) -> Any:
    """Raises NotFound for a method that is not for others."""
    if name not in CALLS:
        raise NotFound(f"the state object has no call {name!r}")
    return await getattr(state, name)(*arguments)
