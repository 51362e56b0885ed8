"""APITube: news with a sentiment of its own; each page names the address of the next."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import urlencode, urljoin, urlsplit

from sluice.core.errors import SluiceError, Unavailable
from sluice.core.news.article import SENTIMENTS, Article
from sluice.core.news.feeds.news_source import MAX_BYTES, TIMEOUT_S, SourceResult, check_status, parse_provider_json
from sluice.core.news.feeds.normalise import list_texts, normalise_article
from sluice.core.news.feeds.paging import NewsPage, fetch_pages
from sluice.core.ports import Fetch, FetchResponse

_MIN_SCORE: Final = 0.1  # a score nearer to zero is neutral
_QUERY: Final = {"language": "en", "topic.id": "industry.crypto_news", "title": "bitcoin"}
_ARTICLE_LISTS: Final = ("data", "articles", "results")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTube:
    fetch: Fetch
    url: str
    key: str
    max_pages: int
    name: ClassVar[str] = "apitube"

    async def fetch_articles(self, known: Collection[str], now_ms: int) -> SourceResult:
        return await fetch_pages(lambda address: self._fetch_page(address, now_ms), known, self.max_pages)

    async def _fetch_page(self, address: str | None, now_ms: int) -> NewsPage:
        first = f"{self.url}?{urlencode(_QUERY)}"
        headers = (("X-API-Key", self.key),)
        response = await self.fetch(address or first, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, headers=headers)
        body = _parse_body(response)
        items = next((body[name] for name in _ARTICLE_LISTS if isinstance(body.get(name), list)), None)
        if items is None:
            raise SluiceError("APITube answered without articles")
        articles = [_parse_article(each, now_ms) for each in items if isinstance(each, dict)]
        return NewsPage([each for each in articles if each], self._next_page(body))

    def _next_page(self, body: Mapping[str, Any]) -> str | None:
        """Return the next page if it is at the same host with the same scheme, because the key is sent with every request."""
        links = body.get("links")
        link = (links.get("next_page") if isinstance(links, dict) else None) or body.get("next_page")
        if not isinstance(link, str) or not link:
            return None
        address = urljoin(self.url, link)
        return address if urlsplit(address)[:2] == urlsplit(self.url)[:2] else None


def _parse_body(response: FetchResponse) -> dict[str, Any]:
    body = parse_provider_json(response, "APITube")
    if not isinstance(body, dict):
        raise Unavailable("APITube answered with something other than an object")
    if body.get("status") == "not_ok":
        check_status(response, "APITube", _error_text(body.get("errors")))
        raise SluiceError(f"APITube answered with an error: {_error_text(body.get('errors'))}")
    check_status(response, "APITube")
    return body


def _error_text(errors: object) -> str:
    first = errors[0] if isinstance(errors, list) and errors else errors
    return str(first.get("message") or first.get("code")) if isinstance(first, dict) else "no reason given"


def _parse_article(item: Mapping[str, Any], now_ms: int) -> Article | None:
    value = item.get("source")
    source = value if isinstance(value, dict) else {}
    return normalise_article(
        native_id=item.get("id"),
        title=item.get("title"),
        link=item.get("href"),
        published=item.get("published_at"),
        queued_at_ms=now_ms,
        description=item.get("description") or item.get("body"),
        source_id=str(source.get("id") or "") or None,
        source_name=source.get("name"),
        source_url=source.get("uri"),
        source_icon=source.get("favicon"),
        image_url=item.get("image"),
        language=item.get("language"),
        category=list_texts(item.get("categories")),
        sentiment=_parse_sentiment(item.get("sentiment")),
    )


def _parse_sentiment(value: object) -> str | None:
    """Return the polarity if it is one of the three words, else what the score says; None if there is neither."""
    overall = value.get("overall") if isinstance(value, dict) else None
    if not isinstance(overall, dict):
        return None
    polarity = str(overall.get("polarity", "")).lower()
    if polarity in SENTIMENTS:
        return polarity
    score = overall.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        return None
    return "positive" if score > _MIN_SCORE else "negative" if score < -_MIN_SCORE else "neutral"
