"""The news service as its operator and its subscribers see it: sources, alerts, the hub, webhooks and the cache."""

import hmac
import json
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import feedparser  # type: ignore[import-untyped]
import pytest

from runtime import ROOT, Runtime, until
from workerd.conftest import StartRuntime
from workerd.news_receiver import Receiver, receive
from workerd.origin import Answer, Origin, local_origin

TOKEN = "the-operators-token"
ADMIN = {"Authorization": f"Bearer {TOKEN}"}
RSS = "<rss version='2.0'><channel><title>Feed</title>{}</channel></rss>"
ITEM = "<item><title>{}</title><link>{}</link></item>"
FEEDS, CONDITIONAL = 30, 5
TOPIC = "http://worker-api.localhost/api/v1/feed.atom"
# So that the private addresses of the test may be called.
SECRET = "between-us"


@dataclass
class Story:
    """What was seen while the service ran."""

    reports: list[dict[str, Any]] = field(default_factory=list)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    cached: list[tuple[str, int]] = field(default_factory=list)
    refused: int = 0
    after_unsubscribing: int = 0
    webhook_secret: str = ""


class Service:
    def __init__(self, runtime: Runtime, origin: Origin, receiver: Receiver) -> None:
        self.runtime, self.origin, self.receiver = runtime, origin, receiver
        self.titles = 0

    def publish_story(self) -> None:
        """Add a story to the first feed, collect it and process it to its end."""
        self.titles += 1
        items = "".join(ITEM.format(f"Bitcoin story {n}", self.origin.url(f"/page/{n}")) for n in range(self.titles))
        self.origin.serve("/feed/0", Answer(RSS.format(items).encode(), headers={"ETag": f'"v{self.titles}"'}))
        self.run("worker-news-updater")
        self.run("worker-news-processor")

    def run(self, worker: str) -> dict[str, Any]:
        with self.runtime.client(worker) as client:
            reply = client.post("/run", headers=ADMIN)
        assert reply.status_code == 200, reply.text
        report: dict[str, Any] = reply.json()
        return report

    def get(self, path: str) -> Any:
        with self.runtime.client("worker-api") as client:
            return client.get(path)

    def ask_hub(self, mode: str, callback: str) -> int:
        form = {"hub.mode": mode, "hub.topic": TOPIC, "hub.callback": callback, "hub.secret": SECRET}
        with self.runtime.client("worker-api") as client:
            return client.post("/api/v1/hub", data=form).status_code


def serve_feeds(origin: Origin) -> list[str]:
    """Serve thirty feeds with the same item, five of which answer 304 to a second request."""
    body = RSS.format(ITEM.format("Bitcoin rests", origin.url("/page/shared"))).encode()
    urls = []
    for number in range(1, FEEDS + 1):
        is_conditional = number <= CONDITIONAL
        first = Answer(body, headers={"ETag": f'"{number}"'} if is_conditional else {})
        urls.append(origin.serve(f"/feed/{number}", first, *([Answer(status=304)] if is_conditional else [])))
    return urls


def watch_sources(service: Service, story: Story) -> None:
    """Four runs: the flaky source is well, fails twice and returns."""
    origin = service.origin
    empty, broken = Answer(RSS.format("").encode()), Answer(status=500)
    for answer in (empty, broken, broken, empty):
        origin.serve("/feed/flaky", answer)
        story.reports.append(service.run("worker-news-updater"))
        story.statuses.append(service.get("/status").json())
    until(lambda: len(service.receiver.at("/alerts")) == 2)


def wait_until_longer(items: list[Any], length: int) -> None:
    until(lambda: len(items) > length)


def watch_subscriber(service: Service, story: Story) -> None:
    """Subscribe, get a story, renew, get another, unsubscribe, and get no more."""
    receiver, callback = service.receiver, service.receiver.url("/reader?id=7")
    story.refused = service.ask_hub("subscribe", "https://192.168.1.1/hook")
    with service.runtime.client("worker-api") as client:
        created = client.post("/api/v1/webhooks", headers=ADMIN, json={"url": receiver.url("/app")})
        story.webhook_secret = created.json()["secret"]
    for count in (1, 2):
        assert service.ask_hub("subscribe", callback) == 202
        wait_until_longer(receiver.challenges, count - 1)
        service.publish_story()
        until(partial(receiver.has, "/reader?id=7", count))
        until(partial(receiver.has, "/app", count))
    assert service.ask_hub("unsubscribe", callback) == 202
    wait_until_longer(receiver.challenges, 2)
    until(lambda: not service.get("/status").json()["waitingDeliveries"])
    before = len(receiver.at("/reader?id=7"))
    service.publish_story()
    until(lambda: len(receiver.at("/app")) >= 3)
    story.after_unsubscribing = len(receiver.at("/reader?id=7")) - before


