"""Reads the pages of a news service, newest first, as far as they hold new articles."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article
from sluice.core.news.feeds.news_source import SourceResult


@dataclass(frozen=True, slots=True)
class NewsPage:
    """One page, and the token or address of the next; None after the last."""

    articles: list[Article]
    next_page: str | None


async def fetch_pages(
    fetch_page: Callable[[str | None], Awaitable[NewsPage]], known: Collection[str], max_pages: int
) -> SourceResult:
    """Read up to the end of the first page with a known article. Articles read before an error are kept."""
    articles: dict[str, Article] = {}
    next_page: str | None = None
    seen: set[str] = set()
    for page_number in range(1, max_pages + 1):
        try:
            page = await fetch_page(next_page)
        except SluiceError as error:
            return SourceResult(tuple(articles.values()), page_number - 1, error)
        for article in page.articles:
            articles.setdefault(article.id, article)
        next_page = page.next_page
        # A token that was seen before would lead around in a circle.
        if next_page is None or next_page in seen or any(article.id in known for article in page.articles):
            return SourceResult(tuple(articles.values()), page_number)
        seen.add(next_page)
    return SourceResult(tuple(articles.values()), max_pages)
