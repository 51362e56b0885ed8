"""What the news Workers reply and store, held against the API documents that are made of the declared types."""

import json
from functools import cache
from typing import Any

import pytest

from documents import build_worker_document
from fakes.kv import FakeKV
from sluice.core.variables import Secret
from sluice.services.news.serve.stored_snapshot import FIRST_PAGE_KEY
from sluice.web import App, Route
from unit.services.news.harness import NewsHarness, article
from unit.services.news.test_api import TWINS, Site, make_stored_article
from unit.web.calls import call, parsed
from unit.web.schema_check import list_mistakes

TOKEN = "the-operators-token"
PENDING = make_stored_article(1, needsSummary=True, processedAt=None, sentiment=None, aiSummary=None)


read_document = cache(build_worker_document)


def find_mistakes(worker: str, schema: str, value: Any) -> list[str]:
    """Return why a value is none of a named type; members that the type does not name are mistakes."""
    return list_mistakes(read_document(worker), schema, value)


@pytest.mark.parametrize(
    ("path", "schema"),
    [
        ("/api/bitcoin-news", "AllNews"),
        ("/api/v1/articles?limit=2", "StoryPage"),
        ("/api/v1/articles", "StoryPage"),
        ("/api/v1/articles/id010", "NewsStory"),
        ("/api/v1/sentiment", "SentimentBuckets"),
        ("/api/v1/trending?hours=720", "TrendingTerms"),
        ("/status", "ServiceStatus"),
    ],
)
async def test_replies_of_the_api(path: str, schema: str):
    """Every reply is of its declared type, without further members."""
    site = Site()
    await site.put(*TWINS, PENDING)
    assert find_mistakes("worker-api", schema, parsed(await site.get(path))) == []


async def test_stored_bytes():
    """The stored page and the stored articles are of the types that describe them."""
    site = Site()
    await site.put(*TWINS, PENDING)
    page = await FakeKV.get(site.snapshot_kv, FIRST_PAGE_KEY)
    assert find_mistakes("worker-api", "StoryPage", json.loads(page)) == []
    news = NewsHarness()
    await news.put_pending("a")
    for _ in range(3):
        await news.run_minute()
        assert find_mistakes("worker-news-processor", "StoredArticle", news.stored_article("a")) == []


async def ask(news: NewsHarness, routes: list[Route], method: str, path: str) -> Any:
    errors: list[Exception] = []
    app = App(routes, on_error=lambda error, _request: errors.append(error))
    reply = await app.handle(call(method, path, {"Authorization": f"Bearer {TOKEN}"}))
    assert not errors, errors
    news.clock.advance(2)
    return parsed(reply)


async def test_replies_of_the_runs():
    """The reports of updater and processor, also without work and while another run is under way."""
    news = NewsHarness()
    updater = news.updater_service(admin_token=Secret(TOKEN)).routes
    assert find_mistakes("worker-news-updater", "UpdaterRun", await ask(news, updater, "POST", "/run")) == []
    news.source.articles = [article("a"), article("b")]
    assert find_mistakes("worker-news-updater", "UpdaterRun", await ask(news, updater, "POST", "/run")) == []
    assert find_mistakes("worker-news-updater", "PendingArticles", await ask(news, updater, "GET", "/")) == []
    news.settings = news.settings.__class__(admin_token=Secret(TOKEN), retry_delay_s=0)
    processor = news.processor_service().routes
    run = await ask(news, processor, "POST", "/run")
    assert (run["outcome"], find_mistakes("worker-news-processor", "ProcessorRun", run)) == ("ok", [])
    one = await ask(news, processor, "GET", "/?articleId=b")
    assert (one["success"], find_mistakes("worker-news-processor", "ProcessedArticle", one)) == (True, [])
    await news.run_until_idle()
    run = await ask(news, processor, "POST", "/run")
    assert (run["outcome"], find_mistakes("worker-news-processor", "ProcessorRun", run)) == ("idle", [])
