"""Server-Sent Events: encodes events so that no value can inject a line."""

import re
from collections.abc import AsyncGenerator, AsyncIterable, Iterable, Iterator
from dataclasses import dataclass

from sluice.core.headers import HeadersLike
from sluice.core.json_text import encode_utf8
from sluice.web.messages import Reply

# The three line ends of the format; splitlines() also splits at U+2028.
_LINE_END = re.compile(r"\r\n|\r|\n")
_NOT_ON_ONE_LINE = re.compile(r"[\r\n\0]")


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event; only the data may have several lines."""

    data: str
    name: str | None = None
    id: str | None = None
    retry_ms: int | None = None

    def __post_init__(self) -> None:
        for value in (self.name, self.id):
            if value is not None and _NOT_ON_ONE_LINE.search(value):
                raise ValueError("the name and the id of an event must not contain line breaks")
        if self.retry_ms is not None and self.retry_ms < 0:
            raise ValueError("retry_ms must not be negative")

    def encode(self) -> bytes:
        """Return the event as bytes of the stream, with the empty line that ends it."""
        fields = (("event", self.name), ("id", self.id), ("retry", self.retry_ms))
        head = [f"{label}: {value}" for label, value in fields if value is not None]
        return encode_utf8("\n".join([*head, *_prefix_lines("data: ", self.data)]) + "\n\n")


@dataclass(frozen=True, slots=True)
class SseComment:
    """A line that clients ignore; it keeps an idle connection open."""

    text: str = ""

    def encode(self) -> bytes:
        """Return the comment as bytes of the stream."""
        return encode_utf8("\n".join(_prefix_lines(": ", self.text)) + "\n\n")


@dataclass(frozen=True, slots=True)
class SseLongEvent:
    """An event whose data comes in chunks, because it is too long to be in memory as a whole; it has one line."""

    chunks: Iterable[bytes]
    name: str

    def encode_chunks(self) -> Iterator[bytes]:
        yield encode_utf8(f"event: {self.name}\ndata: ")
        for chunk in self.chunks:
            if b"\n" in chunk or b"\r" in chunk:
                raise ValueError("the data of a long event must not contain line breaks")
            yield chunk
        yield b"\n\n"


StreamItem = SseEvent | SseComment | SseLongEvent


def stream_events(events: AsyncIterable[StreamItem], headers: HeadersLike = ()) -> Reply:
    """Return a reply that streams the events."""
    return Reply.stream(_encode_events(events), content_type="text/event-stream", headers=headers)


async def _encode_events(events: AsyncIterable[StreamItem]) -> AsyncGenerator[bytes, None]:
    try:
        async for event in events:
            if isinstance(event, SseLongEvent):
                for chunk in event.encode_chunks():
                    yield chunk
            else:
                yield event.encode()
    finally:
        # When the client disconnects, the source must stop too, and nothing else closes it.
        if isinstance(events, AsyncGenerator):
            await events.aclose()


def _prefix_lines(prefix: str, text: str) -> list[str]:
    return [prefix + line for line in _LINE_END.split(text)]
