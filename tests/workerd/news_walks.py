"""What readers and the operator do with the news; each reply is checked against the OpenAPI document."""

import json
from datetime import UTC, datetime
from typing import Any

from runtime import Runtime
from sluice.services.news.http import ARTICLE_ID
from workerd.api_walk import Walk
from workerd.origin import Answer, Origin

PROVIDER = "/apitube"
FIRST_PAGE = f"{PROVIDER}?language=en&topic.id=industry.crypto_news&title=bitcoin"
FEED = "/feed"
HTML = {"Content-Type": "text/html; charset=utf-8"}
STORY = "Bitcoin futures will be listed for banks in Europe next week, the exchange said, and {} was the reason for it."
BITS = ("demand from funds", "a calmer dollar", "the end of a long sale", "the new rules in Europe")
# The page of the feed's article is missing, so that it stays in the try-later list during the tests.
RSS = """<rss version="2.0"><channel><title>Feed</title><item>
<title>Exchange halts withdrawals after an outage</title><link>{}</link></item></channel></rss>"""


def provider_item(name: str, url: str, title: str) -> dict[str, Any]:
    """Return an article with every member of the provider."""
    return {
        "id": name,
        "href": url,
        "title": title,
        "description": "The exchange said so on Monday.",
        "published_at": datetime.now(UTC).isoformat(),
        "language": "en",
        "image": "https://example.com/image.png",
        "categories": [{"name": "markets"}],
        "source": {"id": 7, "name": "Site", "uri": "https://example.com", "favicon": "https://example.com/icon.png"},
        "sentiment": {"overall": {"polarity": "positive"}},
    }


def variables(origin: Origin) -> dict[str, str]:
    """Return the variables for news from the origin only."""
    return {
        "APITUBE_API_KEY": "k",
        "APITUBE_URL": origin.url(PROVIDER),
        "MAX_ARTICLES_PER_RUN": "5",
        "NEWS_FEEDS": origin.url(FEED),
        "NEWS_PROVIDER": "apitube",
    }


def publish(origin: Origin) -> None:
    """Serve one story from two sources, and one article that cannot be fetched."""
    text = "".join(f"<p>{STORY.format(bit)}</p>" for bit in BITS)
    page = Answer(f"<html><body><article>{text}</article></body></html>".encode(), headers=HTML)
    pdf = Answer(b"%PDF-1.7", headers={"Content-Type": "application/pdf"})
    articles = [
        provider_item(
            ARTICLE_ID, origin.serve("/news/page", page), "Exchange lists bitcoin futures for banks in Europe"
        ),
        provider_item(
            "other", origin.serve("/news/pdf", pdf), "Exchange lists bitcoin futures for banks across Europe"
        ),
    ]
    origin.serve(FIRST_PAGE, json.dumps({"status": "ok", "data": articles}))
    origin.serve(FEED, RSS.format(origin.url("/news/missing")))


def collect(runtime: Runtime) -> None:
    """Trigger both crons once."""
    for worker in ("worker-news-updater", "worker-news-processor"):
        assert runtime.cron(worker, "* * * * *").status_code == 200, runtime.lines[-5:]


def walk_api(walk: Walk, _origin: Origin, _name: str) -> None:
    """Make every request of a reader: all, by page, one, by time, as feeds; new and unchanged."""
    articles = {article["id"]: article for article in walk("GET", "/api/bitcoin-news").json()["articles"]}
    assert "aiSummary" in articles[ARTICLE_ID]
    assert "summaryError" in articles["other"], articles
    first = walk("GET", "/api/v1/articles", params={"limit": 1, "from": "2009-01-03"}).json()
    then = walk("GET", "/api/v1/articles", params={"limit": 1, "cursor": first["next"]}).json()
    assert (first["total"], then["next"]) == (2, None)
    assert len(walk("GET", "/api/v1/articles", params={"duplicates": "true"}).json()["articles"]) == 3
    assert walk("GET", "/api/v1/articles/{id}", {"id": ARTICLE_ID}).json()["alternates"]
    assert walk("GET", "/api/v1/articles/{id}", {"id": "nothing"}).status_code == 404
    for bucket in ("hour", "day", "week"):
        assert walk("GET", "/api/v1/sentiment", params={"bucket": bucket}).json()["total"] == 2
    assert walk("GET", "/api/v1/trending").json()["terms"][0]["term"] == "exchange"
    assert walk("GET", "/status").json()["tryLater"][0]["attempts"] >= 1
    walk_push(walk)
    for name in ("bitcoin-news", "v1/articles", f"v1/articles/{ARTICLE_ID}", "v1/sentiment", "v1/trending"):
        check_conditional_requests(walk, f"/api/{name}")
    for kind in ("rss", "atom", "json"):
        check_conditional_requests(walk, f"/api/v1/feed.{kind}")


def walk_push(walk: Walk) -> None:
    """Subscribe to a feed and unsubscribe, and add, lists and remove a webhook."""
    feed = walk("GET", "/api/v1/feed.json").json()
    form = {"hub.mode": "subscribe", "hub.topic": feed["feed_url"], "hub.callback": "https://reader.example.com/"}
    assert walk("POST", "/api/v1/hub", data=form).status_code == 202
    assert walk("POST", "/api/v1/hub", data=form | {"hub.callback": "https://10.0.0.1/"}).status_code == 400
    before = list_webhooks(walk)  # the documented example may have added one
    created = walk("POST", "/api/v1/webhooks", json={"url": "https://app.example.com/stories"}).json()
    assert list_webhooks(walk) - before == {created["id"]}
    for status in (204, 404):
        assert walk("DELETE", "/api/v1/webhooks/{id}", {"id": created["id"]}).status_code == status
    assert list_webhooks(walk) == before


def list_webhooks(walk: Walk) -> set[str]:
    return {each["id"] for each in walk("GET", "/api/v1/webhooks").json()["webhooks"]}


def check_conditional_requests(walk: Walk, address: str) -> None:
    """A request with the current ETag gets 304, and one that requires another ETag gets 412."""
    path, values = address.replace(ARTICLE_ID, "{id}"), {"id": ARTICLE_ID}
    tag = walk("GET", path, values).headers["ETag"]
    again = walk("GET", path, values, headers={"If-None-Match": tag})
    if again.status_code == 200:  # a new ten-minute step of the trends has begun in between
        assert again.headers["ETag"] != tag
        again = walk("GET", path, values, headers={"If-None-Match": again.headers["ETag"]})
    assert again.status_code == 304
    assert walk("GET", path, values, headers={"If-Match": '"another"'}).status_code == 412


def walk_updater(walk: Walk, origin: Origin, _name: str) -> None:
    """Run with all sources available, with one down, and list the pending articles."""
    assert walk("POST", "/run").json()["outcome"] == "ok"
    origin.serve(FIRST_PAGE, Answer(status=500))
    assert list(walk("POST", "/run").json()["failed"]) == ["apitube"]
    publish(origin)
    assert walk("GET", "/").json()["latestArticles"]
    assert walk("GET", "/status").json()["lastRun"]["failedSources"] == ["apitube"]


def walk_processor(walk: Walk, _origin: Origin, _name: str) -> None:
    """Process one article again, request an unknown one, and make a run."""
    done = walk("GET", "/", params={"articleId": ARTICLE_ID, "force": ""}).json()
    assert (done["success"], done["stage"], done["article"]["sentimentBy"]) == (True, "complete", "embedded")
    assert walk("GET", "/", params={"articleId": "nothing"}).status_code == 404
    assert walk("POST", "/run").json()["outcome"] in {"ok", "idle"}
    assert walk("GET", "/status").json()["processed"] == 2
