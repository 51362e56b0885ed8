"""One message as a queue delivers it."""

from typing import Any, Final, Protocol

MAX_DELAY_S: Final = 3600


class MessageDelivery(Protocol):
    """A delivered message; the consumer acknowledges it or has it delivered again."""

    @property
    def id(self) -> str: ...

    @property
    def body(self) -> Any: ...

    @property
    def attempts(self) -> int: ...

    def ack(self) -> None: ...
    def retry(self, delay_s: int | None = None) -> None: ...


def retry_delay_s(attempts: int) -> int:
    """Return the backoff: 2, 4, 8 … seconds after 1, 2, 3 … attempts, at most an hour."""
    return min(1 << max(attempts, 1), MAX_DELAY_S)
