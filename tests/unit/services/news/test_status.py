"""GET /status tells the truth: what works, what does not, and why."""

import json
from typing import Any

import pytest

from sluice.core.errors import Unavailable
from sluice.core.news.ai.ai_failures import AiFault
from sluice.services.news.http.status import CRASHED_MS, SILENT_PROCESSOR_MS, SILENT_UPDATER_MS
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, PENDING
from unit.services.news.harness import NewsHarness, article
from unit.services.news.test_replies import find_mistakes


async def read_status(news: NewsHarness) -> Any:
    report = await news.api().status.report()
    assert find_mistakes("worker-api", "ServiceStatus", report) == []
    return report


async def run_updater(news: NewsHarness) -> None:
    await news.updater().run()
    news.clock.advance(2)


async def test_working_service():
    """After a run of each Worker the status is ok, with the backlog and the last runs."""
    news = NewsHarness()
    news.source.articles = [article("a"), article("b")]
    await run_updater(news)
    await news.processor().run()
    status = await read_status(news)
    assert (status["status"], status["problems"], status["backlog"]) == ("ok", [], 1)
    assert status["current"]["stage"] == "content"
    [source] = status["sources"]
    assert (source["name"], source["items"], source["failures"], source["lastError"]) == ("listed", 2, 0, None)
    assert source["lastSuccess"] == status["lastRun"]["updater"]


async def test_articles_to_try_later():
    """Each is listed with its reason."""
    news = NewsHarness(retry_delay_s=1000)
    news.upstream.failures["scrape"] = 9
    await news.put_pending("a")
    await news.run_minute()
    await news.run_minute()
    [entry] = (await read_status(news))["tryLater"]
    assert (entry["id"], entry["reason"], entry["attempts"]) == ("a", "fetch_failed: not now (attempt 1/5)", 1)


async def test_crashed_updater():
    """A run that started and did not end is no success, although the run before it was."""
    news = NewsHarness()
    await run_updater(news)
    news.clock.advance(3600)
    await news.state.begin_update()
    assert (await read_status(news))["status"] == "ok"
    news.clock.advance(CRASHED_MS / 1000 + 1)
    status = await read_status(news)
    assert status["status"] == "degraded"
    assert "has not ended: it crashed" in status["problem"]


async def test_silent_updater():
    """An updater whose cron does not run any more is a problem."""
    news = NewsHarness()
    await run_updater(news)
    news.clock.advance(SILENT_UPDATER_MS / 1000)
    assert "the updater has not run since" in (await read_status(news))["problem"]


async def test_silent_processor():
    """A backlog that nobody works on is a problem."""
    news = NewsHarness()
    news.source.articles = [article("a")]
    await run_updater(news)
    news.clock.advance(SILENT_PROCESSOR_MS / 1000)
    assert "1 articles wait, and the processor has not worked since" in (await read_status(news))["problem"]


async def test_failing_source():
    """A source that fails is named with its error; the others are in order."""
    news = NewsHarness()
    news.source.error = Unavailable("it answered 500")
    await run_updater(news)
    status = await read_status(news)
    assert status["problems"] == ["source listed has failed 1 times in a row: it answered 500"]
    assert status["lastRun"]["failedSources"] == ["listed"]
    news.source.error = None
    await run_updater(news)
    assert (await read_status(news))["status"] == "ok"


async def test_ai_breaker():
    """While Workers AI is not asked, the status says so and why."""
    news = NewsHarness()
    news.state.ai.record_failure(AiFault.PERMANENT, "5028: removed", int(news.clock.now() * 1000))
    assert (await read_status(news))["problem"] == (
        "Workers AI is not asked for now, the embedded analyst serves: 5028: removed"
    )


async def test_corrupt_checkpoint():
    """It is reported until the processor has mended it."""
    news = NewsHarness()
    await news.put(CHECKPOINT, "[]")
    assert "the checkpoint is corrupt: it is not an object" in (await read_status(news))["problem"]
    await news.processor().run()
    assert (await read_status(news))["status"] == "ok"


async def test_corrupt_index():
    """It is reported until the processor has mended it."""
    news = NewsHarness()
    await news.put(INDEX, '["a", 5]')
    problem = (await read_status(news))["problem"]
    assert "the index of articles is corrupt: 1 of its 2 entries are no ids; the next article" in problem
    await news.put_pending("b")
    await news.processor().run()
    assert (await read_status(news))["status"] == "ok"


async def test_unreachable_state_object(monkeypatch: pytest.MonkeyPatch):
    """The rest of the status is served without the state object."""
    news = NewsHarness()
    await news.put(PENDING, json.dumps([]))

    async def fail(_self: object) -> str:
        raise Unavailable("not now")

    monkeypatch.setattr(type(news.state), "describe", fail)
    assert "the state object does not answer" in (await read_status(news))["problem"]
