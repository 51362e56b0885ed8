"""APITube: news with a sentiment of its own, each page naming the next."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final
from urllib.parse import urlencode, urljoin, urlsplit

from sluice.core.errors import SluiceError, Unavailable
from sluice.core.news.article import SENTIMENTS, Article
from sluice.core.news.feeds.normalise import normalised, text_list
from sluice.core.news.feeds.paging import Paged, harvested
from sluice.core.news.feeds.source import MAX_BYTES, TIMEOUT_S, Harvest, check_status, parsed_json
from sluice.core.ports import Fetch

_CLEAR_SCORE: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiTube:
    fetch: Fetch
    url: str
    key: str
    max_pages: int
    name: ClassVar[str] = "apitube"

    async def harvest(self, known: Collection[str], now_ms: int) -> Harvest:
        return await harvested(lambda address: self._page(address, now_ms), known, self.max_pages)

    async def _page(self, address: str | None, now_ms: int) -> Paged:
        first = f"{self.url}?{urlencode({'language': 'en', 'topic.id': 'industry.crypto_news', 'title': 'bitcoin'})}"
        headers = (("X-API-Key", self.key),)
        answer = await self.fetch(address or first, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, headers=headers)
        found = parsed_json(answer, "APITube")
        if not isinstance(found, dict):
            raise Unavailable("APITube answered with something else than an object")
        if found.get("status") == "not_ok":
            check_status(answer, "APITube", _told(found.get("errors")))
            raise SluiceError(f"APITube answered with an error: {_told(found.get('errors'))}")
        check_status(answer, "APITube")
        items = next(
            (found[name] for name in ("data", "articles", "results") if isinstance(found.get(name), list)), None
        )
        if items is None:
            raise SluiceError("APITube answered without articles")
        articles = [_article(each, now_ms) for each in items if isinstance(each, dict)]
        return Paged([each for each in articles if each], self._next(found))

    def _next(self, found: Mapping[str, Any]) -> str | None:
        """The next page, if it is at the same host: the key goes with every request."""
        links = found.get("links")
        following = (links.get("next_page") if isinstance(links, dict) else None) or found.get("next_page")
        if not isinstance(following, str) or not following:
            return None
        address = urljoin(self.url, following)
        return address if urlsplit(address).netloc == urlsplit(self.url).netloc else None


def _told(errors: object) -> str:
    first = errors[0] if isinstance(errors, list) and errors else errors
    return str(first.get("message") or first.get("code")) if isinstance(first, dict) else "no reason given"


def _article(item: Mapping[str, Any], now_ms: int) -> Article | None:
    given = item.get("source")
    source = given if isinstance(given, dict) else {}
    return normalised(
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
        category=text_list(item.get("categories")),
        sentiment=_sentiment(item.get("sentiment")),
    )


def _sentiment(value: object) -> str | None:
    """The polarity if it is one of the three words, else what the score says; None if it gives neither."""
    overall = value.get("overall") if isinstance(value, dict) else None
    if not isinstance(overall, dict):
        return None
    polarity = str(overall.get("polarity", "")).lower()
    if polarity in SENTIMENTS:
        return polarity
    score = overall.get("score")
    if isinstance(score, bool) or not isinstance(score, int | float):
        return None
    return "positive" if score > _CLEAR_SCORE else "negative" if score < -_CLEAR_SCORE else "neutral"
