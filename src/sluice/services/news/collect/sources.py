"""Chooses the sources of news by the settings."""

from sluice.core.news.feeds.apitube import ApiTube
from sluice.core.news.feeds.feed_source import FeedSource
from sluice.core.news.feeds.newsdata import NewsData
from sluice.core.news.feeds.source import Source
from sluice.core.ports import Fetch
from sluice.services.news.settings import UpdaterSettings


def choose_sources(settings: UpdaterSettings, fetch: Fetch) -> list[Source]:
    """Returns the chosen news service if its key is set, and every feed."""
    services: dict[str, tuple[str, Source]] = {
        "newsdata": (
            settings.newsdata_key,
            NewsData(fetch=fetch, url=settings.newsdata_url, key=settings.newsdata_key, max_pages=settings.max_pages),
        ),
        "apitube": (
            settings.apitube_key,
            ApiTube(fetch=fetch, url=settings.apitube_url, key=settings.apitube_key, max_pages=settings.max_pages),
        ),
    }
    key, service = services[settings.provider]
    return [*([service] if key else []), *(FeedSource(fetch, address) for address in settings.feeds)]
