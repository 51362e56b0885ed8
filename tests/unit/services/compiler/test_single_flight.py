"""Equal requests at the same time compile once; a caller who leaves or a failure does not affect the others."""

import asyncio
import gzip
import json

import pytest

from fakes.binding import JsError
from sluice.core.errors import Unavailable, Unusable
from sluice.services.compiler.cache import list_cache
from sluice.services.compiler.cache.compile_order import CallerOptions
from sluice.services.compiler.cache.served_list import ServedList
from sluice.services.compiler.cache.single_flight import SingleFlight
from unit.services.compiler.world import LIST, URL, World, configuration, order


async def serve(world: World, form: str = "json") -> ServedList:
    return await world.lists.serve(order(form=form))


async def test_burst_compiles_once():
    """Of a hundred requests one compiles, all get the same list, and a later one finds it in the cache."""
    world = World()
    served = await asyncio.gather(*(serve(world) for _ in range(100)))
    assert world.download.requests == [URL]
    assert [one.origin for one in served].count("fresh") == 1
    lists = {tuple(json.loads(gzip.decompress(one.file.content))["rules"]) for one in served if one.file}
    assert len(lists) == 1
    assert (await serve(world)).origin == "cached"


async def test_forms_share_a_compilation():
    """Callers of the text, the reply and the summary share one compilation."""
    world = World()
    served = await asyncio.gather(*(serve(world, form) for form in ("json", "text", "summary") * 3))
    assert world.download.requests == [URL]
    assert len({one.summary.cache_key for one in served}) == 1


async def test_failure_is_shared_once():
    """All waiting callers get the failure; the next request compiles again."""
    world = World({URL: [Unusable("gone"), LIST]})
    results = await asyncio.gather(*(serve(world) for _ in range(5)), return_exceptions=True)
    assert {type(one) for one in results} == {Unusable}
    assert world.download.requests == [URL]
    assert (await serve(world)).origin == "fresh"


async def test_first_caller_leaves():
    """If the caller who started the compilation leaves, the others still get the list."""
    world = World()
    single_flight = SingleFlight(world.compiler)
    first = asyncio.ensure_future(single_flight.serve(order(form="json")))
    others = [asyncio.ensure_future(single_flight.serve(order(form="json"))) for _ in range(3)]
    for _ in range(3):
        await asyncio.sleep(0)
    first.cancel()
    assert {(await other).origin for other in others} <= {"fresh", "shared", "cached"}
    assert world.download.requests == [URL]


@pytest.mark.parametrize("form", ["json", "text"])
async def test_cache_that_is_down(form: str):
    """While KV answers nothing, a list is compiled and served; each trouble is one line of the log, and no failure."""
    world = World()
    world.kv_fake.failure = JsError("KV GET failed: 500 Internal Server Error")
    assert (await serve(world, form)).origin == "fresh"
    names = world.log.names()
    assert [names.count(f"cache.{what}") for what in ("unreadable", "unwritable")] == [1, 1]
    assert not [fields for _, fields in world.log.events if "error" in fields]
    world.kv_fake.failure = None
    assert [(await serve(world, form)).origin for _ in range(2)] == ["fresh", "cached"]


@pytest.mark.parametrize("form", ["json", "text"])
async def test_bucket_that_is_down(monkeypatch: pytest.MonkeyPatch, form: str):
    """While R2 fails, a list that lies there is compiled anew."""
    monkeypatch.setattr(list_cache, "MAX_KV_BYTES", 10)
    world = World()
    await serve(world)
    world.clock.advance(2)
    world.r2_fake.failure = JsError("get: We encountered an internal error. Please try again. (10001)")
    assert (await serve(world, form)).origin == "fresh"
    world.r2_fake.failure = None
    assert (await serve(world, form)).origin == "cached"


async def test_flight_reads_no_cache_either():
    """The object of a configuration compiles although it cannot read the cache itself."""
    world = World()
    world.kv_fake.failure = JsError("KV GET failed: 500 Internal Server Error")
    assert (await SingleFlight(world.compiler).serve(order(form="json"))).origin == "fresh"


async def test_job_needs_the_cache():
    """A job has failed if its list cannot be stored: nobody waits for it."""
    world = World()
    world.kv_fake.failure = JsError("KV PUT failed: 500 Internal Server Error")
    with pytest.raises(Unavailable, match="KV"):
        await world.lists.ensure_cached(order())


async def test_content_is_private():
    """A list from the caller's own content is compiled each time, and stored where only its job reads it."""
    world = World()
    wanted = configuration("given")
    for _ in range(2):
        summary = await world.lists.ensure_cached(
            order(wanted, caller_options=CallerOptions(pre_fetched_content={"given": "||own.example^"}))
        )
        world.clock.advance(2)
    assert "private" in summary.cache_key
    assert world.counts["compilations", "success"] == 2
    with pytest.raises(Exception, match="unexpected download"):
        await world.lists.serve(order(wanted, form="json"))
