"""News as the news service leaves it in KV: built from its own values and written by wrangler."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sluice.core.news.article import Article
from sluice.core.news.checkpoint import Checkpoint, TryLaterEntry
from sluice.core.news.pending_list import PendingEntry
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, PENDING, article_key
from wrangler_process import run_wrangler

# Title, hours ago, source, sentiment, summary.
STORIES = (
    ("Bitcoin rallies to record high as spot funds attract inflows", 1, "The Wire", "positive", "The price rose for the seventh day as funds bought more than miners sold."),
    ("Bitcoin rallies to a record high as spot funds attract strong inflows", 2, "Daily Coin", "positive", "Analysts point to steady demand from funds, and to a calmer dollar."),
    ("Exchange hacked, thieves take bitcoin worth millions", 9, "Daily Coin", "negative", "The exchange has stopped withdrawals and says that it will pay its users back."),
    ("Miners publish hashrate figures for the third quarter", 20, "Daily Coin", "neutral", "The report lists the hashrate of the largest miners by country and by month."),
    ("Lender files for bankruptcy after heavy losses", 26, "The Wire", "negative", "Creditors are owed more than the lender holds; a court decides in December."),
    ("Spot funds report strong inflows for the seventh week", 30, "Daily Coin", "positive", "The inflows were the best since spring."),
    ("Custody rules draw criticism from banks", 49, "The Wire", "negative", "Banks call the rules a burden, and ask for more time."),
    ("Regulator opens hearing on custody rules", 52, "Daily Coin", "neutral", "The hearing takes place on Tuesday; written statements are due on Friday."),
    ("Zahlungen über Lightning nehmen in Europa zu", 75, "Münzblatt", "positive", "Händler berichten von geringeren Gebühren und mehr Käufen."),
)  # fmt: skip
HOSTILE = ("<b>Bold</b> claims", "javascript:alert(1)")
MORE = 16  # older ones, so that there is a second page
PENDING_TITLES = ("Treasury firm buys more bitcoin", "Developers discuss the next soft fork")


def store_news(state: Path) -> None:
    """Write the news into the state of a runtime that is not started yet."""
    file = state / "news.json"
    file.write_text(json.dumps(list(_pairs(datetime.now(UTC)))))
    words = ("kv", "bulk", "put", str(file), "--binding", "CRYPTO_NEWS_CACHE")
    run_wrangler(state, "wrangler.news-processor.toml", *words)


def _pairs(now: datetime) -> Iterator[dict[str, Any]]:
    now_ms = int(time.time() * 1000)
    articles = [_article(at, now, story).close(now_ms) for at, story in enumerate(_stories())]
    waiting = [_new(f"new-{at}", title, now, at, "The Wire") for at, title in enumerate(PENDING_TITLES)]
    gone = _new("gone", "A page that is gone", now, 5, "Daily Coin").with_members(
        sentiment="neutral", needsSentiment=False
    )
    checkpoint = Checkpoint(
        processed=tuple(article.id for article in articles),
        try_later=(
            TryLaterEntry(gone.with_members(contentTimeout=2), now_ms - 600_000, "fetch_failed: the page answered 404"),
        ),
        updated_at_ms=now_ms - 30_000,
    )
    entries = [PendingEntry(article, now_ms - 3_000_000).as_json() for article in waiting]
    metadata = {"version": now_ms, "incomplete": ["feed:mint.example"], "lastRun": now_ms - 1_500_000, "added": 2}
    bold = _article(len(articles), now, (HOSTILE[0], 400, "<i>x</i>", "neutral", "<script>alert(1)</script>"))
    stored = [*articles, gone, bold.with_members(link=HOSTILE[1])]
    yield from (_pair(article_key(article.id), article.as_json()) for article in stored)
    yield _pair(INDEX, [article.id for article in stored], {"version": now_ms})
    yield _pair(CHECKPOINT, checkpoint.as_json())
    yield _pair(PENDING, entries, metadata)


def _pair(key: str, value: object, metadata: object = None) -> dict[str, Any]:
    return {"key": key, "value": json.dumps(value)} | ({"metadata": metadata} if metadata else {})


def _stories() -> Iterator[tuple[str, int, str, str, str]]:
    yield from STORIES
    for at in range(MORE):
        yield (
            f"Market letter number {at + 1}, a look at week {40 - at}",
            100 + 9 * at,
            "The Wire",
            "neutral",
            "A letter.",
        )


def _new(name: str, title: str, now: datetime, hours: float, source: str) -> Article:
    published = (now - timedelta(hours=hours)).strftime("%Y-%m-%d %H:%M:%S")
    members = {"title": title, "link": f"https://news.example/{name}", "pubDate": published, "source_name": source}
    return Article({"id": name, "language": "de" if "über" in title else "en", **members}).with_members(
        needsSentiment=True, needsSummary=True, queuedAt=int((now.timestamp() - hours * 3600) * 1000)
    )


def _article(at: int, now: datetime, story: tuple[str, int, str, str, str]) -> Article:
    title, hours, source, sentiment, summary = story
    now_ms = int(now.timestamp() * 1000)
    new = _new(f"story-{at}", title, now, hours, source)
    return new.with_sentiment(sentiment, "embedded", now_ms).with_summary(summary, "embedded", now_ms)
