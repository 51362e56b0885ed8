"""What worker-api serves, and how many operations it takes."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.news.article import Article
from sluice.services.news.serve.stored_snapshot import FIRST_PAGE_KEY, REMEMBERED_S
from sluice.services.news.storage.article_index import ArticleIndex
from sluice.services.news.storage.keys import INDEX, LEGACY, article_key
from sluice.web import App, Reply
from unit.services.news.harness import NewsHarness
from unit.web.calls import call, content, parsed

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC).timestamp()
NAMES = ("alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel")


def make_stored_article(n: int, **changes: Any) -> dict[str, Any]:
    sentiment = ("positive", "negative", "neutral")[n % 3]
    base = {
        "id": f"id{n:03}",
        "title": f"{NAMES[n % 8]} {NAMES[n // 8 % 8]} {NAMES[n // 64 % 8]} reports unique event {n}",
        "description": "Description",
        "link": f"https://site.example/{n}",
        "pubDate": f"2026-11-{16 - n // 24:02}T{23 - n % 24:02}:00:00Z",
        "source_id": "even" if n % 2 == 0 else "odd",
        "source_name": "Even Site" if n % 2 == 0 else "Odd Site",
        "language": "english",
        "sentiment": sentiment,
        "aiSummary": f"Summary {n}.",
        "needsSentiment": False,
        "needsSummary": False,
        "queuedAt": 1_700_000_000_000 - n,
        "processedAt": 1_700_000_100_000,
        "extractedContent": "the text of the page",
    }
    return {**base, **changes}


class Site:
    def __init__(self) -> None:
        news = NewsHarness(start=NOW)
        self.clock, self.state, self.snapshot_kv = news.clock, news.state, news.snapshot_kv
        self.kv = news._uncounted()
        self.errors: list[Exception] = []
        self._news = news
        self.configure()

    def configure(self, **variables: str) -> None:
        """Serve as a fresh isolate with these variables."""
        service = self._news.api(CORS_ORIGINS="https://ours.example", **variables)
        self.app = App(service.routes, on_error=lambda error, _request: self.errors.append(error), cors=service.cors)

    async def put(self, *articles: dict[str, Any]) -> None:
        for article in articles:
            await self.kv.put(article_key(article["id"]), json.dumps(article))
        ids = [article["id"] for article in articles]
        old = await self.kv.get(INDEX)
        self.clock.advance(2)
        index = json.dumps([*ids, *json.loads(old or "[]")])
        await self.kv.put(INDEX, index, {"metadata": {"version": 1}})
        for article in articles:
            await self.state.publish(Article(article), ArticleIndex(tuple(json.loads(index)), 1))
        await self.state.refresh()
        self.kv.operations.clear()
        self.snapshot_kv.operations.clear()

    async def get(self, path: str, method: str = "GET", **headers: str) -> Reply:
        reply = await self.app.handle(call(method, path, {name.replace("_", "-"): v for name, v in headers.items()}))
        assert not self.errors, self.errors
        return reply

    async def ids(self, path: str) -> list[str]:
        return [article["id"] for article in parsed(await self.get(path))["articles"]]


async def make_site(count: int) -> Site:
    site = Site()
    await site.put(*(make_stored_article(n) for n in range(count)))
    return site


async def test_bitcoin_news():
    """The documented shape, without the text of the pages; the time is that of the data."""
    site = await make_site(3)
    reply = await site.get("/api/bitcoin-news")
    body = parsed(reply)
    assert body.keys() == {"articles", "totalArticles", "lastUpdatedExternal", "sentimentCounts"}
    assert [article["id"] for article in body["articles"]] == ["id000", "id001", "id002"]
    assert (body["totalArticles"], body["lastUpdatedExternal"]) == (3, int((NOW + 2) * 1000))
    assert body["sentimentCounts"] == {"positive": 1, "negative": 1, "neutral": 1, "unknown": 0}
    assert "the text of the page" not in content(reply).decode()
    assert reply.header("X-Cache-Status") == "KV"
    assert reply.header("Last-Modified") == "Mon, 16 Nov 2026 12:00:02 GMT"
    assert reply.header("Cache-Control") == "public, max-age=60, stale-while-revalidate=300"
    assert reply.header("Cache-Tag") == "news"


def list_operations(site: Site) -> list[str]:
    """Return the KV operations so far, of both namespaces, and forget them."""
    operations = [f"{name} {key}" for kv in (site.kv, site.snapshot_kv) for name, key in kv.operations]
    site.kv.operations.clear()
    site.snapshot_kv.operations.clear()
    return operations


async def test_first_page_takes_one_operation():
    """The first page is stored as it is sent, and is what the snapshot itself would give."""
    site = await make_site(205)
    first = await site.get("/api/v1/articles")
    assert list_operations(site) == ["get page:articles"]
    computed = await site.get("/api/v1/articles?limit=20")
    names = ("ETag", "Last-Modified", "Cache-Control", "Cache-Tag", "Content-Type")
    assert content(first) == content(computed)
    assert [first.header(name) for name in names] == [computed.header(name) for name in names]
    assert (await site.get("/api/v1/articles", if_none_match=str(first.header("ETag")))).status == 304


async def test_first_page_is_remembered_for_two_seconds():
    """Requests in quick succession read the namespace once, and a new page is seen two seconds later."""
    site = await make_site(3)
    old = [content(await site.get("/api/v1/articles")) for _ in range(3)]
    assert list_operations(site) == ["get page:articles"]
    site.clock.advance(1)
    await site.snapshot_kv.put(FIRST_PAGE_KEY, "{}", {"metadata": {"etag": '"x"', "changedAt": 0, "next": None}})
    assert content(await site.get("/api/v1/articles")) == old[0]
    site.clock.advance(REMEMBERED_S)
    assert content(await site.get("/api/v1/articles")) == b"{}"


async def test_feeds_are_shared_for_one_host_only():
    """A feed that names the host of its request is kept by nobody, as the host is no part of a copy's address; one with PUBLIC_URL is."""
    site = await make_site(205)
    for kind in ("rss", "atom", "json"):
        own = await site.get(f"/api/v1/feed.{kind}")
        assert (own.header("Cache-Tag"), own.header("Cache-Control")) == (None, "private, no-store")
        assert (await site.get(f"/api/v1/feed.{kind}", if_none_match=str(own.header("ETag")))).status == 304
    site.configure(PUBLIC_URL="https://news.example/")
    for kind in ("rss", "atom", "json"):
        shared = await site.get(f"/api/v1/feed.{kind}")
        assert shared.header("Cache-Tag") == "news"
        assert b"https://news.example/api" in content(shared)
        assert b"sluice.test" not in content(shared)


