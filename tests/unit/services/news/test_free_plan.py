"""What README says of KV writes is what the runs make, and its advice stays below the free plan's limit."""

import re
from pathlib import Path

from sluice.services.news.process.legacy_migration import MAX_ADOPTED
from unit.services.news.harness import NewsHarness, article

README = (Path(__file__).parents[4] / "README.md").read_text()
FREE_WRITES = 1000
MINUTES_A_DAY = 24 * 60


def count_writes(news: NewsHarness) -> int:
    """Return the writes so far, of the pipeline and of the snapshot."""
    operations = [*news.kv.operations, *news.snapshot_kv.operations]
    return sum(name == "put" for name, _ in operations)


async def count_writes_of_runs(news: NewsHarness) -> list[int]:
    """Return the writes of each run until there is nothing left to do."""
    writes: list[int] = []
    while True:
        before = count_writes(news)
        if await news.run_minute() == "idle":
            assert count_writes(news) == before
            return writes
        writes.append(count_writes(news) - before)


async def count_writes_of_an_update() -> int:
    """Return an update that finds an article, while the state object has missed another one."""
    news = NewsHarness()
    await news.put_pending("a")
    await news.run_until_idle()
    news.source.articles = [article("b")]
    await news.put("article:a", article("a", title="changed").as_json())
    # What was published lately is not read again.
    news.clock.advance(3600)
    before = count_writes(news)
    await news.updater().run()
    return count_writes(news) - before


async def test_readme_counts_all_writes():
    """The fewest and the most writes of a stage, and those of an update, are as written."""
    healthy, failing = NewsHarness(), NewsHarness(max_attempts=2)
    await healthy.put_pending("a", "b")
    failing.upstream.failures |= {"scrape": 99}
    await failing.put_pending("a")
    stages = [*await count_writes_of_runs(healthy), *await count_writes_of_runs(failing)]
    stated = re.search(
        r"A stage costs (\d+) to (\d+)\s+KV writes, three of them by worker-api, and an update up to (\d+)", README
    )
    assert stated
    assert [int(each) for each in stated.groups()] == [min(stages), max(stages), await count_writes_of_an_update()]


def test_advice_stays_below_the_limit():
    """A processor that works in each of its runs, and an update every hour, make fewer writes than are free."""
    most, update, minutes = (
        int(each)
        for each in re.findall(r"costs \d+ to (\d+)\s+KV|an update up to (\d+)|run every (\d+) minutes", README)
        for each in each
        if each
    )
    assert MINUTES_A_DAY // minutes * most + 24 * update < FREE_WRITES


def test_adoption_is_stated():
    """README names how many articles of the older list a run adopts."""
    assert f"adopted, {MAX_ADOPTED} in a run" in README
