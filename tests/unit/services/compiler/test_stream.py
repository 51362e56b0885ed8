"""A stream reports everything in order, ends with the list or the error, and stops when the client leaves."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from sluice.core.errors import Invalid, Unavailable, Unusable
from sluice.services.compiler.live import stream as stream_module
from sluice.services.compiler.live.stream import StreamApi
from sluice.web import Request
from unit.services.compiler.world import URL, World, configuration, order

BODY = {"configuration": configuration().model_dump(mode="json", exclude_unset=True)}


async def open_stream(world: World, **more: Any) -> AsyncIterator[bytes]:
    async def guard(request: Request, *, max_bytes: int, optional_body: bool = False) -> Any:
        del request, max_bytes, optional_body
        return {**BODY, **more}

    api = StreamApi(guard=guard, compiler=world.compiler, log=world.log, record=world.service.request_metrics.record)
    reply = await api.stream(Request("POST", "https://sluice.example/compile/stream"))
    assert not isinstance(reply.body, bytes | None)
    return aiter(reply.body)  # type: ignore[arg-type]


async def collect(world: World) -> list[bytes]:
    """Return the events of a whole stream."""
    whole = b"".join([chunk async for chunk in await open_stream(world)])
    return [event + b"\n\n" for event in whole.split(b"\n\n")[:-1]]


def name_of(chunk: bytes) -> str:
    return chunk.decode().partition("\n")[0].removeprefix("event: ")


async def test_ends_with_the_list():
    """The list is stored and sent, and the last event is done."""
    world = World()
    chunks = await collect(world)
    assert [name_of(chunk) for chunk in chunks[-3:]] == ["cache", "result", "done"]
    result = json.loads(chunks[-2].decode().split("data: ")[1])
    assert result["rules"][-1] == "||track.example^"
    served = await world.lists.serve(order())
    assert served.origin == "cached"


@pytest.mark.parametrize("more", [{"report": True}, {"benchmark": True}], ids=str)
async def test_list_of_one_caller_is_not_stored(more: dict[str, bool]):
    """What one caller asked for beyond the list does not reach those who get it from the cache."""
    world = World()
    chunks = [chunk async for chunk in await open_stream(world, **more)]
    assert name_of(chunks[-1]) == "done"
    assert [name for name, _ in world.kv_fake.operations if name == "put"] == []


async def test_ends_with_the_error():
    """A failed source is the last event."""
    chunks = [chunk async for chunk in await open_stream(World({URL: Unusable("gone")}))]
    assert name_of(chunks[-1]) == "error"
    assert "gone" in chunks[-1].decode()


async def test_cache_is_down():
    """The list is still sent, with a warning."""
    world = World()

    async def refuse(*_arguments: Any, **_options: Any) -> None:
        raise Unavailable("KV is down")

    world.kv_fake.put = refuse  # type: ignore[method-assign]
    names = [name_of(chunk) for chunk in await collect(world)]
    assert names[-2:] == ["result", "done"]
    assert "cache" not in names


async def test_client_leaves(monkeypatch):
    """A client who leaves stops the compilation; until then a heartbeat is sent now and then."""
    monkeypatch.setattr(stream_module, "HEARTBEAT_S", 0.01)
    world = World()
    stopped = asyncio.Event()

    async def endless(_location: str) -> bytes:
        try:
            await asyncio.sleep(3600)
        finally:
            stopped.set()
        return b""

    world.download = endless  # type: ignore[assignment]
    chunks = await open_stream(world)
    received = [await anext(chunks) for _ in range(6)]
    assert any(chunk.startswith(b": ") for chunk in received)
    await chunks.aclose()  # type: ignore[attr-defined]
    await asyncio.wait_for(stopped.wait(), 240)


async def test_failure_in_a_stream_is_counted():
    """The reply has begun with 200, but the request counts as failed."""
    failed, done = World({URL: Unusable("gone")}), World()
    for world, expected in ((failed, (0, 1)), (done, (1, 0))):
        await collect(world)
        [counts] = world.pending_metrics.endpoints.values()
        assert (counts.success, counts.failed) == expected


async def test_bad_request_gets_no_stream():
    """It is refused before anything is fetched, and counts as failed."""
    world = World()
    with pytest.raises(Invalid):
        await open_stream(world, configuration={"name": "T"})
    [counts] = world.pending_metrics.endpoints.values()
    assert (counts.success, counts.failed) == (0, 1)
    assert world.download.requests == []
