"""Hours of the pipeline with everything going wrong at random: crashes, outages, and each read as old as it likes."""

import random
from typing import Any

import pytest

from sluice.services.news.storage.keys import PENDING
from unit.services.news.world import CountedKV, World, article

MAX_STALE_S = 60


class Moody(CountedKV):
    """Every single read shows the state of another moment within the last minute."""

    mood: random.Random

    def _visible(self, key: str) -> Any:
        self.stale_s = self.mood.uniform(0, MAX_STALE_S)
        return super()._visible(key)


def troubled(seed: int) -> World:
    world = World(max_attempts=20, max_articles_per_run=1 + seed % 3)
    moody = Moody(world.clock, world.steps)
    moody.mood = random.Random(seed)
    world.kv = moody
    world.outside.failures |= {"sentiment a3": 2, "scrape a5": 2, "summary a7": 1, "scrape a8": 999}

    def check(title: str) -> None:
        assert not (world.stored(title) or {}).get("aiSummary"), f"{title} is summarised twice"

    world.outside.on_summary = check
    # A run takes most of its minute, so the next one comes soon after its last write.
    world.outside.wait = lambda: world.clock.advance(moody.mood.uniform(0, 50 / world.settings.max_articles_per_run))
    return world


async def minute(world: World, chance: random.Random, run: Any) -> str:
    if chance.random() < 0.25:
        world.steps.fail_at(chance.randint(1, 14), before=chance.random() < 0.5)
    outcome = await world.minute(run)
    world.steps._crash = None
    return outcome


@pytest.mark.parametrize("seed", range(20))
async def test_hours_of_trouble(seed: int):
    """In the end every article is processed and listed, and no summary that was stored was made again."""
    world, chance = troubled(seed), random.Random(1000 + seed)
    names = [f"a{n}" for n in range(9)]
    for hour in range(3):
        world.source.articles = [article(name) for name in names[: 3 * hour + 3]]
        await minute(world, chance, world.updater().run)
        for _ in range(59):
            await minute(world, chance, world.processor().run)
    for _ in range(6):
        await world.minute(world.updater().run)
        world.clock.advance(60)
    quiet = 0
    while quiet < 5:
        quiet = quiet + 1 if await world.minute() == "idle" else 0
    assert sorted(world.checkpoint()["processedIds"]) == names
    assert sorted(world.index()) == names
    assert world.checkpoint()["tryLater"] == []
    for name in names:
        stored = world.stored(name)
        assert stored["processedAt"]
        assert stored["aiSummary"] == ("" if name == "a8" else f"Summary of {name}.")
    world.clock.advance(120)
    await world.updater().run()
    assert world.read(PENDING) == []
