"""Copies of another version: what cannot be read counts as missing, and is renewed by itself."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from sluice.core.headers import header_value
from sluice.core.json_text import encode_json
from sluice.services.preload.discovery.page_index import parse_page
from sluice.services.preload.serving.copies import COPY, COPY_SHAPE
from unit.services.preload.test_page_server import Visits, cache_headers, read_body, start
from unit.services.preload.world import OriginReply

Change = Callable[[dict[str, str]], Mapping[str, str]]


def drop(name: str) -> Change:
    return lambda metadata: {key: value for key, value in metadata.items() if key != name}


def put(name: str, value: str) -> Change:
    return lambda metadata: {**metadata, name: value}


UNREADABLE = {
    "newer shape": put("shape", str(int(COPY_SHAPE) + 1)),
    "two seconds of freshness": put("freshness", "[600, 60]"),
    "no freshness": drop("freshness"),
    "text for headers": put("headers", "none"),
    "number for headers": put("headers", "5"),
    "no number": put("seq", "first"),
    "headers elsewhere": put("beside", "0" * 64),
}


async def warm(here: Visits, change: Change) -> None:
    await here.warm("/a")
    await change_copy(here, change)


async def change_copy(here: Visits, change: Change) -> None:
    """Store the one copy as another version did; no edge has it."""
    here.world.edge.stored.clear()
    [(key, stored)] = here.world.bucket._objects.items()
    await here.world.bucket.put(key, stored._content, {"customMetadata": dict(change(stored.customMetadata))})


async def coverage(here: Visits) -> tuple[int, int, int]:
    found = (await here.world.zone.show_traffic())["coverage"]
    return found["warm"], found["stale"], found["cold"]


@pytest.mark.parametrize("name", UNREADABLE)
async def test_unreadable_copy(name: str):
    """The visitor gets the origin's reply, the page is queued for warming once, and the index says that it is cold."""
    here = await start()
    await warm(here, UNREADABLE[name])
    assert await coverage(here) == (1, 0, 0)
    here.world.origin.default = OriginReply(headers=(("set-cookie", "a=b"),), body=b"new")
    for _ in range(3):
        reply = await here.get()
        assert (cache_headers(reply), await read_body(reply)) == (("ORIGIN", "MISS"), b"new")
        await here.settle()
    assert await coverage(here) == (0, 0, 1)
    batches = here.world.sql.rows("SELECT total FROM batch WHERE trigger_name = 'visit'")
    assert batches == [{"total": 1}]
    here.world.origin.default = OriginReply(body=b"newer")
    await here.world.drain()
    assert await coverage(here) == (1, 0, 0)
    assert await read_body(await here.get()) == b"newer"
    await here.settle()


async def test_visitor_renews():
    """A visitor whose reply may be stored renews the copy by himself."""
    here = await start()
    await warm(here, UNREADABLE["newer shape"])
    await here.get()
    await here.settle()
    assert await coverage(here) == (1, 0, 0)
    assert cache_headers(await here.get()) == ("EDGE", "HIT")


async def test_warming_renews():
    """Warming does not ask whether a copy has changed that cannot be read: the page is fetched whole."""
    here = await start()
    here.world.origin.default = OriginReply(headers=(("etag", '"1"'),), body=b"one")
    await warm(here, UNREADABLE["newer shape"])

    def answer(headers: Any) -> OriginReply:
        return OriginReply(304) if header_value(headers, "if-none-match") else OriginReply(body=b"two")

    here.world.origin.default = answer
    await here.world.enqueue("/a")
    await here.world.drain()
    assert await read_body(await here.get()) == b"two"
    await here.settle()


async def test_nobody_comes():
    """The object of a copy that was found unreadable and was not renewed is removed with its row."""
    here = await start(preload_enabled=False)
    await here.world.enqueue("/a", trigger="manual")
    await here.world.drain()
    await change_copy(here, put("shape", "0"))
    here.world.origin.default = OriginReply(500)
    await here.get()
    await here.settle()
    here.world.clock.advance(600)
    await here.world.zone.tick()
    assert not here.world.bucket._objects
    assert await here.world.rows("SELECT 1 FROM cached_pages") == []


async def test_newer_copy_is_no_victim():
    """A copy that was stored since the unreadable one was read stays in the index."""
    here = await start()
    await here.warm("/a")
    pages = here.world.services.pages
    [row] = await here.world.rows("SELECT url, variant, stored_at FROM cached_pages")
    await pages.mark_unreadable(parse_page(row), stored_before=row["stored_at"] - 1)
    assert await coverage(here) == (1, 0, 0)


async def test_copies_without_a_shape():
    """What was stored before shapes had a number is of the first one, in R2 and at the edge."""
    here = await start()
    await warm(here, drop("shape"))
    assert cache_headers(await here.get()) == ("R2", "HIT")
    await here.settle()
    [stored] = here.world.edge.stored.values()
    described = json.loads(header_value(stored.headers, COPY))
    del described["shape"]
    others = tuple(pair for pair in stored.headers if pair[0] != COPY)
    stored.headers = (*others, (COPY, encode_json(described)))
    assert cache_headers(await here.get()) == ("EDGE", "HIT")
    stored.headers = (*others, (COPY, encode_json({**described, "shape": "0"})))
    assert cache_headers(await here.get()) == ("R2", "HIT")
    await here.settle()