async def test_text_of_an_entry():
    """An entry has its summary; until there is one, its description, and the title without either."""
    site = Site()
    texts: dict[int, dict[str, str]] = {1: {}, 2: {"aiSummary": ""}, 3: {"aiSummary": "", "description": ""}}
    articles = [make_stored_article(n, **changes) for n, changes in texts.items()]
    await site.put(*articles)
    feed = json.loads(content(await site.get("/api/v1/feed.json")))
    found = {int(item["url"].rpartition("/")[2]): item["content_text"] for item in feed["items"]}
    assert found == {1: "Summary 1.", 2: "Description", 3: articles[2]["title"]}


async def test_last_page_has_no_next_one():
    """Following the links gives every article once, and ends."""
    site = await make_site(25)
    path, seen = "/api/v1/articles?limit=10", list[str]()
    for _ in range(3):
        reply = await site.get(path)
        seen += [article["id"] for article in parsed(reply)["articles"]]
        link = reply.header("Link")
        path = link.partition(">")[0].removeprefix("<") if link else ""
    assert (len(seen), len(set(seen)), path) == (25, 25, "")


async def test_link_to_the_next_page():
    """The link is shared with everybody, so it names no host but that of PUBLIC_URL."""
    site = await make_site(205)
    for path in ("/api/v1/articles", "/api/v1/articles?limit=5"):
        link = str((await site.get(path)).header("Link"))
        assert link.startswith("</api/v1/articles?")
        assert link.endswith('>; rel="next"')
    site.configure(PUBLIC_URL="https://news.example/")
    assert "<https://news.example/api/v1/articles?" in str((await site.get("/api/v1/articles")).header("Link"))