def watch_cache(service: Service, story: Story) -> None:
    """Read a page twice, publish a story, and read it again."""
    for _ in range(2):
        page = service.get("/api/v1/articles")
        story.cached.append((page.headers.get("Cf-Cache-Status", ""), page.json()["total"]))
    service.publish_story()
    page = service.get("/api/v1/articles")
    story.cached.append((page.headers.get("Cf-Cache-Status", ""), page.json()["total"]))


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime) -> Iterator[Service]:
    with local_origin() as origin, receive() as receiver:
        feeds = [origin.url("/feed/0"), origin.serve("/feed/flaky", RSS.format("")), *serve_feeds(origin)]
        origin.serve("/feed/0", RSS.format(""))
        settings = {
            "NEWS_FEEDS": ",".join(feeds),
            "ALLOW_PRIVATE_HOSTS": f"{origin.address},{receiver.address}",
            "ADMIN_TOKEN": TOKEN,
            "ALERT_WEBHOOK_URL": receiver.url("/alerts"),
            "MAX_ARTICLES_PER_RUN": "10",
            "MAX_CONTENT_FETCH_ATTEMPTS": "1",
        }
        names = "worker-news-updater,worker-news-processor,worker-api"
        variables = [part for name, value in settings.items() for part in ("--var", f"{name}={value}")]
        yield Service(start("--only", names, *variables), origin, receiver)


@pytest.fixture(name="story", scope="module")
def _story(service: Service) -> Story:
    story = Story()
    watch_sources(service, story)
    watch_subscriber(service, story)
    watch_cache(service, story)
    return story


def test_unchanged_feeds_are_not_parsed_again(story: Story, service: Service):
    """Five of thirty feeds answer 304 to the second request, which names their ETag; the others are read again."""
    second = story.reports[1]["sources"]
    outcomes = [each["outcome"] for name, each in second.items() if "flaky" not in name and not name.endswith("/0")]
    assert (outcomes.count("unchanged"), outcomes.count("read")) == (CONDITIONAL, FEEDS - CONDITIONAL)
    sent = {name.lower(): value for name, value in service.origin.requests("/feed/1")[1].headers.items()}
    assert sent["if-none-match"] == '"1"'
    hits = {each["name"]: each["conditionalHits"] for each in story.statuses[-1]["sources"]}
    assert sorted(hits.values())[-CONDITIONAL - 1 :] == [0, 3, 3, 3, 3, 3]


def test_one_alert_and_one_recovery(story: Story, service: Service):
    """The source that fails twice is reported once, and once when it returns; the status names it meanwhile."""
    alerts = [json.loads(message.body) for message in service.receiver.at("/alerts")]
    assert [alert["type"] for alert in alerts] == ["source-failing", "source-recovered"]
    assert all(alert["source"].endswith("/feed/flaky") for alert in alerts)
    assert [status["status"] for status in story.statuses] == ["ok", "degraded", "degraded", "ok"]
    assert "/feed/flaky has failed 2 times in a row" in story.statuses[2]["problem"]


def test_subscriber(story: Story, service: Service):
    """It confirms, gets the whole feed signed with its secret, renews, and gets nothing after it has unsubscribed."""
    receiver = service.receiver
    assert [each["hub.mode"] for each in receiver.challenges] == ["subscribe", "subscribe", "unsubscribe"]
    assert (receiver.challenges[0]["hub.lease_seconds"], receiver.challenges[0]["id"]) == ("864000", "7")
    for message in receiver.at("/reader?id=7"):
        digest = hmac.new(SECRET.encode(), message.body, "sha256").hexdigest()
        assert message.headers["x-hub-signature"] == f"sha256={digest}"
        feed = feedparser.parse(message.body)
        assert (feed.bozo, feed.version) == (False, "atom10")
        assert {link["rel"] for link in feed.feed.links} >= {"hub", "self"}
        assert feed.feed.links[0]["href"] == TOPIC
    newest = feedparser.parse(receiver.at("/reader?id=7")[-1].body)
    assert "Bitcoin story 1" in {entry.title for entry in newest.entries}
    assert story.after_unsubscribing == 0


def test_private_callback_is_refused(story: Story):
    """Nobody can make the hub call a private address."""
    assert story.refused == 400


def test_webhook_signature(story: Story, service: Service):
    """The receiver verifies each message, and every story comes once."""
    titles = []
    for message in service.receiver.at("/app"):
        signed = f"{message.headers['webhook-id']}.{message.headers['webhook-timestamp']}.".encode() + message.body
        key = b64decode(story.webhook_secret.removeprefix("whsec_"))
        signature = message.headers["webhook-signature"].removeprefix("v1,")
        assert b64decode(signature) == hmac.new(key, signed, "sha256").digest()
        titles += [each["title"] for each in json.loads(message.body)["data"]]
    assert sorted(set(titles)) == sorted(titles)
    assert {"Bitcoin story 0", "Bitcoin story 1", "Bitcoin story 2"} <= set(titles)


def test_cache_answers_until_the_news_change(story: Story):
    """The second request is answered by the cache before the Worker; a new story purges the copies at once."""
    (first, before), (second, same), (third, after) = story.cached
    assert (first, second, same - before) == ("MISS", "HIT", 0)
    assert (third, after - before) == ("MISS", 1)


def test_hub_is_announced(story: Story, service: Service):
    """Each feed names the hub and itself, in its headers and in its body."""
    assert story
    for kind in ("rss", "atom", "json"):
        reply = service.get(f"/api/v1/feed.{kind}")
        topic = f"http://worker-api.localhost/api/v1/feed.{kind}"
        hub = "http://worker-api.localhost/api/v1/hub"
        assert reply.headers["Link"] == f'<{hub}>; rel="hub", <{topic}>; rel="self"'
        assert hub in reply.text
        assert topic in reply.text


def test_configs_of_the_news():
    """All three Workers are bound to the one state object, which worker-api owns."""
    for name in ("updater", "processor"):
        text = (ROOT / f"wrangler.news-{name}.toml").read_text()
        assert 'class_name = "NewsState", script_name = "worker-api"' in text
