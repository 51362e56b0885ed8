"""What the service needs of the world, each as narrow as its use; the adapters of the platform fit them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol

from sluice.core.compiler.sources.download import Answer
from sluice.web import Request

Statement = tuple[str, Sequence[object]]
Backoff = Literal["constant", "linear", "exponential"]


class Changed(Protocol):
    """What a statement did."""

    @property
    def rows(self) -> list[dict[str, Any]]: ...

    @property
    def changes(self) -> int: ...


class Database(Protocol):
    """SQL over the network; a batch is one transaction."""

    async def all(self, sql: str, *params: object) -> list[dict[str, Any]]: ...
    async def first(self, sql: str, *params: object) -> dict[str, Any] | None: ...
    async def value(self, sql: str, *params: object) -> Any: ...
    async def run(self, sql: str, *params: object) -> Changed: ...
    async def batch(self, statements: Sequence[Statement]) -> Sequence[Changed]: ...


class Key(Protocol):
    """One entry of a listing."""

    @property
    def name(self) -> str: ...

    @property
    def metadata(self) -> Any: ...

    @property
    def expires_at(self) -> int | None: ...


class Page(Protocol):
    """Part of a listing."""

    @property
    def keys(self) -> Sequence[Key]: ...


class StoredBytes(Protocol):
    """Bytes with the metadata they were written with."""

    @property
    def value(self) -> bytes: ...

    @property
    def metadata(self) -> Any: ...


class KeyValue(Protocol):
    """Values by key, seen elsewhere a little later."""

    async def get_json(self, key: str) -> Any: ...
    async def get_bytes_with_metadata(self, key: str) -> StoredBytes | None: ...
    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None) -> None: ...
    async def put_bytes(self, key: str, value: bytes, *, ttl_s: int | None = None, metadata: Any = None) -> None: ...
    async def delete(self, key: str) -> None: ...
    async def list(self, prefix: str = "", *, limit: int = 1000) -> Page: ...


class Bucket(Protocol):
    """Large objects by key, seen everywhere at once."""

    async def get_bytes(self, key: str) -> bytes | None: ...
    async def put(self, key: str, body: bytes, *, custom_metadata: Mapping[str, str] | None = None) -> object: ...
    async def delete(self, keys: str | Iterable[str]) -> None: ...
    def objects(self, prefix: str = "") -> "AsyncIterator[Stored]": ...


class Stored(Protocol):
    """What is known of an object without its content."""

    @property
    def key(self) -> str: ...

    @property
    def custom_metadata(self) -> Mapping[str, str]: ...


class Fetch(Protocol):
    """A guarded fetch with any method."""

    async def __call__(
        self,
        url: str,
        *,
        max_bytes: int,
        timeout_s: float,
        method: str = "GET",
        headers: tuple[tuple[str, str], ...] = (),
        body: bytes | None = None,
    ) -> "FetchAnswer": ...


class FetchAnswer(Answer, Protocol):
    """What such a fetch brings back."""

    def header(self, name: str) -> str | None: ...


class Log(Protocol):
    """One structured line per call; fields whose name speaks of a key or token are masked."""

    def event(self, name: str, /, **fields: object) -> None: ...
    def error(self, name: str, error: BaseException, /, **fields: object) -> None: ...


class Analytics(Protocol):
    """Data points that dashboards read; a point that cannot be written is dropped without a word."""

    def write(self, event: str, *, blobs: Sequence[str] = (), doubles: Sequence[float] = ()) -> None: ...


class Steps(Protocol):
    """The steps of a workflow instance, each with its result kept."""

    async def do(
        self,
        name: str,
        work: Callable[[], Awaitable[Any]],
        *,
        retries: int,
        delay_s: float,
        backoff: Backoff,
        timeout_s: float,
    ) -> Any: ...

    async def sleep(self, name: str, seconds: float) -> None: ...


class InstanceStatus(Protocol):
    """How a workflow instance stands."""

    @property
    def state(self) -> str: ...

    @property
    def output(self) -> Any: ...

    @property
    def error(self) -> str | None: ...


class Instances(Protocol):
    """The instances of one workflow."""

    async def create(self, instance_id: str, params: object) -> None: ...
    async def status(self, instance_id: str) -> InstanceStatus: ...


class Guarded(Protocol):
    """The JSON body of a request that may pass: counted, and proven to come from a person where that is asked for."""

    async def __call__(self, request: Request, *, max_bytes: int, optional_body: bool = False) -> Any: ...
