"""A run crashes before and after every single operation; the next runs lose nothing and repeat nothing."""

from collections.abc import Callable

import pytest

from fakes.binding import Crash
from sluice.services.news.run_outcomes import Busy
from sluice.services.news.storage.keys import PENDING
from unit.services.news.harness import NewsHarness, article

STALENESS = [0, 60]


def healthy(_world: NewsHarness) -> None:
    """Everything answers."""


def outage(news: NewsHarness) -> None:
    """The analyst is down for one article, for a while."""
    news.upstream.failures |= {"sentiment a": 2, "summary a": 1}


def dead_link(news: NewsHarness) -> None:
    """One page cannot be fetched."""
    news.upstream.failures["scrape b"] = 99


# Enough for the failures and for an attempt that a crash has used up.
ATTEMPTS = {"healthy": 3, "outage": 4, "dead_link": 2}


async def start_scenario(scenario: Callable[[NewsHarness], None], stale_s: float, at_once: int = 1) -> NewsHarness:
    news = NewsHarness(stale_s=stale_s, max_attempts=ATTEMPTS[scenario.__name__], max_articles_per_run=at_once)
    scenario(news)
    await news.put_pending("a", "b")
    # A stored summary must not be requested again.
    news.upstream.on_summary = lambda title: check_not_stored(news, title)
    return news


def check_not_stored(news: NewsHarness, title: str) -> None:
    stored = news.stored_article(title) or {}
    assert not stored.get("aiSummary"), f"{title} is summarised twice"


def check_all_done(news: NewsHarness, *, unsummarised: tuple[str, ...] = ()) -> None:
    checkpoint = news.checkpoint()
    assert sorted(checkpoint["processedIds"]) == ["a", "b"]
    assert (checkpoint["currentArticleId"], checkpoint["tryLater"]) == (None, [])
    assert sorted(news.index()) == ["a", "b"]
    for name in ("a", "b"):
        stored = news.stored_article(name)
        assert (stored["needsSentiment"], stored["needsSummary"]) == (False, False)
        assert stored["processedAt"]
        assert not {"extractedContent", "inProgressSince", "contentTimeout"} & stored.keys()
        assert stored["aiSummary"] == ("" if name in unsummarised else f"Summary of {name}.")


@pytest.mark.parametrize(
    ("scenario", "stale_s", "at_once"),
    [(healthy, 0, 1), (healthy, 60, 1), (healthy, 60, 5), (outage, 60, 1), (dead_link, 0, 5), (dead_link, 60, 1)],
)
async def test_crash_at_every_point(scenario: Callable[[NewsHarness], None], stale_s: float, at_once: int):
    """Wherever a run crashes, every article ends processed, once."""
    undisturbed = await start_scenario(scenario, stale_s, at_once)
    await undisturbed.run_until_idle()
    unsummarised = ("b",) if scenario is dead_link else ()
    check_all_done(undisturbed, unsummarised=unsummarised)
    total = len(undisturbed.steps.operations)
    assert total > 30
    for point in range(1, total + 1):
        for before in (True, False):
            news = await start_scenario(scenario, stale_s, at_once)
            news.steps.fail_at(point, before=before)
            await news.run_until_idle()
            check_all_done(news, unsummarised=unsummarised)


@pytest.mark.parametrize("what", ["sentiment", "scrape", "summary"])
async def test_poison(what: str):
    """An article that crashes every run at one stage is given up after its attempts; the others are processed."""
    news = await start_scenario(healthy, 0)

    def crash() -> None:
        raise Crash("poison")

    news.upstream.failures[f"{what} a"] = crash
    await news.run_until_idle(120)
    assert news.upstream.calls[f"{what} a"] == 3
    assert sorted(news.checkpoint()["processedIds"]) == ["a", "b"]
    assert news.stored_article("b")["aiSummary"] == "Summary of b."
    assert news.stored_article("a")["needsSummary"] is False
    if what == "sentiment":
        assert (news.stored_article("a")["sentiment"], news.stored_article("a")["aiSummary"]) == ("", "Summary of a.")
    else:
        assert (news.stored_article("a")["sentiment"], news.stored_article("a")["aiSummary"]) == ("positive", "")


async def test_two_runs_at_once():
    """A run that starts while another holds the lease does nothing."""
    news = await start_scenario(healthy, 0)
    leases = news.leases("processor")
    lease = await leases.acquire()
    assert lease is not None
    # The holder is at work, so that its lease is renewed while the other waits for its end.
    sleep = news.clock.sleep

    async def renew_and_sleep(seconds: float) -> None:
        await sleep(seconds)
        await leases.renew(lease)

    news.clock.sleep = renew_and_sleep  # type: ignore[method-assign]
    assert await news.processor().run() == Busy()
    news.clock.sleep = sleep  # type: ignore[method-assign]
    await leases.release(lease)
    assert (await news.processor().run()).as_json()["outcome"] == "ok"


async def test_updater_crash_at_every_point():
    """An updater that crashes anywhere leaves the old or the new list; the next run adds what is missing."""
    for stale_s in STALENESS:
        for point in range(1, 8):
            for before in (True, False):
                news = NewsHarness(stale_s=stale_s)
                await news.put_pending("old")
                news.source.articles = [article("new"), article("old")]
                news.steps.fail_at(point, before=before)
                for _ in range(5):
                    await news.run_minute(news.updater().run)
                assert [entry["id"] for entry in news.read(PENDING)] == ["new", "old"]
