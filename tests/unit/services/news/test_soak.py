"""Hours of operation with random trouble: crashes, outages, and reads of random staleness."""

import random
from typing import Any

import pytest

from sluice.services.news.storage.keys import PENDING
from unit.services.news.harness import CountedKV, NewsHarness, article

MAX_STALE_S = 60


class RandomlyStaleKV(CountedKV):
    """Every read returns the state at a random time within the last minute."""

    chance: random.Random

    def _visible(self, key: str) -> Any:
        self.stale_s = self.chance.uniform(0, MAX_STALE_S)
        return super()._visible(key)


def make_troubled_news(seed: int) -> NewsHarness:
    news = NewsHarness(max_attempts=20, max_articles_per_run=1 + seed % 3)
    kv = RandomlyStaleKV(news.clock, news.steps)
    kv.chance = random.Random(seed)
    news.kv = kv
    news.upstream.failures |= {"sentiment a3": 2, "scrape a5": 2, "summary a7": 1, "scrape a8": 999}

    def check(title: str) -> None:
        assert not (news.stored_article(title) or {}).get("aiSummary"), f"{title} is summarised twice"

    news.upstream.on_summary = check
    # A run takes most of its minute, so the next one starts soon after its last write.
    news.upstream.wait = lambda: news.clock.advance(kv.chance.uniform(0, 50 / news.settings.max_articles_per_run))
    return news


async def run_minute(news: NewsHarness, chance: random.Random, run: Any) -> str:
    if chance.random() < 0.25:
        news.steps.fail_at(chance.randint(1, 14), before=chance.random() < 0.5)
    outcome = await news.run_minute(run)
    news.steps._crash = None
    return outcome


@pytest.mark.parametrize("seed", range(20))
async def test_hours_of_trouble(seed: int):
    """In the end every article is processed and in the index, and no stored summary was made again."""
    news, chance = make_troubled_news(seed), random.Random(1000 + seed)
    names = [f"a{n}" for n in range(9)]
    for hour in range(3):
        news.source.articles = [article(name) for name in names[: 3 * hour + 3]]
        await run_minute(news, chance, news.updater().run)
        for _ in range(59):
            await run_minute(news, chance, news.processor().run)
    for _ in range(6):
        await news.run_minute(news.updater().run)
        news.clock.advance(60)
    quiet = 0
    while quiet < 5:
        quiet = quiet + 1 if await news.run_minute() == "idle" else 0
    assert sorted(news.checkpoint()["processedIds"]) == names
    assert sorted(news.index()) == names
    assert news.checkpoint()["tryLater"] == []
    for name in names:
        stored = news.stored_article(name)
        assert stored["processedAt"]
        assert stored["aiSummary"] == ("" if name == "a8" else f"Summary of {name}.")
    news.clock.advance(120)
    await news.updater().run()
    assert news.read(PENDING) == []
