"""Requests and replies: immutable values that are independent of the platform."""

import re
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import parse_qsl

from sluice.core.errors import Invalid, TooLarge, UnsupportedMediaType
from sluice.core.headers import Headers, HeadersLike, check_header, to_pairs
from sluice.core.json_text import encode_json, encode_utf8, parse_json
from sluice.core.ports import HeaderPairs

# Takes the limit in bytes; may raise TooLarge as soon as the body exceeds it.
ReadBody = Callable[[int], Awaitable[bytes]]

# JavaScript's Response throws if a reply with one of these has a body.
_BODILESS_STATUSES = frozenset({204, 205, 304})
_LENGTH = re.compile(r"[0-9]{1,15}")
_JSON_TYPE = re.compile(r"(?:application|text)/json|[^/\s]+/[^/\s]+\+json")


async def _read_no_body(_max_bytes: int) -> bytes:
    return b""


@dataclass(frozen=True, eq=False)
class Request:
    """One HTTP request with an absolute URL and an unread body."""

    method: str
    url: str
    headers: Headers = field(default_factory=Headers)
    read_body: ReadBody = field(default=_read_no_body, repr=False)
    params: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def path(self) -> str:
        """The path as it was sent, still percent-encoded."""
        # Not by urlsplit, which raises on odd hosts: every request needs a path for its error reply.
        _, _, after_scheme = self._split[0].partition("://")
        _, slash, rest = after_scheme.partition("/")
        return slash + rest if slash else "/"

    @cached_property
    def query(self) -> Mapping[str, tuple[str, ...]]:
        """All values of each query parameter, in order, decoded as leniently as in browsers."""
        values: dict[str, list[str]] = {}
        for name, value in parse_qsl(self._split[1], keep_blank_values=True):
            values.setdefault(name, []).append(value)
        return MappingProxyType({name: tuple(items) for name, items in values.items()})

    @property
    def client_ip(self) -> str | None:
        """The caller's address as Cloudflare sees it; None outside the platform."""
        return self.headers.get("cf-connecting-ip")

    def with_params(self, params: Mapping[str, str]) -> Self:
        """Return the request with the values of its path parameters."""
        return replace(self, params=params)

    def with_body(self, content: bytes) -> Self:
        """Return the request with a body that was read already."""

        async def read_again(_max_bytes: int) -> bytes:
            return content

        return replace(self, read_body=read_again)

    @property
    def _split(self) -> tuple[str, str]:
        before, _, query = self.url.partition("#")[0].partition("?")
        return before, query


async def read_bytes(request: Request, *, max_bytes: int) -> bytes:
    """Return the body; raise TooLarge without reading it if its declared length is over the limit."""
    declared = request.headers.get("content-length", "0")
    if not _LENGTH.fullmatch(declared):
        raise Invalid("Content-Length is not a number of bytes")
    content = b"" if int(declared) > max_bytes else await request.read_body(max_bytes)
    if max(int(declared), len(content)) > max_bytes:
        raise TooLarge(f"the body is larger than the limit of {max_bytes} bytes")
    return content


async def read_json(request: Request, *, max_bytes: int) -> Any:
    """Return the body as a JSON value; raise Invalid, TooLarge or UnsupportedMediaType."""
    media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media_type and not _JSON_TYPE.fullmatch(media_type):
        raise UnsupportedMediaType(f"send the body as Content-Type: application/json, not {media_type}")
    return parse_json(await read_bytes(request, max_bytes=max_bytes))


@dataclass(frozen=True, slots=True)
class Native:
    """A body of the platform, such as a JavaScript ReadableStream.

    `is_encoded` says that its bytes are as Content-Encoding says; those of a fetched response are decoded when they are read.
    """

    value: Any
    is_encoded: bool = False


@dataclass(frozen=True, slots=True)
class Passthrough:
    """A response of the platform, returned unchanged except for the reply's headers."""

    response: Any


