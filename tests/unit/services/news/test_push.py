"""The WebSub hub and the webhooks: who is told of new stories, and how."""

import hmac
import json
from base64 import b64decode
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import feedparser  # type: ignore[import-untyped]
import pytest

from fakes.objects import FakeStorage
from sluice.core.errors import TooManyRequests
from sluice.core.net.addresses import AllowedHosts
from sluice.core.ports import FetchResponse, HeaderPairs
from sluice.platform.durable_objects import Sql
from sluice.services.news.push import subscription_rows
from sluice.services.news.push.hub_request import DEFAULT_LEASE_S, MAX_LEASE_S, parse_hub_request
from sluice.services.news.state.outbox import MAX_ATTEMPTS, DeliveryKind, Outbox
from sluice.services.news.state.remote_state import HubRequest
from sluice.web import App, Reply
from unit.services.news.harness import NewsHarness
from unit.web.calls import call, parsed

HOME = "https://news.example"
TOPIC = f"{HOME}/api/v1/feed.atom"
CALLBACK = "https://reader.example/hook?who=me"
HOOK = "https://app.example/stories"
TOKEN = "the-operators-token"


@dataclass
class Receiver:
    """A subscriber that confirms everything, unless it is told otherwise."""

    confirms: bool = True
    status: int = 200
    asked: list[dict[str, str]] = field(default_factory=list)
    received: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)

    async def __call__(
        self, url: str, *, method: str = "GET", headers: HeaderPairs = (), body: bytes | None = None, **_options: Any
    ) -> FetchResponse:
        if method == "GET":
            query = dict(parse_qsl(urlsplit(url).query))
            self.asked.append(query)
            return FetchResponse(url, 200 if self.confirms else 404, (), query["hub.challenge"].encode())
        self.received.append((url, {name.lower(): value for name, value in headers}, body or b""))
        return FetchResponse(url, self.status, (), b"")


class Service:
    """The news service with a receiver outside."""

    def __init__(self) -> None:
        self.news = NewsHarness(max_articles_per_run=3)
        self.news.web = self.receiver = Receiver()
        routes = self.news.api(ADMIN_TOKEN=TOKEN, PUBLIC_URL=HOME).routes
        self.errors: list[Exception] = []
        self.app = App(routes, on_error=lambda error, _request: self.errors.append(error))

    async def ring(self) -> None:
        """Let the alarm ring if it is due."""
        at = await self.news.state.alarm.get()
        if at is not None and at <= self.news.clock.now():
            await self.news.state.alarm.delete()
            await self.news.state.handle_alarm()

    async def ask_hub(self, **changes: str) -> Reply:
        form = {"hub.mode": "subscribe", "hub.topic": TOPIC, "hub.callback": CALLBACK} | {
            f"hub.{name}": value for name, value in changes.items()
        }
        return await self.request("POST", "/api/v1/hub", urlencode(form), "application/x-www-form-urlencoded")

    async def request(self, method: str, path: str, body: str = "", media_type: str = "application/json") -> Reply:
        headers = {"Content-Type": media_type, "Authorization": f"Bearer {TOKEN}"}
        reply = await self.app.handle(call(method, path, headers, body.encode()))
        assert not self.errors, self.errors
        return reply

    async def subscribe(self, **changes: str) -> None:
        assert (await self.ask_hub(**changes)).status == 202
        await self.ring()

    async def publish(self, name: str) -> None:
        """Process a new article to its end, and let the alarm send what waits."""
        await self.news.put_pending(name)
        await self.news.run_until_idle()
        await self.ring()


