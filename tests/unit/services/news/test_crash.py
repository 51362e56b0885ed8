"""The run dies before and after every single operation and effect; the next runs lose nothing and repeat nothing."""

from collections.abc import Callable

import pytest

from fakes.binding import Crash
from sluice.services.news.storage.keys import PENDING
from unit.services.news.world import World, article

STALENESS = [0, 60]


def healthy(_world: World) -> None:
    """Everything answers."""


def outage(world: World) -> None:
    """The analyst is down for one article, for a while."""
    world.outside.failures |= {"sentiment a": 2, "summary a": 1}


def dead_link(world: World) -> None:
    """One page cannot be had."""
    world.outside.failures["scrape b"] = 99


# Enough for what fails, and for an attempt that a crash has cost.
ATTEMPTS = {"healthy": 3, "outage": 4, "dead_link": 2}


async def begun(scenario: Callable[[World], None], stale_s: float, at_once: int = 1) -> World:
    world = World(stale_s=stale_s, max_attempts=ATTEMPTS[scenario.__name__], max_articles_per_run=at_once)
    scenario(world)
    await world.pending("a", "b")
    # A summary that is stored is never asked for again.
    world.outside.on_summary = lambda title: _not_stored(world, title)
    return world


def _not_stored(world: World, title: str) -> None:
    stored = world.stored(title) or {}
    assert not stored.get("aiSummary"), f"{title} is summarised twice"


def check_all_done(world: World, *, unsummarised: tuple[str, ...] = ()) -> None:
    checkpoint = world.checkpoint()
    assert sorted(checkpoint["processedIds"]) == ["a", "b"]
    assert (checkpoint["currentArticleId"], checkpoint["tryLater"]) == (None, [])
    assert sorted(world.index()) == ["a", "b"]
    for name in ("a", "b"):
        stored = world.stored(name)
        assert (stored["needsSentiment"], stored["needsSummary"]) == (False, False)
        assert stored["processedAt"]
        assert not {"extractedContent", "inProgressSince", "contentTimeout"} & stored.keys()
        assert stored["aiSummary"] == ("" if name in unsummarised else f"Summary of {name}.")


@pytest.mark.parametrize(
    ("scenario", "stale_s", "at_once"),
    [(healthy, 0, 1), (healthy, 60, 1), (healthy, 60, 5), (outage, 60, 1), (dead_link, 0, 5), (dead_link, 60, 1)],
)
async def test_crash_at_every_point(scenario: Callable[[World], None], stale_s: float, at_once: int):
    """Whatever the point at which a run dies, every article ends processed, once."""
    undisturbed = await begun(scenario, stale_s, at_once)
    await undisturbed.until_idle()
    unsummarised = ("b",) if scenario is dead_link else ()
    check_all_done(undisturbed, unsummarised=unsummarised)
    total = len(undisturbed.steps.operations)
    assert total > 30
    for point in range(1, total + 1):
        for before in (True, False):
            world = await begun(scenario, stale_s, at_once)
            world.steps.fail_at(point, before=before)
            await world.until_idle()
            check_all_done(world, unsummarised=unsummarised)


@pytest.mark.parametrize("what", ["sentiment", "scrape", "summary"])
async def test_poison(what: str):
    """An article that kills every run at one stage is given up after its attempts, and the others go on."""
    world = await begun(healthy, 0)

    def die() -> None:
        raise Crash("poison")

    world.outside.failures[f"{what} a"] = die
    await world.until_idle(120)
    assert world.outside.asked[f"{what} a"] == 3
    assert sorted(world.checkpoint()["processedIds"]) == ["a", "b"]
    assert world.stored("b")["aiSummary"] == "Summary of b."
    assert world.stored("a")["needsSummary"] is False
    if what == "sentiment":
        assert (world.stored("a")["sentiment"], world.stored("a")["aiSummary"]) == ("", "Summary of a.")
    else:
        assert (world.stored("a")["sentiment"], world.stored("a")["aiSummary"]) == ("positive", "")


async def test_two_runs_at_once():
    """A run that begins while another is at work leaves it alone."""
    world = await begun(healthy, 0)
    turns = world.turns("processor")
    turn = await turns.take(int(world.clock.now() * 1000))
    assert (await world.processor().run())["outcome"] == "busy"
    await turns.release(turn)
    assert (await world.processor().run())["outcome"] == "ok"


async def test_updater_crash_at_every_point():
    """An updater that dies anywhere leaves the list as it was or as it should be; the next run adds what is missing."""
    for stale_s in STALENESS:
        for point in range(1, 8):
            for before in (True, False):
                world = World(stale_s=stale_s)
                await world.pending("old")
                world.source.articles = [article("new"), article("old")]
                world.steps.fail_at(point, before=before)
                for _ in range(5):
                    await world.minute(world.updater().run)
                assert [entry["id"] for entry in world.read(PENDING)] == ["new", "old"]