async def test_query_takes_two_operations():
    """Any other request reads the version and the snapshot; an isolate that knows the version reads no more."""
    site = await make_site(205)
    await site.get("/api/v1/articles?q=alpha")
    assert list_operations(site) == ["get version", "get snapshot"]
    await site.get("/api/v1/sentiment")
    assert list_operations(site) == ["get version"]


async def test_articles_before_the_state_object():
    """Articles that are stored when the object is new are read from the namespace of the pipeline, once."""
    site = Site()
    articles = [make_stored_article(n) for n in range(3)]
    for article in articles:
        await site.kv.put(article_key(article["id"]), json.dumps(article))
    await site.kv.put(INDEX, json.dumps([each["id"] for each in articles]), {"metadata": {"version": 1}})
    assert len(await site.ids("/api/v1/articles")) == 3
    list_operations(site)
    assert len(await site.ids("/api/v1/articles")) == 3
    assert list_operations(site) == ["get page:articles"]


async def test_empty():
    """Without articles the reply is 503 with the reason and Retry-After."""
    reply = await Site().get("/api/bitcoin-news")
    assert (reply.status, reply.header("Retry-After")) == (503, "60")
    assert "no articles yet" in parsed(reply)["error"]


async def test_legacy():
    """Without an index the articles of the older architecture are served and marked as legacy."""
    site = Site()
    old = {"articles": [{"article_id": "x", "title": "Old", "link": "https://s.example/", "sentiment": "positive"}]}
    await site.kv.put(LEGACY, json.dumps(old | {"lastUpdatedExternal": 1_600_000_000_000}))
    reply = await site.get("/api/bitcoin-news")
    assert reply.header("X-Cache-Status") == "KV-LEGACY"
    [article] = parsed(reply)["articles"]
    assert (article["id"], article["status"]) == ("x", "complete")


async def test_older_format():
    """Articles without flags or ids are served as complete; values that are not articles are left out."""
    site = Site()
    old = {
        "article_id": "old",
        "title": "Old",
        "link": "https://s.example/",
        "sentiment": "neutral",
        "aiSummary": "Text.",
    }
    await site.kv.put(article_key("old"), json.dumps(old))
    await site.kv.put(article_key("broken"), "{")
    await site.kv.put(INDEX, json.dumps(["old", "broken", "gone"]))
    [article] = parsed(await site.get("/api/bitcoin-news"))["articles"]
    assert (article["id"], article["status"], article["aiSummary"]) == ("old", "complete", "Text.")


async def test_conditional_requests():
    """The same data has the same ETag and is answered with 304; new data has a new ETag."""
    site = await make_site(3)
    first = await site.get("/api/v1/articles")
    tag, modified = first.header("ETag"), first.header("Last-Modified")
    assert tag
    assert modified
    site.clock.advance(5000)
    assert (await site.get("/api/v1/articles", If_None_Match=tag)).status == 304
    assert (await site.get("/api/v1/articles", If_Modified_Since=modified)).status == 304
    await site.put(make_stored_article(7, processedAt=1_750_000_000_000))
    assert (await site.get("/api/v1/articles", If_None_Match=tag)).status == 200
    assert (await site.get("/api/v1/articles", If_Modified_Since=modified)).status == 200


async def test_head_and_cors():
    """HEAD has only headers; only allowed origins may read, and Vary tells caches so."""
    site = await make_site(1)
    head = await site.get("/api/v1/articles", "HEAD")
    assert (head.status, head.body, bool(head.header("ETag"))) == (200, None, True)
    ours = await site.get("/api/v1/articles", Origin="https://ours.example")
    assert ours.header("Access-Control-Allow-Origin") == "https://ours.example"
    assert "ETag" in str(ours.header("Access-Control-Expose-Headers"))
    theirs = await site.get("/api/v1/articles?origin=https://ours.example", Origin="https://theirs.example")
    assert theirs.header("Access-Control-Allow-Origin") is None
    assert set(str(theirs.header("Vary")).split(", ")) == {"Accept", "Origin"}
    preflight = await site.get(
        "/api/v1/articles", "OPTIONS", Origin="https://ours.example", Access_Control_Request_Method="GET"
    )
    assert (preflight.status, preflight.header("Access-Control-Allow-Methods")) == (204, "GET, HEAD, OPTIONS")


