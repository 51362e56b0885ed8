"""NewsData.io: crypto news, page by page behind an opaque token."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import urlencode

from sluice.core.errors import SluiceError
from sluice.core.news.article import Article
from sluice.core.news.feeds.normalise import normalised, text_list
from sluice.core.news.feeds.paging import Paged, harvested
from sluice.core.news.feeds.source import MAX_BYTES, TIMEOUT_S, Harvest, check_status, parsed_json
from sluice.core.ports import Fetch


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsData:
    fetch: Fetch
    url: str
    key: str
    max_pages: int
    name: ClassVar[str] = "newsdata"

    async def harvest(self, known: Collection[str], now_ms: int) -> Harvest:
        return await harvested(lambda token: self._page(token, now_ms), known, self.max_pages)

    async def _page(self, token: str | None, now_ms: int) -> Paged:
        query = {"apikey": self.key, "coin": "btc", "language": "en", "removeduplicate": "1"}
        address = f"{self.url}?{urlencode(query | ({'page': token} if token else {}))}"
        answer = await self.fetch(address, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S)
        found = parsed_json(answer, "NewsData")
        results = found.get("results") if isinstance(found, dict) else None
        if isinstance(found, dict) and (found.get("status") == "error" or isinstance(results, dict)):
            check_status(answer, "NewsData", _told(results))
            raise SluiceError(f"NewsData answered with an error: {_told(results)}")
        check_status(answer, "NewsData")
        if not isinstance(results, list):
            raise SluiceError("NewsData answered without results")
        following = found.get("nextPage")
        articles = [_article(each, now_ms) for each in results if isinstance(each, dict)]
        return Paged(
            [each for each in articles if each], following if isinstance(following, str) and following else None
        )


def _told(results: object) -> str:
    return (
        str(results.get("message") or results.get("code") or results)
        if isinstance(results, dict)
        else "no reason given"
    )


def _article(item: Mapping[str, Any], now_ms: int) -> Article | None:
    return normalised(
        native_id=item.get("article_id"),
        title=item.get("title"),
        link=item.get("link"),
        published=item.get("pubDate"),
        queued_at_ms=now_ms,
        description=item.get("description"),
        **{name: item.get(name) for name in ("source_id", "source_name", "source_url", "source_icon", "image_url")},
        language=item.get("language"),
        country=text_list(item.get("country")),
        category=text_list(item.get("category")),
    )
