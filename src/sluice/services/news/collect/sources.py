"""Chooses the sources of news by the settings."""

from sluice.core.news.feeds.feed_source import FeedSource
from sluice.core.news.feeds.news_source import NewsSource
from sluice.core.news.feeds.word_filter import EVERYTHING
from sluice.core.ports import Fetch
from sluice.services.news.collect.conditional_feeds import ConditionalFeeds
from sluice.services.news.settings import UpdaterSettings


def choose_sources(settings: UpdaterSettings, feeds: ConditionalFeeds) -> list[NewsSource]:
    """Return the chosen news service if its key is set, and every feed."""
    return [*_choose_service(settings, feeds.fetch), *_choose_feeds(settings, feeds)]


def _choose_service(settings: UpdaterSettings, fetch: Fetch) -> list[NewsSource]:
    # Only the chosen one is imported.
    if settings.provider == "apitube" and settings.apitube_key:
        from sluice.core.news.feeds.apitube import ApiTube  # noqa: PLC0415

        key, pages = settings.apitube_key, settings.max_pages
        return [ApiTube(fetch=fetch, url=settings.apitube_url, key=key, max_pages=pages)]
    if settings.provider == "newsdata" and settings.newsdata_key:
        from sluice.core.news.feeds.newsdata import NewsData  # noqa: PLC0415

        key, pages = settings.newsdata_key, settings.max_pages
        return [NewsData(fetch=fetch, url=settings.newsdata_url, key=key, max_pages=pages)]
    return []


def _choose_feeds(settings: UpdaterSettings, feeds: ConditionalFeeds) -> list[NewsSource]:
    rules = settings.source_rules
    return [FeedSource(feeds.fetch_for(address), address, rules.get(address, EVERYTHING)) for address in settings.feeds]