async def test_pages_are_stable_while_articles_arrive():
    """Paging returns every article exactly once, although new ones arrive in between."""
    site = await make_site(25)
    seen: list[str] = []
    path = "/api/v1/articles?limit=4"
    cursor = ""
    for step in range(20):
        body = parsed(await site.get(path + cursor))
        seen += [article["id"] for article in body["articles"]]
        if body["next"] is None:
            break
        cursor = f"&cursor={body['next']}"
        fresh = make_stored_article(
            100 + step, pubDate="2026-12-01T00:00:00Z", title=f"{step} fresh news of number {step}"
        )
        await site.put(fresh)
    assert seen == [f"id{n:03}" for n in range(25)]


async def test_bad_cursor():
    """An invalid cursor is refused and named in the reply."""
    site = await make_site(1)
    for cursor in ("x", "e30", "WzEsMl0", "é"):
        reply = await site.get(f"/api/v1/articles?cursor={cursor}")
        assert (reply.status, parsed(reply)["errors"][0]["path"]) == (400, "cursor")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("sentiment=positive", ["id000", "id003"]),
        ("sentiment=positive,negative", ["id000", "id001", "id003", "id004"]),
        ("sentiment=positive&sentiment=negative", ["id000", "id001", "id003", "id004"]),
        ("source=odd", ["id001", "id003", "id005"]),
        ("source=odd%20site&sentiment=positive", ["id003"]),
        ("language=en", ["id000", "id001", "id002", "id003", "id004", "id005"]),
        ("language=de", []),
        ("status=pending", ["id005"]),
        ("status=complete", ["id000", "id001", "id002", "id003", "id004"]),
        ("from=2026-11-16T21:00:00Z", ["id000", "id001", "id002"]),
        ("from=2026-11-16T21:00:00%2B00:00&to=2026-11-16T22:00:00Z", ["id001", "id002"]),
        ("to=2026-11-16", ["id000", "id001", "id002", "id003", "id004", "id005"]),
        ("to=2026-11-15", []),
        ("to=9999-12-31&from=0001-01-01T00:00:00+14:00&limit=1", ["id000"]),
        ("from=2026-11-16%2021:00&limit=1", ["id000"]),
        ("q=charlie", ["id002"]),
        ("q=CHARLIE%20reports", ["id002"]),
        ("q=report%20-charlie%20-alpha", []),
        ('q="summary%203"', ["id003"]),
        ("q=ummary", []),
        ("limit=2", ["id000", "id001"]),
    ],
)
async def test_filters(query: str, expected: list[str]):
    """Each filter narrows, a list of values widens, and words are found in title, description and summary."""
    site = Site()
    await site.put(
        *(make_stored_article(n) for n in range(5)), make_stored_article(5, needsSummary=True, processedAt=None)
    )
    assert await site.ids(f"/api/v1/articles?{query}") == expected


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("sentiment=great", "sentiment"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("from=yesterday", "from"),
        ("to=2026-13-01", "to"),
        ("status=done", "status"),
        ("nonsense=1", "nonsense"),
        ("limit=1&limit=2", "limit"),
    ],
)
async def test_bad_queries(query: str, path: str):
    """An invalid value is a 400 that names the parameter."""
    reply = await (await make_site(1)).get(f"/api/v1/articles?{query}")
    assert reply.status == 400, reply
    assert parsed(reply)["errors"][0]["path"].startswith(path)


async def test_one_article():
    """An article is found by its id, with the story it belongs to."""
    site = await make_site(2)
    body = parsed(await site.get("/api/v1/articles/id001"))
    assert (body["id"], body["storyId"], body["alternates"]) == ("id001", "id001", [])
    assert (await site.get("/api/v1/articles/nothing")).status == 404


