"""Server-Sent Events: what a browser would read of them."""

import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.web.sse import SseComment, SseEvent, stream_events

ONE_LINE = st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]))
EVENTS = st.builds(
    SseEvent,
    st.text(st.characters(exclude_categories=["Cs"])) | st.text(st.sampled_from("a: \r\n\u2028")),
    st.none() | ONE_LINE,
    st.none() | ONE_LINE,
    st.none() | st.integers(0, 10_000),
)


def received(stream: bytes) -> list[dict[str, str]]:
    """Return the events a client dispatches, by the rules of the HTML standard."""
    events = []
    fields: dict[str, str] = {}
    for line in re.split(r"\r\n|\r|\n", stream.decode()):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if not line:
            events += [fields] if "data" in fields else []
            fields = {}
        elif name == "data":
            fields["data"] = f"{fields['data']}\n{value}" if "data" in fields else value
        elif name:
            fields[name] = value
    return events


def expected(event: SseEvent) -> dict[str, str]:
    known = {"event": event.name, "id": event.id, "retry": event.retry_ms}
    data = event.data.replace("\r\n", "\n").replace("\r", "\n")
    return {"data": data} | {name: str(value) for name, value in known.items() if value is not None}


async def source(*events: SseEvent | SseComment) -> AsyncIterator[SseEvent | SseComment]:
    for event in events:
        yield event


@given(st.lists(EVENTS | st.builds(SseComment, st.text())))
def test_a_client_reads_what_was_sent(events):
    """All events arrive complete and in order, no value can inject an event, and comments are ignored."""
    stream = b"".join(event.encode() for event in events)
    assert received(stream) == [expected(event) for event in events if isinstance(event, SseEvent)]


def test_the_bytes_are_as_documented():
    """Fields stand one per line, data of several lines is repeated, an empty line ends the event."""
    event = SseEvent('{"n":1}\nmore', name="progress", id="7", retry_ms=3000)
    assert event.encode() == b'event: progress\nid: 7\nretry: 3000\ndata: {"n":1}\ndata: more\n\n'
    assert SseComment("still\nhere").encode() == b": still\n: here\n\n"


@pytest.mark.parametrize("text", ["a\nb", "a\rdata: x", "a\0"])
def test_names_and_ids_stay_on_their_line(text):
    """A name or id that would end its line is refused."""
    with pytest.raises(ValueError):
        SseEvent("", name=text)
    with pytest.raises(ValueError):
        SseEvent("", id=text)


def test_a_negative_retry_is_refused():
    """A negative retry time is refused."""
    with pytest.raises(ValueError):
        SseEvent("", retry_ms=-1)


async def test_the_reply_streams_uncached():
    """The reply is an event stream that caches do not store, with the caller's headers."""
    reply = stream_events(source(SseEvent("1"), SseComment()), {"X-Id": "a"})
    assert dict(reply.headers) == {"Content-Type": "text/event-stream", "X-Id": "a"}
    assert isinstance(reply.body, AsyncIterable)
    assert [chunk async for chunk in reply.body] == [b"data: 1\n\n", b": \n\n"]


async def test_a_client_that_leaves_stops_the_source():
    """Closing the stream runs the cleanup of the events' source at once."""
    stopped = []

    async def endless() -> AsyncIterator[SseEvent]:
        try:
            while True:
                yield SseEvent("tick")
        finally:
            stopped.append(True)

    body = stream_events(endless()).body
    assert isinstance(body, AsyncGenerator)
    async for _ in body:
        break
    await body.aclose()
    assert stopped == [True]
