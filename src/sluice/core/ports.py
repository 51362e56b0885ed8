"""What the core and the services need from outside: each port is declared once and implemented in `sluice.platform`."""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, TypeVar

HeaderPairs = tuple[tuple[str, str], ...]
Scalar = str | int | float | bytes | None
Row = dict[str, Scalar]
Statement = tuple[str, Sequence[object]]
Outcome = TypeVar("Outcome")

# Receives a body chunk by chunk, so that no part of the program holds all of it.
Sink = Callable[[bytes], None]
# Hands work over to the platform, so that the reply does not wait for it.
Defer = Callable[[Awaitable[None]], object]
# Returns 32 hexadecimal digits that nobody can guess.
NewId = Callable[[], str]
# Returns a number from 0 to 1, a new one for each call.
Draw = Callable[[], float]


class Clock(Protocol):
    """The current time, and waiting."""

    def now(self) -> float:
        """Return the seconds since the epoch."""

    async def sleep(self, seconds: float) -> None:
        """Wait; with 0, only until everything else that is due had its turn."""


class Log(Protocol):
    """Writes one structured line per call; fields whose name contains "key" or "token" are masked."""

    def event(self, name: str, /, **fields: object) -> None: ...
    def error(self, name: str, error: BaseException, /, **fields: object) -> None: ...


@dataclass(frozen=True, slots=True)
class FetchResponse:
    """The response after redirects, whatever its status; header names are in lower case, the body is decoded."""

    url: str
    status: int
    headers: HeaderPairs
    body: bytes

    def header(self, name: str) -> str | None:
        """Return the first value of a header, by its name in lower case."""
        return next((value for key, value in self.headers if key == name), None)


class Fetch(Protocol):
    """A guarded fetch: refuses addresses that must not be fetched, and stops at the given size and time.

    Without `follow` a redirect is the response. `fresh` bypasses every cache. A `sink` receives the body as it arrives,
    and the response then has none.
    """

    async def __call__(
        self,
        url: str,
        *,
        max_bytes: int,
        timeout_s: float,
        method: str = "GET",
        headers: HeaderPairs = (),
        body: bytes | None = None,
        follow: bool = True,
        fresh: bool = False,
        sink: Sink | None = None,
    ) -> FetchResponse: ...


@dataclass(frozen=True, slots=True)
class Content:
    """The body of a page: bytes, or a buffer or stream of the platform, which never enters Python. A stream is read once.

    `size` is None while nobody knows it.
    """

    data: Any
    size: int | None = None


NO_CONTENT: Final = Content(None, 0)


@dataclass(frozen=True, slots=True)
class OriginResponse:
    """The origin's response with its body unread; names of headers are in lower case. `raw` is the platform's own."""

    status: int
    headers: HeaderPairs
    content: Content
    raw: Any = None


class Sql(Protocol):
    """A Durable Object's own SQLite: synchronous, and atomic up to the next await."""

    def rows(self, sql: str, *params: object) -> list[Row]: ...
    def value(self, sql: str, *params: object) -> Scalar: ...
    def run(self, sql: str, *params: object) -> None: ...
    def execute(self, sql: str, *params: object) -> int: ...
    def transaction(self, work: Callable[[], Outcome]) -> Outcome: ...


class Alarm(Protocol):
    """A Durable Object's one alarm, in epoch seconds."""

    async def get(self) -> float | None: ...
    async def set(self, at_s: float) -> None: ...
    async def delete(self) -> None: ...


class StatementResult(Protocol):
    """The result of one statement."""

    @property
    def rows(self) -> list[dict[str, Any]]: ...
    @property
    def changes(self) -> int: ...


# The state of a workflow's instance.
InstanceState = Literal[
    "queued", "running", "paused", "waiting", "waitingForPause", "complete", "errored", "terminated", "unknown"
]
# What a statement selects, by the names of its columns.
DatabaseRow = dict[str, Any]