TWINS = [
    make_stored_article(
        10, title="Bitcoin climbs above $100,000 as ETF inflows return", queuedAt=1, pubDate="2026-11-16T08:00:00Z"
    ),
    make_stored_article(
        11, title="ETF inflows return as bitcoin climbs above $100,000", queuedAt=2, pubDate="2026-11-16T09:00:00Z"
    ),
    make_stored_article(
        12, title="Bitcoin climbs above $90,000 as ETF inflows return", queuedAt=3, pubDate="2026-11-16T10:00:00Z"
    ),
    make_stored_article(13, title="Something else", link="https://site.example/10?utm_source=feed", queuedAt=4),
    make_stored_article(
        14, title="Bitcoin climbs above $100,000 as ETF inflows return", queuedAt=5, pubDate="2026-11-01T08:00:00Z"
    ),
]


async def test_one_story_from_several_sources():
    """The same page, or a near-duplicate title within two days, is one story; a title with other figures is not."""
    site = Site()
    await site.put(*TWINS)
    body = parsed(await site.get("/api/v1/articles"))
    stories = {article["id"]: [other["id"] for other in article["alternates"]] for article in body["articles"]}
    assert stories == {"id010": ["id011", "id013"], "id012": [], "id014": []}
    assert parsed(await site.get("/api/v1/articles/id011"))["storyId"] == "id010"
    assert len(await site.ids("/api/v1/articles?duplicates=true")) == 5


async def test_sentiment_buckets():
    """Stories are counted by hour, day or week of publication."""
    site = await make_site(26)
    hours = parsed(await site.get("/api/v1/sentiment?bucket=hour"))["buckets"]
    assert len(hours) == 26
    days = parsed(await site.get("/api/v1/sentiment"))["buckets"]
    assert [(day["start"], day["total"]) for day in days] == [("2026-11-15T00:00:00Z", 2), ("2026-11-16T00:00:00Z", 24)]
    assert days[1] == {
        "start": "2026-11-16T00:00:00Z",
        "positive": 8,
        "negative": 8,
        "neutral": 8,
        "unknown": 0,
        "total": 24,
    }
    [week, this] = parsed(await site.get("/api/v1/sentiment?bucket=week"))["buckets"]
    assert (week["start"], this["start"]) == ("2026-11-09T00:00:00Z", "2026-11-16T00:00:00Z")


async def test_trending():
    """Newer terms count more, pairs replace their words, and common words are left out."""
    site = Site()
    titles = [
        "Bitcoin halving nears",
        "Miners await halving",
        "Spot ETF opens",
        "New spot ETF filed",
        "Tariff talk",
        "Tariff law",
    ]
    ages = [11, 10, 11, 10, 1, 0]
    await site.put(
        *(
            make_stored_article(n, title=title, pubDate=f"2026-11-16T{age:02}:00:00Z")
            for n, (title, age) in enumerate(zip(titles, ages, strict=True))
        )
    )
    terms = [term["term"] for term in parsed(await site.get("/api/v1/trending?hours=24"))["terms"]]
    assert terms == ["halving", "spot etf", "tariff"]
    assert parsed(await site.get("/api/v1/trending?hours=1"))["terms"] == []


PARAMETERS = (
    "sentiment",
    "source",
    "language",
    "status",
    "from",
    "to",
    "q",
    "limit",
    "cursor",
    "duplicates",
    "bucket",
    "hours",
)
PATHS = ("articles", "articles/id010", "sentiment", "trending", "feed.rss", "feed.atom", "feed.json")


@given(
    st.sampled_from(PATHS),
    st.dictionaries(st.sampled_from(PARAMETERS), st.text(max_size=30) | st.sampled_from(["1", "en", "2026-11-16"])),
)
def test_any_query(path: str, query: dict[str, str]):
    """Any query is answered with 200, or refused with 400."""

    async def fetch_reply() -> Reply:
        site = Site()
        await site.put(*TWINS)
        return await site.get(f"/api/v1/{path}?{urlencode(query, errors='replace')}")

    assert asyncio.run(fetch_reply()).status in {200, 400}
