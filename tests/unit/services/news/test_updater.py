"""What one run of the updater does, and what it costs."""

from dataclasses import replace
from typing import Any

from sluice.core.errors import Unavailable
from sluice.services.news.storage.keys import CHECKPOINT, PENDING
from unit.services.news.world import Listed, World, article


def ids(world: World) -> list[str]:
    return [entry["id"] for entry in world.read(PENDING)]


async def run(world: World, **settings: Any) -> dict[str, Any]:
    report = await world.updater(**settings).run()
    world.clock.advance(3600)
    return report


async def test_three_operations():
    """Two reads and one write."""
    world = World()
    world.source.articles = [article("a")]
    await run(world)
    assert world.kv.operations == [("get", PENDING), ("get", CHECKPOINT), ("put", PENDING)]
    [entry] = world.read(PENDING)
    assert entry.keys() == {"id", "article", "addedAt"}
    assert (entry["id"], entry["article"]["title"]) == ("a", "a")


async def test_new_in_front_without_duplicates():
    """New articles stand before the old ones, and none stands twice."""
    world = World()
    await world.pending("b")
    world.source.articles = [article("a"), article("a"), article("b")]
    report = await run(world)
    assert ids(world) == ["a", "b"]
    assert report["added"] == ["a"]


async def test_processed_articles_are_trimmed():
    """What the processor has done leaves the list and does not come back while it is listed; what it is at stays."""
    world = World()
    world.source.articles = [article("a"), article("b"), article("c")]
    await run(world)
    for _ in range(4):
        await world.minute()
    report = await run(world)
    assert (ids(world), report["trimmed"], report["added"]) == (["b", "c"], 1, [])


async def test_accepted_articles_are_never_evicted():
    """Where there is no room, the newest wait for a later run, and are told by id; what is in the list stays."""
    world = World()
    await world.pending("old")
    dated = {"c": "2027-01-03", "b": "2027-01-02", "a": "2027-01-01"}
    world.source.articles = [article(name, pubDate=date) for name, date in dated.items()]
    report = await run(world, max_pending_list_size=3)
    assert ids(world) == ["b", "a", "old"]
    assert report["surplus"] == 1
    assert ("articles.surplus", {"ids": ("c",)}) in world.log.events
    await world.until_idle()
    report = await run(world, max_pending_list_size=3)
    assert report["added"] == ["c"]


async def test_every_surplus_id_is_logged():
    """However many there are, each is told."""
    world = World()
    world.source.articles = [article(f"a{n}") for n in range(120)]
    await run(world, max_pending_list_size=1)
    lines = [fields["ids"] for name, fields in world.log.events if name == "articles.surplus"]
    assert [len(ids) for ids in lines] == [50, 50, 19]
    assert len({each for ids in lines for each in ids}) == 119


async def test_smaller_cap_evicts_nothing():
    """Even a cap below what is in the list drops no article."""
    world = World()
    await world.pending("a", "b", "c")
    await run(world, max_pending_list_size=1)
    assert ids(world) == ["a", "b", "c"]


async def test_known_articles_stop_the_paging():
    """Sources are told of everything pending, in work, waiting and done."""
    world = World()
    world.outside.failures["scrape b"] = 99
    await world.pending("a", "b", "c", "d")
    for _ in range(6):
        await world.minute()
    await run(world)
    assert world.source.known == {"a", "b", "c", "d"}


async def test_gap_is_filled():
    """After a source broke off, known articles do not stop its paging until it has come through once."""
    world = World()
    world.source.articles = [article("a")]
    world.source.error = Unavailable("page 2 answered 500")
    report = await run(world)
    assert (report["outcome"], ids(world)) == ("failed", ["a"])
    world.source.error = None
    await run(world)
    assert world.source.known == frozenset()
    await run(world)
    assert world.source.known == {"a"}


async def test_corrupt_checkpoint_loses_nothing():
    """Without a readable checkpoint nothing is trimmed, and the updater leaves it to the processor."""
    world = World()
    await world.pending("a")
    await world.put(CHECKPOINT, "{")
    world.source.articles = [article("b")]
    await run(world)
    assert ids(world) == ["b", "a"]
    assert world.kv._history[CHECKPOINT][-1][1].value == b"{"  # type: ignore[union-attr]


async def test_second_run_at_once_sees_the_first():
    """A run that reads the list as it was before the last one leaves it alone: nothing accepted is lost."""
    world = World(stale_s=60)
    world.source.articles = [article("a")]
    await world.updater().run()
    world.source.articles = [article("b")]
    assert (await world.updater().run())["outcome"] == "waiting"
    world.clock.advance(61)
    assert (await world.updater().run())["outcome"] == "ok"
    assert ids(world) == ["b", "a"]


async def test_no_source():
    """Without any source the report says what to set."""
    world = World()
    updater = world.updater()
    object.__setattr__(updater, "sources", [])
    assert "NEWS_FEEDS" in (await updater.run())["reason"]


async def test_sources_of_one_name():
    """Two feeds that go by the same name both count."""
    world = World()
    first, second = Listed(), Listed()
    first.articles, second.articles = [article("a")], [article("b")]
    assert first.name == second.name
    await replace(world.updater(), sources=[first, second]).run()
    assert sorted(ids(world)) == ["a", "b"]
