"""Pages of news, newest first, read as far as they are news."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article
from sluice.core.news.feeds.source import Harvest


@dataclass(frozen=True, slots=True)
class Paged:
    """One page, and what names the next; None after the last."""

    articles: list[Article]
    following: str | None


async def harvested(read: Callable[[str | None], Awaitable[Paged]], known: Collection[str], max_pages: int) -> Harvest:
    """All articles up to the end of the first page that holds a known one; what was read before an error is kept."""
    articles: dict[str, Article] = {}
    following: str | None = None
    seen: set[str] = set()
    for page_number in range(1, max_pages + 1):
        try:
            page = await read(following)
        except SluiceError as error:
            return Harvest(tuple(articles.values()), page_number - 1, error)
        for article in page.articles:
            articles.setdefault(article.id, article)
        following = page.following
        # A token that comes again would lead around in a circle.
        if following is None or following in seen or any(article.id in known for article in page.articles):
            return Harvest(tuple(articles.values()), page_number)
        seen.add(following)
    return Harvest(tuple(articles.values()), max_pages)
