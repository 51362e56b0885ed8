"""One message as a queue delivers it."""

from typing import Any, Protocol


class Delivery(Protocol):
    """A delivered message; the consumer acknowledges it or has it delivered again."""

    @property
    def id(self) -> str: ...

    @property
    def body(self) -> Any: ...

    @property
    def attempts(self) -> int: ...

    def ack(self) -> None: ...
    def retry(self, delay_s: int | None = None) -> None: ...
