"""NewsData.io: crypto news, paged by an opaque token."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article
from sluice.core.news.feeds.news_source import MAX_BYTES, TIMEOUT_S, SourceResult, check_status, parse_provider_json
from sluice.core.news.feeds.normalise import list_texts, normalise_article
from sluice.core.news.feeds.paging import NewsPage, fetch_pages
from sluice.core.ports import Fetch, FetchResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsData:
    fetch: Fetch
    url: str
    key: str
    max_pages: int
    name: ClassVar[str] = "newsdata"

    async def fetch_articles(self, known: Collection[str], now_ms: int) -> SourceResult:
        return await fetch_pages(lambda token: self._fetch_page(token, now_ms), known, self.max_pages)

    async def _fetch_page(self, token: str | None, now_ms: int) -> NewsPage:
        query = {"apikey": self.key, "coin": "btc", "language": "en", "removeduplicate": "1"}
        address = f"{self.url}?{urlencode(query | ({'page': token} if token else {}))}"
        response = await self.fetch(address, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S)
        return _parse_page(response, now_ms)


def _parse_page(response: FetchResponse, now_ms: int) -> NewsPage:
    body = parse_provider_json(response, "NewsData")
    results = body.get("results") if isinstance(body, dict) else None
    if isinstance(body, dict) and (body.get("status") == "error" or isinstance(results, dict)):
        check_status(response, "NewsData", _error_text(results))
        raise SluiceError(f"NewsData answered with an error: {_error_text(results)}")
    check_status(response, "NewsData")
    if not isinstance(results, list):
        raise SluiceError("NewsData answered without results")
    next_page = body.get("nextPage")
    articles = [_parse_article(each, now_ms) for each in results if isinstance(each, dict)]
    return NewsPage(
        [each for each in articles if each], next_page if isinstance(next_page, str) and next_page else None
    )


def _error_text(results: object) -> str:
    if not isinstance(results, dict):
        return "no reason given"
    return str(results.get("message") or results.get("code") or results)


def _parse_article(item: Mapping[str, Any], now_ms: int) -> Article | None:
    return normalise_article(
        native_id=item.get("article_id"),
        title=item.get("title"),
        link=item.get("link"),
        published=item.get("pubDate"),
        queued_at_ms=now_ms,
        description=item.get("description"),
        **{name: item.get(name) for name in ("source_id", "source_name", "source_url", "source_icon", "image_url")},
        language=item.get("language"),
        country=list_texts(item.get("country")),
        category=list_texts(item.get("category")),
    )
