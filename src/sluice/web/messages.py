"""What comes in and what goes out: two frozen values that know nothing of the platform."""

from collections.abc import AsyncIterable, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self
from urllib.parse import parse_qsl

from sluice.core.json_text import encode_json, encode_utf8
from sluice.web.headers import HeaderPairs, Headers, HeadersLike, check_header, to_pairs

# Takes the most bytes wanted; may raise TooLarge as soon as it sees more.
ReadBody = Callable[[int], Awaitable[bytes]]

# JavaScript's Response throws when one of these has a body.
_BODILESS_STATUSES = frozenset({204, 205, 304})


async def _no_body(_max_bytes: int) -> bytes:
    return b""


@dataclass(frozen=True, eq=False)
class Request:
    """One HTTP request with an absolute URL, its body still unread."""

    method: str
    url: str
    headers: Headers = field(default_factory=Headers)
    read_body: ReadBody = field(default=_no_body, repr=False)
    params: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def path(self) -> str:
        """The path as it was sent, still percent-encoded."""
        # By hand because urlsplit raises on odd hosts, and a request must always have a path to report.
        _, _, after_scheme = self._split[0].partition("://")
        _, slash, rest = after_scheme.partition("/")
        return slash + rest if slash else "/"

    @cached_property
    def query(self) -> Mapping[str, tuple[str, ...]]:
        """Every value of every query parameter, in order, decoded as leniently as browsers do."""
        values: dict[str, list[str]] = {}
        for name, value in parse_qsl(self._split[1], keep_blank_values=True):
            values.setdefault(name, []).append(value)
        return MappingProxyType({name: tuple(items) for name, items in values.items()})

    @property
    def client_ip(self) -> str | None:
        """The caller's address as Cloudflare saw it; None off the platform."""
        return self.headers.get("cf-connecting-ip")

    def with_params(self, params: Mapping[str, str]) -> Self:
        """The same request with the values its path gave."""
        return replace(self, params=params)

    @property
    def _split(self) -> tuple[str, str]:
        before, _, query = self.url.partition("#")[0].partition("?")
        return before, query


@dataclass(frozen=True, slots=True)
class Native:
    """A body only the platform understands, such as a JavaScript ReadableStream."""

    value: Any


@dataclass(frozen=True, slots=True)
class Passthrough:
    """A whole response of the platform, returned as it is with the reply's headers set on top."""

    response: Any


Body = bytes | AsyncIterable[bytes] | Native | Passthrough | None


@dataclass(frozen=True, slots=True)
class Reply:
    """One HTTP response; headers are pairs, so that a repeated Set-Cookie survives."""

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
        """JSON of plain values; `headers` may name a more exact content type."""
        return cls(status, _typed("application/json", headers), encode_utf8(encode_json(value)))

    @classmethod
    def text(cls, text: str, status: int = 200, headers: HeadersLike = ()) -> Self:
        """Plain text in UTF-8."""
        return cls(status, _typed("text/plain; charset=utf-8", headers), encode_utf8(text))

    @classmethod
    def html(cls, markup: str, status: int = 200, headers: HeadersLike = ()) -> Self:
        """An HTML page in UTF-8; escaping is the caller's part."""
        return cls(status, _typed("text/html; charset=utf-8", headers), encode_utf8(markup))

    @classmethod
    def empty(cls, status: int = 204, headers: HeadersLike = ()) -> Self:
        """A reply without a body."""
        return cls(status, to_pairs(headers))

    @classmethod
    def stream(
        cls, chunks: AsyncIterable[bytes], *, content_type: str, status: int = 200, headers: HeadersLike = ()
    ) -> Self:
        """A body sent chunk by chunk, its length unknown."""
        return cls(status, _typed(content_type, headers), chunks)

    @classmethod
    def native(cls, value: Any, *, content_type: str, status: int = 200, headers: HeadersLike = ()) -> Self:
        """A body the platform made, never copied through Python."""
        return cls(status, _typed(content_type, headers), Native(value))

    @classmethod
    def passthrough(cls, response: Any, status: int = 200, headers: HeadersLike = ()) -> Self:
        """A platform response handed on whole; `status` repeats its own, for logs."""
        return cls(status, to_pairs(headers), Passthrough(response))

    def header(self, name: str) -> str | None:
        """The first value of a header, whatever the case of its name."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def with_header(self, name: str, value: str) -> Self:
        """The same reply with this header in place of any of the same name."""
        others = tuple(pair for pair in self.headers if pair[0].lower() != name.lower())
        return replace(self, headers=(*others, (name, value)))

    def with_added_header(self, name: str, value: str) -> Self:
        """The same reply with one more header, beside any of the same name."""
        return replace(self, headers=(*self.headers, (name, value)))

    def with_vary(self, name: str) -> Self:
        """The same reply, told to caches as dependent on one more request header."""
        values = [value for key, value in self.headers if key.lower() == "vary"]
        known = [item.strip() for value in values for item in value.split(",")]
        if name.lower() in {item.lower() for item in known}:
            return self
        return self.with_header("Vary", ", ".join([*known, name]))


def _typed(content_type: str, headers: HeadersLike) -> HeaderPairs:
    pairs = to_pairs(headers)
    if any(name.lower() == "content-type" for name, _ in pairs):
        return pairs
    return (("Content-Type", content_type), *pairs)
