"""The three news Workers in workerd, from a scripted provider and site to the API."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import feedparser  # type: ignore[import-untyped]
import httpx
import pytest

from runtime import PATIENCE_S, ROOT, Runtime
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin
from wrangler_process import run_wrangler

TOKEN = "the-operators-token"
HERE = ROOT / "tests/workerd/news"
CONFIGS = [*(ROOT / f"wrangler.news-{name}.toml" for name in ("updater", "processor", "api"))]
AI_CONFIGS = [HERE / f"wrangler.{name}.toml" for name in ("processor", "ai", "api")]
# Articles that are stored already, and the lists of them that are asked for.
STORED = 500
LISTS = ("/api/v1/articles", "/api/v1/articles?limit=50", "/api/v1/articles?sentiment=positive")
FIRST_PAGE = "/apitube?language=en&topic.id=industry.crypto_news&title=bitcoin"
LATER_PAGE = "/apitube?page=2"
HTML = {"Content-Type": "text/html; charset=utf-8"}
STORY = "Bitcoin climbed on Monday as buyers returned, and the analysts of a bank said that {} was the reason for it."
BITS = ("demand from funds", "a calmer dollar", "the end of a long sale", "the new rules in Europe")


def page(*sentences: str) -> bytes:
    text = "".join(f"<p>{sentence}</p>" for sentence in sentences)
    return f"<html><head><title>x</title></head><body><nav>Home</nav><article>{text}</article></body></html>".encode()


ARTICLE = Answer(page(*(STORY.format(bit) for bit in BITS)), headers=HTML)
# By the name of the article: its page, and the expected error; None if it gets a summary.
PAGES = {
    "good": (ARTICLE, None),
    "paywall": (
        Answer(page("Subscribe to read on."), headers=HTML),
        "max_retries_reached: fetch_failed: the page has only",
    ),
    "missing": (Answer(b"", 404, HTML), "max_retries_reached: fetch_failed: the page answered 404"),
    "wrong": (
        Answer(page(*["Please accept all of our cookies to go on with this."] * 9), headers=HTML),
        "content_mismatch",
    ),
    "pdf": (
        Answer(b"%PDF-1.7", headers={"Content-Type": "application/pdf"}),
        "fetch_failed: the page is application/pdf",
    ),
    "huge": (Answer(b"<p>word " * 2_500_000, headers=HTML), "fetch_failed: http"),
}

TITLES = {
    "good": "Bitcoin climbs as buyers return on Monday",
    "paywall": "Bank opens bitcoin desk for wealthy clients",
    "missing": "Miners move north for cheap power",
    "wrong": "Court hears appeal of exchange founder",
    "pdf": "Treasury publishes study of digital assets",
    "huge": "Developers debate larger blocks once more",
    "slow": "Wallet maker ships update to all users",
}


@dataclass
class News:
    runtime: Runtime
    origin: Origin

    def trigger_cron(self, worker: str) -> None:
        """Trigger a cron."""
        reply = self.runtime.cron(worker, "* * * * *")
        assert reply.status_code == 200, self.runtime.lines[-5:]

    def get(self, path: str, worker: str = "worker-api", **options: Any) -> httpx.Response:
        with self.runtime.client(worker) as client:
            return client.get(path, **options)

    def kv(self, key: str) -> Any:
        """Read a key with wrangler from the state on disk, as the monitoring commands do."""
        words = ("kv", "key", "get", key, "--binding", "CRYPTO_NEWS_CACHE")
        return json.loads(run_wrangler(self.runtime.state, "wrangler.news-processor.toml", *words))

    def log_lines(self, event: str) -> list[dict[str, Any]]:
        lines = [line for line in self.runtime.lines if f'"event": "{event}"' in line]
        return [json.loads(line) for line in lines]


def provider_item(name: str, url: str) -> dict[str, Any]:
    return {
        "id": name,
        "href": url,
        "title": TITLES[name],
        "published_at": "2026-11-16T08:00:00Z",
        "language": "en",
        "source": {"name": "Site"},
        "sentiment": {"overall": {"polarity": "positive"}},
    }


@pytest.fixture(name="news", scope="module")
def _news(start: StartRuntime) -> Iterator[News]:
    """Runs the updater three times, with a page of the provider that fails twice, then the processor until all is done."""
    with local_origin() as origin:
        slow = threading.Event()
        urls = {name: origin.serve(f"/{name}", answer) for name, (answer, _) in PAGES.items()}
        urls["slow"] = origin.serve("/slow", Answer(gate=slow))
        items = [provider_item(name, url) for name, url in urls.items()]
        following = {"links": {"next_page": origin.url(LATER_PAGE)}}
        origin.serve(FIRST_PAGE, json.dumps({"status": "ok", "data": items[:3], **following}))
        failures = [Answer(b"{}", 429, {"Retry-After": "1"}), Answer(b'{"data": [')]
        # One article of the first page is on the second, too.
        origin.serve(LATER_PAGE, *failures, json.dumps({"status": "ok", "data": items[2:]}))
        feed = "<rss version='2.0'><channel><title>Feed</title><item><title>Hacker steals bitcoin</title><link>{}</link></item></channel></rss>"
        origin.serve("/feed", feed.format(origin.serve("/from-feed", ARTICLE)))
        settings = {
            "NEWS_PROVIDER": "apitube",
            "APITUBE_API_KEY": "k",
            "APITUBE_URL": origin.url("/apitube"),
            "NEWS_FEEDS": origin.url("/feed"),
            "ALLOW_PRIVATE_HOSTS": origin.address,
            "ADMIN_TOKEN": TOKEN,
            "MAX_ARTICLES_PER_RUN": "50",
            "MAX_CONTENT_FETCH_ATTEMPTS": "1",
            "MAX_ARTICLE_AGE_DAYS": "36500",
            "RUN_LEASE_S": "2",
            "CORS_ORIGINS": "https://ours.example",
        }
        configs = [part for path in (*CONFIGS, *AI_CONFIGS) for part in ("--config", str(path))]
        runtime = start(*configs, *(part for name, value in settings.items() for part in ("--var", f"{name}={value}")))
        news = News(runtime, origin)
        assert news.get("/api/bitcoin-news").status_code == 503
        for _ in range(3):
            news.trigger_cron("worker-news-updater")
        news.trigger_cron("worker-news-processor")
        slow.set()
        yield news


def articles(news: News) -> dict[str, Any]:
    return {article["id"]: article for article in news.get("/api/bitcoin-news").json()["articles"]}


def test_paging_survives_failures(news: News):
    """A page that answers 429 and then broken JSON is read by a later run, although the first page is known by then."""
    reports = news.log_lines("updater.run")
    assert [len(report["added"]) for report in reports] == [4, 0, 4]
    errors = [line["message"] for line in news.log_lines("source.failed")]
    assert ["no more requests" in errors[0], "no JSON" in errors[1], len(errors)] == [True, True, 2]
    assert news.origin.requests(FIRST_PAGE)[0].headers["x-api-key"] == "k"


@pytest.mark.parametrize("name", PAGES)
def test_pages(news: News, name: str):
    """Each kind of page leads to a complete article, with a summary or with the reason why there is none."""
    article = articles(news)[name]
    expected = PAGES[name][1]
    assert article["status"] == "complete"
    if expected is None:
        assert "Bitcoin climbed on Monday" in article["aiSummary"]
        assert (article["summaryBy"], article["sentimentBy"]) == ("embedded", "provider")
    else:
        assert article["summaryError"].startswith(expected)
        assert "aiSummary" not in article


def test_slow_page(news: News):
    """A page that does not answer within ten seconds is given up."""
    assert "did not answer within 10 s" in articles(news)["slow"]["summaryError"]


def test_huge_page_is_not_read_to_its_end(news: News):
    """A page of 20 MB is refused at the limit."""
    assert "more than 5242880 bytes" in articles(news)["huge"]["summaryError"]


def test_embedded_sentiment(news: News):
    """An article without a sentiment of its provider gets one from the embedded analyst."""
    [article] = [each for each in articles(news).values() if each["title"] == "Hacker steals bitcoin"]
    assert (article["sentiment"], article["sentimentBy"]) == ("negative", "embedded")


def test_monitoring_commands(news: News):
    """The documented command for the checkpoint, as wrangler 4 spells it, reads the local state."""
    checkpoint = news.kv("BTC_CHECKPOINT")
    assert (checkpoint["currentArticleId"], len(checkpoint["processedIds"]), checkpoint["tryLater"]) == (None, 8, [])


def test_log_lines(news: News):
    """The documented log messages are written."""
    messages = [line["message"] for event in ("article.processing", "article.moved") for line in news.log_lines(event)]
    assert "Processing article: good" in messages
    assert messages.count("✓ Article fully processed") >= 8


def test_status(news: News):
    """All three Workers report the state of the news service."""
    for worker in ("worker-api", "worker-news-updater", "worker-news-processor"):
        status = news.get("/status", worker).json()
        assert (status["backlog"], status["tryLater"], status["processed"]) == (0, [], 8)
        assert status["lastRun"]["updater"]
        assert status["lastRun"]["processor"]


def test_process_one(news: News):
    """The operator can process one article again; nobody else can."""
    [name] = [each["id"] for each in articles(news).values() if each["title"] == "Hacker steals bitcoin"]
    query = {"articleId": name, "force": ""}
    assert news.get("/", "worker-news-processor", params=query).status_code == 401
    token = {"Authorization": f"Bearer {TOKEN}"}
    before = news.origin.count("/from-feed")
    reply = news.get("/", "worker-news-processor", params=query, headers=token)
    assert (reply.status_code, reply.json()["success"]) == (200, True)
    assert news.origin.count("/from-feed") == before + 1
    assert reply.json()["article"]["sentimentBy"] == "embedded"
    assert news.get("/", "worker-news-processor", params={"articleId": "x"}, headers=token).status_code == 404
    missing = news.get("/", "worker-news-processor", headers=token)
    assert (missing.status_code, missing.json()["errors"][0]["path"]) == (400, "articleId")


def test_updater_lists_pending_articles(news: News):
    """The pending list is returned, newest first."""
    body = news.get("/", "worker-news-updater").json()
    assert (body["success"], body["totalArticles"], len(body["latestArticles"])) == (True, 8, 8)


@pytest.mark.parametrize(("name", "version"), [("rss", "rss20"), ("atom", "atom10")])
def test_xml_feeds(news: News, name: str, version: str):
    """A feed reader parses the feeds without a complaint."""
    reply = news.get(f"/api/v1/feed.{name}")
    assert reply.headers["Content-Type"].startswith(f"application/{name}+xml")
    feed = feedparser.parse(reply.content, response_headers={"content-type": reply.headers["Content-Type"]})
    assert (feed.bozo, feed.version, len(feed.entries)) == (False, version, 8)
    assert feed.feed.title == "Bitcoin news"
    entry = next(entry for entry in feed.entries if entry.link == news.origin.url("/good"))
    assert "Bitcoin climbed" in entry.summary
    assert entry.published_parsed[:3] == (2026, 11, 16)
    assert all(entry.id and entry.title and entry.link for entry in feed.entries)


def test_json_feed(news: News):
    """The JSON Feed has the required members of the right types."""
    reply = news.get("/api/v1/feed.json", params={"limit": 3})
    assert reply.headers["Content-Type"] == "application/feed+json; charset=utf-8"
    feed = reply.json()
    assert feed["version"] == "https://jsonfeed.org/version/1.1"
    assert {type(feed[name]) for name in ("title", "home_page_url", "feed_url", "description", "next_url")} == {str}
    assert len(feed["items"]) == 3
    for item in feed["items"]:
        assert all(isinstance(item[name], str) for name in ("id", "url", "title", "content_text", "date_published"))
        assert item["date_published"].endswith("Z")
        assert all(isinstance(tag, str) for tag in item.get("tags", []))
        assert all(author.keys() <= {"name", "url", "avatar"} for author in item["authors"])
    next_page = news.get(feed["next_url"].removeprefix("http://worker-api.localhost")).json()
    assert len(next_page["items"]) == 3
    assert not {item["id"] for item in next_page["items"]} & {item["id"] for item in feed["items"]}


def test_reading(news: News):
    """Conditional requests, HEAD, filters and CORS work in the real Worker."""
    first = news.get("/api/v1/articles", params={"sentiment": "positive", "limit": 2})
    assert [len(first.json()["articles"]), 'rel="next"' in first.headers["Link"]] == [2, True]
    tag = {"If-None-Match": first.headers["ETag"]}
    again = news.get("/api/v1/articles", params={"sentiment": "positive", "limit": 2}, headers=tag)
    assert (again.status_code, again.content) == (304, b"")
    with news.runtime.client("worker-api") as client:
        head = client.head("/api/bitcoin-news", headers={"Origin": "https://ours.example"})
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Access-Control-Allow-Origin"] == "https://ours.example"
    assert int(head.headers["Content-Length"]) > 1000
    bad = news.get("/api/v1/articles", params={"from": "soon"})
    assert (bad.status_code, bad.json()["errors"][0]["path"]) == (400, "from")


@dataclass(frozen=True)
class Asked:
    """How a request was answered: by the cache or not, and what the Worker did for it."""

    cache: str
    total: int
    requests: int
    kv: int


@pytest.fixture(name="asked", scope="module")
def _asked(news: News) -> dict[str, list[Asked]]:
    """Store 500 articles and ask for lists of them, each twice."""
    stored = {
        f"article:old-{number}": {
            "id": f"old-{number}",
            "title": f"Bitcoin miner number {number} opens a plant",
            "link": f"https://site.example/{number}",
            "pubDate": "2026-11-16T08:00:00Z",
            "sentiment": "positive" if number % 2 else "neutral",
            "aiSummary": "A miner opened a plant in the north on Monday.",
            "status": "complete",
        }
        for number in range(STORED)
    }
    ids = [key.removeprefix("article:") for key in stored]
    with news.runtime.client("fake-ai") as kv:
        kv.post("/", content=json.dumps({**stored, "BTC_ID_INDEX": ids}), timeout=PATIENCE_S).raise_for_status()
    # The first request finds no snapshot yet, and has it made.
    assert news.get("/api/bitcoin-news", "api-ai").json()["totalArticles"] == STORED
    return {path: [ask_and_count(news, path) for _ in range(2)] for path in LISTS}


def ask_and_count(news: News, path: str) -> Asked:
    def count() -> dict[str, int]:
        found: dict[str, int] = httpx.get(f"{news.runtime.url}/cdn-cgi/local/operations", timeout=PATIENCE_S).json()[
            "api-ai"
        ]
        return found

    before = count()
    reply = news.get(path, "api-ai")
    after = count()
    kv = sum(after[kind] - before.get(kind, 0) for kind in after if kind.startswith("kv_"))
    return Asked(
        reply.headers.get("Cf-Cache-Status", ""), reply.json()["total"], after["requests"] - before["requests"], kv
    )


@pytest.mark.parametrize("path", LISTS)
def test_a_list_of_500_articles_costs_two_operations_and_then_none(asked: dict[str, list[Asked]], path: str):
    """The Worker reads KV at most twice; from the cache before it, neither KV nor the Worker's code is used."""
    first, second = asked[path]
    assert (first.cache, first.requests, first.kv <= 2) == ("MISS", 1, True), first
    assert second == Asked("HIT", first.total, requests=0, kv=0)
    assert first.total == (STORED // 2 if "sentiment" in path else STORED)


@pytest.fixture(name="ai_articles", scope="module")
def _ai_articles(news: News, asked: dict[str, list[Asked]]) -> dict[str, Any]:
    """Processes three articles with an AI binding, beside those that are stored."""
    assert asked
    names = ("plain", "outage", "cookies")
    titles = {name: f"Bitcoin and the {name}" for name in names}
    pages = {name: news.origin.serve(f"/ai/{name}", ARTICLE) for name in names}
    pages["cookies"] = news.origin.serve("/ai/cookies", PAGES["wrong"][0])
    entries = [
        {
            "id": name,
            "article": {
                "id": name,
                "title": titles[name],
                "link": pages[name],
                "needsSentiment": True,
                "needsSummary": True,
            },
            "addedAt": 1,
        }
        for name in names
    ]
    with news.runtime.client("fake-ai") as kv:
        kv.put("/BTC_PENDING_LIST", content=json.dumps(entries)).raise_for_status()
        news.trigger_cron("processor-ai")
        return {name: kv.get(f"/article:{name}").json() for name in names}


def test_ai_is_used(ai_articles: dict[str, Any]):
    """With an AI binding the model is used, and the article names it."""
    article = ai_articles["plain"]
    assert (article["sentiment"], article["sentimentBy"], article["summaryBy"]) == (
        "negative",
        "workers-ai",
        "workers-ai",
    )
    assert article["aiSummary"] == "A summary of the article, by @cf/google/gemma-4-26b-a4b-it."


def test_ai_outage(ai_articles: dict[str, Any]):
    """During a long AI outage the embedded analyst answers in the end, under its own name."""
    article = ai_articles["outage"]
    assert (article["sentimentBy"], article["summaryBy"]) == ("embedded", "embedded")
    assert "Bitcoin climbed" in article["aiSummary"]


def test_ai_mismatch(ai_articles: dict[str, Any]):
    """A page that the model considers another article has no summary."""
    assert ai_articles["cookies"]["summaryError"] == "content_mismatch"


def test_ai_that_always_fails(news: News, ai_articles: dict[str, Any]):
    """Twenty articles take at most five stages more than three each, and the embedded analyst judges them all."""
    assert ai_articles
    names = [f"nonsense-{number}" for number in range(20)]
    article = {"link": news.origin.url("/ai/plain"), "needsSentiment": True, "needsSummary": True}
    entries = [
        {"id": name, "article": {**article, "id": name, "title": f"Bitcoin and {name}"}, "addedAt": 1} for name in names
    ]
    reports: list[dict[str, Any]] = []
    with news.runtime.client("fake-ai") as kv, news.runtime.client("processor-ai") as processor:
        kv.put("/BTC_PENDING_LIST", content=json.dumps(entries)).raise_for_status()
        while not reports or (reports[-1]["outcome"] == "ok" and len(reports) < 9):
            reports.append(processor.post("/run", headers={"Authorization": f"Bearer {TOKEN}"}).json())
        stored = [kv.get(f"/article:{name}").json() for name in names]
    assert reports[-1]["outcome"] == "idle", reports[-1]
    assert sum(len(report.get("steps", ())) for report in reports) <= 20 * 3 + 5
    assert {(each["sentimentBy"], each["summaryBy"], each["needsSummary"]) for each in stored} == {
        ("embedded", "embedded", False)
    }
