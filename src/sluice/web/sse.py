"""Server-Sent Events: values in, one `text/event-stream` out, and no value can forge a line."""

import re
from collections.abc import AsyncGenerator, AsyncIterable
from dataclasses import dataclass

from sluice.core.json_text import encode_utf8
from sluice.web.headers import HeadersLike, to_pairs
from sluice.web.messages import Reply

# The three line ends of the format; splitlines() would also cut at U+2028 and lose it.
_LINE_END = re.compile(r"\r\n|\r|\n")
_NOT_ON_ONE_LINE = re.compile(r"[\r\n\0]")


@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event; data may span lines, name and id may not."""

    data: str
    name: str | None = None
    id: str | None = None
    retry_ms: int | None = None

    def __post_init__(self) -> None:
        for value in (self.name, self.id):
            if value is not None and _NOT_ON_ONE_LINE.search(value):
                raise ValueError("the name and the id of an event stand on one line each")
        if self.retry_ms is not None and self.retry_ms < 0:
            raise ValueError("an event cannot be retried in the past")

    def encode(self) -> bytes:
        """The event as the bytes of the stream, its closing empty line included."""
        fields = (("event", self.name), ("id", self.id), ("retry", self.retry_ms))
        head = [f"{label}: {value}" for label, value in fields if value is not None]
        return encode_utf8("\n".join([*head, *_lines("data: ", self.data)]) + "\n\n")


@dataclass(frozen=True, slots=True)
class SseComment:
    """A line every client ignores; sent now and then, it keeps an idle connection open."""

    text: str = ""

    def encode(self) -> bytes:
        """The comment as the bytes of the stream."""
        return encode_utf8("\n".join(_lines(": ", self.text)) + "\n\n")


def stream_events(events: AsyncIterable[SseEvent | SseComment], headers: HeadersLike = ()) -> Reply:
    """A reply that streams the events as they come."""
    return Reply.stream(
        _encoded(events),
        content_type="text/event-stream",
        headers=(("Cache-Control", "no-cache"), *to_pairs(headers)),
    )


async def _encoded(events: AsyncIterable[SseEvent | SseComment]) -> AsyncGenerator[bytes, None]:
    try:
        async for event in events:
            yield event.encode()
    finally:
        # When the client leaves, the source must stop too; without a running collector nobody else would close it.
        if isinstance(events, AsyncGenerator):
            await events.aclose()


def _lines(prefix: str, text: str) -> list[str]:
    return [prefix + line for line in _LINE_END.split(text)]