async def test_subscriber_gets_the_feed():
    """The answer comes before the confirmation; after it every new story is sent as the whole feed, signed."""
    service = Service()
    reply = await service.ask_hub(secret="s3cret")
    assert (reply.status, service.receiver.asked) == (202, [])
    await service.ring()
    [asked] = service.receiver.asked
    assert (asked["hub.mode"], asked["hub.topic"], asked["who"]) == ("subscribe", TOPIC, "me")
    assert asked["hub.lease_seconds"] == str(DEFAULT_LEASE_S)
    await service.publish("a")
    [(url, headers, body)] = service.receiver.received
    feed = feedparser.parse(body)
    assert (url, feed.bozo, [entry.title for entry in feed.entries]) == (CALLBACK, False, ["a"])
    assert headers["content-type"] == "application/atom+xml; charset=utf-8"
    assert headers["link"] == f'<{HOME}/api/v1/hub>; rel="hub", <{TOPIC}>; rel="self"'
    expected = hmac.new(b"s3cret", body, "sha256").hexdigest()
    assert headers["x-hub-signature"] == f"sha256={expected}"


async def test_only_changes_are_sent():
    """An article that is not complete yet is not in the feed, so nothing is sent."""
    service = Service()
    await service.subscribe()
    service.news.settings = service.news.settings.__class__(retry_delay_s=0)
    await service.news.put_pending("a")
    for sent in (0, 0, 1, 1):
        await service.news.run_minute()
        await service.ring()
        assert len(service.receiver.received) == sent


async def test_unconfirmed_request_changes_nothing():
    """A callback that did not ask gets nothing, and nobody else can end a subscription."""
    service = Service()
    service.receiver.confirms = False
    await service.subscribe()
    await service.publish("a")
    assert service.receiver.received == []
    service.receiver.confirms = True
    await service.subscribe()
    service.receiver.confirms = False
    await service.subscribe(mode="unsubscribe")
    await service.publish("b")
    assert len(service.receiver.received) == 1


async def test_unsubscribing():
    """A confirmed request ends the subscription."""
    service = Service()
    await service.subscribe()
    await service.subscribe(mode="unsubscribe")
    assert [asked["hub.mode"] for asked in service.receiver.asked] == ["subscribe", "unsubscribe"]
    await service.publish("a")
    assert service.receiver.received == []


async def test_lease_ends_unless_renewed():
    """A subscription ends with its lease; subscribing again renews it."""
    service = Service()
    await service.subscribe(lease_seconds="3600")
    service.news.clock.advance(3000)
    await service.subscribe(lease_seconds="3600")
    service.news.clock.advance(3000)
    await service.publish("a")
    assert len(service.receiver.received) == 1
    service.news.clock.advance(3600)
    await service.publish("b")
    assert len(service.receiver.received) == 1


async def test_failed_delivery_is_repeated():
    """A subscriber that is down gets the feed later, and keeps its subscription; 410 ends it."""
    service = Service()
    await service.subscribe()
    service.receiver.status = 503
    await service.publish("a")
    service.receiver.status = 200
    service.news.clock.advance(60)
    await service.ring()
    assert len(service.receiver.received) == 2
    service.receiver.status = 410
    await service.publish("b")
    service.receiver.status = 200
    await service.publish("c")
    assert len(service.receiver.received) == 3


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"mode": "publish"}, "hub.mode"),
        ({"topic": f"{HOME}/api/v1/articles"}, "hub.topic"),
        ({"topic": "https://other.example/feed"}, "hub.topic"),
        ({"callback": "http://127.0.0.1/x"}, "hub.callback"),
        ({"callback": "https://10.0.0.1/x"}, "hub.callback"),
        ({"callback": "https://printer.local/"}, "hub.callback"),
        ({"callback": "http://reader.example/"}, "hub.callback"),
        ({"callback": ""}, "hub.callback"),
        ({"secret": "x" * 200}, "hub.secret"),
        ({"lease_seconds": "long"}, "hub.lease_seconds"),
    ],
)
async def test_wrong_requests(changes: dict[str, str], field: str):
    """A wrong request is refused with its field named, and nobody is called."""
    service = Service()
    reply = await service.ask_hub(**changes)
    assert (reply.status, parsed(reply)["errors"][0]["path"]) == (400, field)
    await service.ring()
    assert service.receiver.asked == []


def test_leases_are_bounded():
    """A lease is at most thirty days."""
    form = {"hub.mode": "subscribe", "hub.topic": TOPIC, "hub.callback": CALLBACK, "hub.lease_seconds": "99999999999"}
    assert parse_hub_request(form, topics=[TOPIC], allowed=AllowedHosts())["lease_s"] == MAX_LEASE_S


