"""What the preload service asks of the outside; the platform's adapters fit as they are."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

Scalar = str | int | float | bytes | None
Row = dict[str, Scalar]
Pairs = tuple[tuple[str, str], ...]
Outcome = TypeVar("Outcome")


class Clock(Protocol):
    """Tells the time in epoch seconds, and lets it pass."""

    def now(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...


class Sql(Protocol):
    """The zone object's own database: synchronous, atomic up to the next await."""

    def rows(self, sql: str, *params: object) -> list[Row]: ...
    def value(self, sql: str, *params: object) -> Scalar: ...
    def execute(self, sql: str, *params: object) -> int: ...
    def transaction(self, work: Callable[[], Outcome]) -> Outcome: ...


class Database(Protocol):
    """D1, shared by all zones."""

    async def all(self, sql: str, *params: object) -> list[Row]: ...
    async def run(self, sql: str, *params: object) -> Any: ...
    async def batch(self, statements: Sequence[tuple[str, Sequence[object]]]) -> Any: ...


class Kv(Protocol):
    """Published copies; eventually consistent."""

    async def get_text(self, key: str) -> str | None: ...
    async def put_text(self, key: str, value: str) -> None: ...
    async def delete(self, key: str) -> None: ...


class Bucket(Protocol):
    """R2: the one copy that every data centre sees."""

    async def get(self, key: str) -> Any: ...
    async def put(
        self,
        key: str,
        body: bytes,
        *,
        content_type: str | None = None,
        custom_metadata: Mapping[str, str] | None = None,
    ) -> Any: ...
    async def delete(self, keys: str | Iterable[str]) -> None: ...


class Edge(Protocol):
    """The cache of this data centre alone."""

    async def match(self, url: str) -> Any: ...
    async def put(self, url: str, *, status: int, headers: Pairs, body: bytes) -> None: ...
    async def delete(self, url: str) -> bool: ...


class Fetched(Protocol):
    """An answer of the origin, names of headers in lower case."""

    @property
    def status(self) -> int: ...
    @property
    def headers(self) -> Pairs: ...
    @property
    def body(self) -> bytes: ...


class Fetch(Protocol):
    """One guarded request to an origin, redirects not followed, caches on the way bypassed."""

    async def __call__(
        self, url: str, *, headers: Pairs, max_bytes: int, sink: Callable[[bytes], None] | None = None
    ) -> Fetched: ...


# Hands work over to the platform so that the reply need not wait for it.
Defer = Callable[[Awaitable[None]], None]
# Writes one structured line.
Tell = Callable[..., None]
NewId = Callable[[], str]


def header(headers: Pairs, name: str) -> str:
    """The values of a header joined as HTTP joins them; "" when it is not there."""
    return ", ".join(value for key, value in headers if key.lower() == name)


def uuid4_text(digits: str) -> str:
    """32 hexadecimal digits of chance as a UUID of version 4."""
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"
