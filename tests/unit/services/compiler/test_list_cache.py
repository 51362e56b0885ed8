"""Compiled lists in the cache: found while fresh, equal only for equal configurations, large ones in R2."""

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.binding import Crash
from fakes.clock import ManualClock
from sluice.core.compiler.configuration import parse_configuration
from sluice.services.compiler.cache import list_cache as caching
from sluice.services.compiler.cache.compiled_list import CompressedList
from sluice.services.compiler.cache.handover import StepHandover
from sluice.services.compiler.cache.list_cache import cache_key, list_key
from unit.services.compiler.world import LIST, URL, World, configuration, order

TEXT = st.text(min_size=1, max_size=5)


@given(st.data())
def test_key_is_of_the_whole_configuration(data: st.DataObject):
    """Any different member gives another key; the order of members does not matter."""
    member = data.draw(st.sampled_from(["name", "description", "version", "source", "source_name", "exclusions"]))
    one, other = data.draw(TEXT), data.draw(TEXT)

    def build(value: str) -> dict[str, Any]:
        source = {"source": value if member == "source" else "a", "name": value if member == "source_name" else "b"}
        values: dict[str, Any] = {
            "name": "T",
            "exclusions": [value] if member == "exclusions" else [],
            "sources": [source],
        }
        return values | ({member: value} if member in {"name", "description", "version"} else {})

    keys = [cache_key(parse_configuration(value)) for value in (build(one), build(other))]
    assert (keys[0] == keys[1]) == (one == other)
    turned = dict(reversed(build(one).items()))
    assert cache_key(parse_configuration(turned)) == keys[0]


async def compile_list(world: World) -> CompressedList:
    return await world.compiler.compile(order())


async def test_hit_is_the_stored_reply():
    """The stored value is the reply itself: gzip of JSON that says it is cached."""
    world = World()
    result = await compile_list(world)
    await world.cache.put(result, 3600)
    file = await world.cache.find_reply(result.summary.cache_key)
    assert file is not None
    body = json.loads(gzip.decompress(file.content))
    assert body["cached"] is True
    assert body["rules"][-2:] == ["||ads.example^", "||track.example^"]
    assert body["ruleCount"] == 2
    text = await world.cache.find_text(result.summary.cache_key)
    assert text is not None
    assert gzip.decompress(text.content).decode().split("\n") == body["rules"]


async def test_entry_expires():
    """After its TTL neither form is found, but the previous version is."""
    world = World()
    result = await compile_list(world)
    await world.cache.put(result, 3600)
    world.clock.advance(3601)
    key = result.summary.cache_key
    assert await world.cache.find_reply(key) is None
    assert await world.cache.find_text(key) is None
    previous = await world.cache.find_previous(key)
    assert previous is not None
    assert list(previous.lines)[-1] == "||track.example^"
    assert previous.rule_count == result.summary.rule_count


async def test_previous_version_is_compared():
    """The next version reports added and removed rules, whatever its header says."""
    world = World({URL: [LIST, "||ads.example^\n||new.example^\n"]})
    await world.cache.put(await compile_list(world), 3600)
    world.clock.advance(10)
    previous = (await compile_list(world)).reply_members()["previousVersion"]
    assert previous["diff"] == {
        "added": 1,
        "removed": 1,
        "unchanged": 1,
        "addedRules": ["||new.example^"],
        "removedRules": ["||track.example^"],
    }


async def test_large_list_goes_to_r2(monkeypatch):
    """A list that is too large for KV is in R2, is found the same way, and is deleted after its TTL."""
    monkeypatch.setattr(caching, "MAX_KV_BYTES", 100)
    world = World()
    result = await compile_list(world)
    await world.cache.put(result, 3600)
    key = result.summary.cache_key
    assert {subject for name, subject in world.r2_fake.operations if name == "put"} == {
        f"large/{key}",
        f"large/{list_key(key)}",
    }
    file = await world.cache.find_reply(key)
    assert file is not None
    assert json.loads(gzip.decompress(file.content))["ruleCount"] == result.summary.rule_count
    world.clock.advance(3601)
    assert await world.cache.delete_expired() == 1
    world.clock.advance(caching.LIST_TTL_S)
    assert await world.cache.delete_expired() == 1


async def test_metadata_fits():
    """The longest name in the widest characters fits into KV metadata."""
    world = World()
    wanted = configuration(name="𝔛" * 256)
    result = await world.compiler.compile(order(wanted))
    await world.cache.put(result, 3600)
    assert await world.cache.find_reply(result.summary.cache_key) is not None


async def test_expiry_is_known():
    """The expiry of an entry is known without reading it."""
    world = World(clock=ManualClock())
    assert await world.cache.find_expiry(configuration()) is None
    await world.cache.put(await compile_list(world), 3600)
    assert await world.cache.find_expiry(configuration()) == world.clock.now() + 3600


async def test_list_survives_storage():
    """A compiled list survives the conversion to bytes, and R2."""
    world = World()
    result = await compile_list(world)
    assert CompressedList.from_bytes(result.to_bytes()) == result
    handover = StepHandover(bucket=world.bucket, clock=world.clock)
    await handover.put("wf-1", result)
    assert await handover.get("wf-1") == result


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("is_large", [True, False], ids=["large", "small"])
async def test_crash_at_every_operation(monkeypatch: pytest.MonkeyPatch, is_large: bool, before: bool):
    """A list whose storing was cut off is compiled again; what is found is whole, and nothing of it is lost."""
    if is_large:
        monkeypatch.setattr(caching, "MAX_KV_BYTES", 100)
    for fake in ("kv_fake", "r2_fake", "d1_fake"):
        for at in range(1, 40):
            world = World()
            getattr(world, fake).fail_at(at, before=before)
            has_crashed = False
            try:
                await world.lists.serve(order())
            except Crash:
                has_crashed = True
            getattr(world, fake).fail_at(10**9, before=True)
            world.clock.advance(2)
            world.start()
            await world.lists.serve(order())
            world.clock.advance(2)
            file = await world.cache.find_reply(cache_key(configuration()))
            text = await world.cache.find_text(cache_key(configuration()))
            assert file is not None
            assert text is not None
            rules = json.loads(gzip.decompress(file.content))["rules"]
            assert rules == gzip.decompress(text.content).decode().split("\n")
            assert rules[-2:] == ["||ads.example^", "||track.example^"]
            if not has_crashed:
                break
        else:
            pytest.fail("there are more operations than were tried")
