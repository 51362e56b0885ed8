"""The documentation of the news Workers, checked without a runtime."""

import pytest
from pydantic import BaseModel

from sluice.core.net.addresses import AllowedHosts
from sluice.platform.storage.kv import KV
from sluice.services.news.http.api import NewsApi
from sluice.services.news.http.docs import endpoints
from sluice.services.news.http.docs import replies as docs
from sluice.services.news.http.processor import processor_routes
from sluice.services.news.http.push import PushApi
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.http.updater import updater_routes
from sluice.services.news.serve.stored_snapshot import StoredSnapshot
from sluice.web import Route
from unit.services.news.harness import NewsHarness
from unit.services.news.test_api import TWINS, Site, make_stored_article
from unit.web.calls import parsed


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/api/bitcoin-news", docs.AllNews),
        ("/api/v1/articles?limit=2", docs.StoryPage),
        ("/api/v1/articles", docs.StoryPage),
        ("/api/v1/articles/id010", docs.NewsStory),
        ("/api/v1/sentiment", docs.SentimentBuckets),
        ("/api/v1/trending?hours=720", docs.TrendingTerms),
        ("/status", docs.ServiceStatus),
    ],
)
async def test_documented(path: str, model: type[BaseModel]):
    """Every reply matches its documented model, without further members."""
    site = Site()
    await site.put(*TWINS, make_stored_article(1, needsSummary=True, processedAt=None, sentiment=None, aiSummary=None))
    body = parsed(await site.get(path))
    assert model.model_validate(body).model_dump(by_alias=True, exclude_unset=True) == body


def test_openapi():
    """Every route has a documentation, and every documentation but that of the page has a route."""
    news = NewsHarness()
    status = NewsStatus(news.store(()), news.state, news.clock, news.log)
    snapshots = StoredSnapshot(KV(news.snapshot_kv, news.clock), news.state, news.clock)
    api = [*NewsApi(snapshots, news.clock).routes(), *status.routes()]
    push = PushApi(state=news.state, allowed=AllowedHosts(), admin_token="", public_url="")
    api += push.routes()
    tables = [
        ({("GET", "/"), *list_routes(api)}, endpoints.API),
        (list_routes(updater_routes(news.updater(), status, "")), endpoints.UPDATER),
        (list_routes(processor_routes(news.processor(), status, "")), endpoints.PROCESSOR),
    ]
    for routes, documentation in tables:
        assert routes == documentation.keys()


def list_routes(routes: list[Route]) -> set[tuple[str, str]]:
    return {(route.method, route.pattern) for route in routes}