Body = bytes | AsyncIterable[bytes] | Native | Passthrough | None


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP response; headers are pairs, so that Set-Cookie can be repeated."""

    status: int = 200
    headers: HeaderPairs = ()
    body: Body = None

    def __post_init__(self) -> None:
        if self.status != 101 and not 200 <= self.status <= 599:
            raise ValueError(f"not a final status: {self.status}")
        if self.status in _BODILESS_STATUSES and not isinstance(self.body, Passthrough | None):
            raise ValueError(f"a reply with status {self.status} has no body")
        for name, value in self.headers:
            check_header(name, value)

    @classmethod
    def json(cls, value: object, status: int = 200, headers: HeadersLike = ()) -> Self:
        """Return a reply with JSON; `headers` may set a more specific content type."""
        return cls(status, _with_content_type("application/json", headers), encode_utf8(encode_json(value)))

    @classmethod
    def text(cls, text: str, status: int = 200, headers: HeadersLike = ()) -> Self:
        """Return a reply with plain text in UTF-8."""
        return cls(status, _with_content_type("text/plain; charset=utf-8", headers), encode_utf8(text))

    @classmethod
    def html(cls, markup: str, status: int = 200, headers: HeadersLike = ()) -> Self:
        """Return a reply with an HTML page in UTF-8; the caller escapes its values."""
        return cls(status, _with_content_type("text/html; charset=utf-8", headers), encode_utf8(markup))

    @classmethod
    def empty(cls, status: int = 204, headers: HeadersLike = ()) -> Self:
        """Return a reply without a body."""
        return cls(status, to_pairs(headers))

    @classmethod
    def stream(
        cls, chunks: AsyncIterable[bytes], *, content_type: str, status: int = 200, headers: HeadersLike = ()
    ) -> Self:
        """Return a reply whose body is sent chunk by chunk."""
        return cls(status, _with_content_type(content_type, headers), chunks)

    @classmethod
    def native(cls, value: Any, *, content_type: str, status: int = 200, headers: HeadersLike = ()) -> Self:
        """Return a reply with a body of the platform, which is not copied through Python."""
        return cls(status, _with_content_type(content_type, headers), Native(value))

    @classmethod
    def passthrough(cls, response: Any, status: int = 200, headers: HeadersLike = ()) -> Self:
        """Return a reply that passes on a response of the platform; `status` repeats its status for logs."""
        return cls(status, to_pairs(headers), Passthrough(response))

    def header(self, name: str) -> str | None:
        """Return the first value of a header; the name is case-insensitive."""
        wanted = name.lower()
        for key, value in self.headers:
            if key.lower() == wanted:
                return value
        return None

    def with_header(self, name: str, value: str) -> Self:
        """Return the reply with this header instead of any of the same name."""
        key = name.lower()
        return self._with_headers([pair for pair in self.headers if pair[0].lower() != key], name, value)

    def with_added_header(self, name: str, value: str) -> Self:
        """Return the reply with one more header, beside any of the same name."""
        return self._with_headers(self.headers, name, value)

    def _with_headers(self, others: Iterable[tuple[str, str]], name: str, value: str) -> Self:
        """Check the new header only: every reply gets several, and the others were checked before."""
        check_header(name, value)
        copy = object.__new__(type(self))
        object.__setattr__(copy, "status", self.status)
        object.__setattr__(copy, "headers", (*others, (name, value)))
        object.__setattr__(copy, "body", self.body)
        return copy

    def with_vary(self, name: str) -> Self:
        """Return the reply with one more request header in Vary."""
        values = [value for key, value in self.headers if key.lower() == "vary"]
        names = [item.strip() for value in values for item in value.split(",")]
        if name.lower() in {item.lower() for item in names}:
            return self
        return self.with_header("Vary", ", ".join([*names, name]))


def _with_content_type(content_type: str, headers: HeadersLike) -> HeaderPairs:
    pairs = to_pairs(headers)
    if any(name.lower() == "content-type" for name, _ in pairs):
        return pairs
    return (("Content-Type", content_type), *pairs)