async def test_too_many_subscriptions(monkeypatch: pytest.MonkeyPatch):
    """One host cannot fill the list."""
    service = Service()
    monkeypatch.setattr(subscription_rows, "MAX_FOR_ONE_HOST", 1)
    await service.subscribe()
    reply = await service.ask_hub(callback="https://reader.example/other")
    assert (reply.status, reply.header("Retry-After") is not None) == (429, True)
    request = HubRequest(mode="subscribe", topic=TOPIC, callback=CALLBACK, lease_s=1, secret="")
    with pytest.raises(TooManyRequests):
        await service.news.state.accept_hub_request(request)


async def test_webhook():
    """The operator's webhook gets each new story once, with a signature that its receiver can verify."""
    service = Service()
    created = parsed(await service.request("POST", "/api/v1/webhooks", json.dumps({"url": HOOK})))
    await service.publish("a")
    await service.publish("b")
    assert [url for url, _, _ in service.receiver.received] == [HOOK, HOOK]
    titles = []
    for _, headers, body in service.receiver.received:
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        key = b64decode(created["secret"].removeprefix("whsec_"))
        version, _, signature = headers["webhook-signature"].partition(",")
        assert (version, b64decode(signature)) == ("v1", hmac.new(key, signed, "sha256").digest())
        titles += [story["title"] for story in json.loads(body)["data"]]
    assert titles == ["a", "b"]


async def test_webhooks_are_the_operators():
    """They are listed without their secrets, removed by id, and closed to everybody else."""
    service = Service()
    created = parsed(await service.request("POST", "/api/v1/webhooks", json.dumps({"url": HOOK})))
    [listed] = parsed(await service.request("GET", "/api/v1/webhooks"))["webhooks"]
    assert (listed["url"], "secret" in listed) == (HOOK, False)
    assert (await service.request("DELETE", f"/api/v1/webhooks/{created['id']}")).status == 204
    assert (await service.request("DELETE", f"/api/v1/webhooks/{created['id']}")).status == 404
    await service.publish("a")
    assert service.receiver.received == []
    assert (await service.app.handle(call("GET", "/api/v1/webhooks"))).status == 401
    assert (await service.app.handle(call("POST", "/api/v1/webhooks", {}, b"{"))).status == 401


@pytest.mark.parametrize("body", [{}, {"url": 5}, {"url": "https://192.168.0.1/"}, {"url": HOOK, "more": 1}])
async def test_wrong_webhooks(body: dict[str, Any]):
    """A webhook without an address, or with one that must not be called, is refused."""
    reply = await Service().request("POST", "/api/v1/webhooks", json.dumps(body))
    assert (reply.status, parsed(reply)["errors"][0]["path"]) == (400, "more" if "more" in body else "url")


async def test_old_stories_are_not_new():
    """Articles that the object finds in an older store are not announced."""
    service = Service()
    await service.request("POST", "/api/v1/webhooks", json.dumps({"url": HOOK}))
    old = NewsHarness(max_articles_per_run=3)
    await old.put_pending("a")
    await old.run_until_idle()
    service.news.kv._history.update(old.kv._history)
    service.news.clock.advance(2 * 3600)
    await service.news.state.reconcile()
    await service.ring()
    assert service.receiver.received == []


def test_late_end_of_a_try():
    """A try that ends when a later one has been counted neither counts again, nor gives the delivery up."""
    outbox = Outbox(Sql(FakeStorage()))
    outbox.add(DeliveryKind.WEBHOOK, "t", "{}", 0)
    [first] = outbox.list_due(0, 10)
    assert outbox.retry(first, 0)
    [second] = outbox.list_due(10_000, 10)
    assert outbox.retry(first, 50_000)
    assert outbox.list_due(10_000, 10) == [second]
    last = replace(first, attempts=MAX_ATTEMPTS - 1)
    assert not outbox.retry(last, 0)
    assert outbox.count() == 1
    outbox.remove(first)
    assert outbox.count() == 0
