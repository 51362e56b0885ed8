"""What the pipeline needs of its store."""

from collections.abc import Iterable
from typing import Any, Protocol


class Stored(Protocol):
    """A text and what was noted beside it."""

    @property
    def value(self) -> str: ...

    @property
    def metadata(self) -> Any: ...


class Reading(Protocol):
    """A store that is read."""

    async def get_text(self, key: str) -> str | None: ...
    async def get_with_metadata(self, key: str) -> Stored | None: ...
    async def get_many(self, keys: Iterable[str]) -> dict[str, str | None]: ...


class Store(Reading, Protocol):
    """A store that is written as well."""

    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None, metadata: Any = None) -> None: ...
    async def put_text(self, key: str, value: str, *, ttl_s: int | None = None, metadata: Any = None) -> None: ...
    async def delete(self, key: str) -> None: ...


class Log(Protocol):
    """Where a run tells what it did."""

    def event(self, name: str, /, **fields: object) -> None: ...
    def error(self, name: str, error: BaseException, /, **fields: object) -> None: ...


class Clock(Protocol):
    """What tells the time."""

    def now(self) -> float: ...