class Database(Protocol):
    """D1: SQLite over the network; a batch is one transaction."""

    async def all(self, sql: str, *params: object) -> list[DatabaseRow]: ...
    async def first(self, sql: str, *params: object) -> DatabaseRow | None: ...
    async def value(self, sql: str, *params: object) -> Any: ...
    async def run(self, sql: str, *params: object) -> StatementResult: ...
    async def batch(self, statements: Sequence[Statement]) -> Sequence[StatementResult]: ...


@dataclass(frozen=True, slots=True)
class KvText:
    """A text with the metadata it was written with."""

    value: str
    metadata: Any


@dataclass(frozen=True, slots=True)
class KvBytes:
    """Bytes with the metadata they were written with."""

    value: bytes
    metadata: Any


@dataclass(frozen=True, slots=True)
class KvKey:
    """One entry of a listing; `expires_at` in epoch seconds."""

    name: str
    metadata: Any
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class KvListing:
    """Part of a listing; the cursor of the next part, or None after the last."""

    keys: tuple[KvKey, ...]
    cursor: str | None


class KvReader(Protocol):
    """Workers KV, read only; eventually consistent."""

    async def get_text(self, key: str) -> str | None: ...
    async def get_with_metadata(self, key: str) -> KvText | None: ...
    async def get_bytes_with_metadata(self, key: str) -> KvBytes | None: ...
    async def get_many(self, keys: Iterable[str]) -> dict[str, str | None]: ...
    async def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> KvListing: ...


class KvWriter(KvReader, Protocol):
    """Workers KV, reading and writing."""

    async def put_text(self, key: str, value: str, *, ttl_s: int | None = None, metadata: Any = None) -> None: ...
    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None, metadata: Any = None) -> None: ...
    async def put_bytes(self, key: str, value: bytes, *, ttl_s: int | None = None, metadata: Any = None) -> None: ...
    async def delete(self, key: str) -> None: ...


class Kv(KvWriter, Protocol):
    """Workers KV: values by key, eventually consistent; one write per second and key."""

    async def get_json(self, key: str) -> Any: ...
    def keys(self, prefix: str = "") -> AsyncIterator[KvKey]: ...


class PublicCache(Protocol):
    """The cache in front of a Worker. A purge affects the copies of that Worker only, and a few a minute are allowed."""

    async def purge(self, tags: Iterable[str]) -> None: ...


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """The metadata of a stored object; `uploaded_at` in epoch seconds, `size` of the whole object."""

    key: str
    etag: str
    size: int
    uploaded_at: float
    http_metadata: Mapping[str, str]
    custom_metadata: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class StoredObject:
    """A stored object with its bytes."""

    object: ObjectInfo
    body: bytes


@dataclass(frozen=True, slots=True)
class ObjectStream:
    """A stored object and its content as a stream of the platform, which a reply can send without reading it in Python."""

    object: ObjectInfo
    stream: Any


@dataclass(frozen=True, slots=True)
class FileStream:
    """The size, the custom metadata and the content of a stored object, for replies that need no more.

    There is no stream if the object has the ETag that the caller knows already.
    """

    size: int
    custom_metadata: Mapping[str, str]
    stream: Any


class Bucket(Protocol):
    """R2: large objects by key, strongly consistent."""

    async def get(self, key: str, *, offset: int = 0, length: int | None = None) -> StoredObject | None: ...
    async def head(self, key: str) -> ObjectInfo | None: ...
    async def open(self, key: str) -> ObjectStream | None: ...
    async def open_file(self, key: str, *, unless_etag: str | None = None) -> FileStream | None: ...
    async def get_bytes(self, key: str) -> bytes | None: ...
    async def put(
        self,
        key: str,
        body: Any,
        *,
        content_type: str | None = None,
        custom_metadata: Mapping[str, str] | None = None,
    ) -> object: ...
    async def delete(self, keys: str | Iterable[str]) -> None: ...
    def objects(self, prefix: str = "") -> AsyncIterator[ObjectInfo]: ...
