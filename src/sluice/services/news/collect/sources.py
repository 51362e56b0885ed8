"""Chooses the sources of news by the settings."""

from sluice.core.news.feeds.apitube import ApiTube
from sluice.core.news.feeds.feed_source import FeedSource
from sluice.core.news.feeds.newsdata import NewsData
from sluice.core.news.feeds.source import Source
from sluice.core.news.feeds.source_rules import EVERYTHING
from sluice.services.news.collect.conditional import ConditionalFeeds
from sluice.services.news.settings import UpdaterSettings


def choose_sources(settings: UpdaterSettings, feeds: ConditionalFeeds) -> list[Source]:
    """Returns the chosen news service if its key is set, and every feed."""
    fetch = feeds.fetch
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
    return [*([service] if key else []), *_choose_feeds(settings, feeds)]


def _choose_feeds(settings: UpdaterSettings, feeds: ConditionalFeeds) -> list[Source]:
    rules = settings.source_rules
    return [FeedSource(feeds.fetch_for(address), address, rules.get(address, EVERYTHING)) for address in settings.feeds]
