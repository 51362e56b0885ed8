"""Prepares what a benchmark reads.

GET /?count=500 stores complete articles in the form in which the processor leaves them; GET /forget?url= removes a page from the
edge cache, so that its copy in R2 answers.
"""

from itertools import islice, product
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from workers import Response, WorkerEntrypoint

from sluice.core.news.article import Article
from sluice.core.news.checkpoint import Checkpoint
from sluice.core.news.pending_list import PendingEntry
from sluice.core.timestamps import iso
from sluice.platform.clock import SystemClock
from sluice.platform.http.edge_cache import EdgeCache
from sluice.platform.worker import open_kv, read_variables
from sluice.services.news.settings import ProcessorSettings
from sluice.services.news.storage.article_index import ArticleIndex
from sluice.services.news.storage.keys import CHECKPOINT, PENDING, article_key
from sluice.workers.news_connections import ARTICLES

__all__ = ["Default"]

# Articles of the last hour are pending until the updater runs again, though all of them are processed.
LAST_HOUR: Final = 20
WHO: Final = ("Exchange", "Miner", "Regulator", "Bank", "Fund", "Court", "Wallet maker", "Analyst")
DOES: Final = ("lists", "sells", "fines", "halts", "reports", "delays", "approves", "questions")
WHAT: Final = ("bitcoin futures", "old machines", "a custody service", "record outflows", "the halving", "new rules")
WHERE: Final = ("in Europe", "in Japan", "in Brazil", "in Texas", "on Monday", "after an outage")
SUMMARY: Final = (
    "The company said that demand from funds had grown, and that the decision follows months of talks. " * 4
)


class Default(WorkerEntrypoint):  # type: ignore[misc]
    async def fetch(self, request: Any) -> Any:
        url = urlsplit(request.url)
        query = parse_qs(url.query)
        if url.path == "/forget":
            return Response.from_json(await EdgeCache().delete(query["url"][0]))
        count = int(query["count"][0])
        kv, settings = open_kv(self.env, ARTICLES), ProcessorSettings.read(read_variables(self.env))
        now_ms = int(SystemClock().now() * 1000)
        articles = [build_article(*each, now_ms) for each in enumerate(islice(product(WHO, DOES, WHAT, WHERE), count))]
        for article in articles:
            await kv.put_json(article_key(article.id), article.as_json())
        ids = tuple(article.id for article in articles)
        await ArticleIndex(ids, now_ms).write(kv, ttl_s=settings.ttl_s)
        checkpoint = Checkpoint(processed=ids, updated_at_ms=now_ms)
        await kv.put_json(CHECKPOINT, checkpoint.as_json())
        pending = [PendingEntry(article, now_ms).as_json() for article in articles[:LAST_HOUR]]
        await kv.put_json(PENDING, pending, metadata={"version": now_ms})
        return Response.from_json({"articles": len(ids)})


def build_article(number: int, words: tuple[str, ...], now_ms: int) -> Article:
    """Return a complete article with a title that only this one has."""
    published_ms = now_ms - number * 600_000
    return Article(
        {
            "id": f"article-{number}",
            "title": " ".join(words),
            "description": f"{words[0]} {words[1]} {words[2]}, said a person who knows the plans. " * 2,
            "link": f"https://news{number % 20}.example.com/{number}",
            "pubDate": iso(published_ms / 1000),
            "source_id": f"news{number % 20}",
            "source_name": f"News {number % 20}",
            "language": "en",
            "queuedAt": published_ms,
            "needsSentiment": False,
            "sentiment": ("positive", "negative", "neutral")[number % 3],
            "sentimentBy": "embedded",
            "sentimentAt": published_ms,
            "needsSummary": False,
            "aiSummary": SUMMARY,
            "summaryBy": "embedded",
            "summaryAt": published_ms,
            "processedAt": published_ms,
        }
    )
