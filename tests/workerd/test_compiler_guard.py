"""Who may compile: rate limit and Turnstile before every path, and the WebSocket from end to end, in workerd."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from runtime import PATIENCE_S, Runtime, until
from sluice.services.compiler.live.open_sockets import MAX_OPEN
from unit.services.metric_rules import find_violations
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin
from workerd.socket_client import SocketClient, dialled

NAME = "adblock-compiler"
SECRET = "the-secret"
COSTLY = (
    "/compile",
    "/compile/async",
    "/compile/batch",
    "/compile/batch/async",
    "/compile/stream",
    "/workflow/batch",
    "/workflow/cache-warm",
    "/workflow/compile",
    "/workflow/health-check",
)
SENT_ALONG = {
    "configuration": {"name": "T", "sources": [{"source": "here"}]},
    "preFetchedContent": {"here": "||ads.example^\n"},
}


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="limited", scope="module")
def _limited_service(start: StartRuntime, origin: Origin) -> Runtime:
    """As it is deployed: ten requests a minute, no Turnstile. The window is longer, for slow machines."""
    variables = (f"ALLOW_PRIVATE_HOSTS={origin.address}", "RATE_LIMIT_WINDOW_S=600")
    return start("--only", NAME, *(part for variable in variables for part in ("--var", variable)))


@pytest.fixture(name="guarded", scope="module")
def _guarded_service(start: StartRuntime, origin: Origin) -> Runtime:
    """With Turnstile; the origin is its verifier."""
    variables = (
        f"ALLOW_PRIVATE_HOSTS={origin.address}",
        "RATE_LIMIT_MAX_REQUESTS=100000",
        f"TURNSTILE_SECRET_KEY={SECRET}",
        "TURNSTILE_SITE_KEY=the-site",
        f"TURNSTILE_VERIFY_URL={origin.url('/verify')}",
    )
    return start("--only", NAME, *(part for variable in variables for part in ("--var", variable)))


def post(runtime: Runtime, path: str, body: Any, client: str) -> httpx.Response:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers = {"Content-Type": "application/json", "CF-Connecting-IP": client}
    return httpx.post(f"{runtime.url}{path}", content=content, headers=headers, timeout=PATIENCE_S)


def dial(runtime: Runtime, client: str) -> AbstractContextManager[SocketClient]:
    return dialled(runtime.url, f"{NAME}.localhost", "/ws/compile", {"CF-Connecting-IP": client})


def configuration(origin: Origin, path: str, name: str = "T") -> dict[str, Any]:
    return {"name": name, "sources": [{"source": origin.url(path)}], "transformations": ["RemoveComments"]}


def test_twenty_clients_are_limited_separately(limited: Runtime):
    """Of twelve requests that each of twenty clients makes at the same time, ten pass and two are refused."""
    clients = [f"198.51.100.{number}" for number in range(20)] * 12
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda client: (client, post(limited, "/compile", SENT_ALONG, client)), clients))
    counts = Counter((client, reply.status_code) for client, reply in replies)
    assert counts == {(client, status): n for client in clients for status, n in ((200, 10), (429, 2))}
    refused = next(reply for _, reply in replies if reply.status_code == 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 600
    body = refused.json()
    assert (body["success"], body["status"]) == (False, 429)
    assert body["error"] == "Rate limit exceeded. Maximum 10 requests per 600 seconds."


def test_every_costly_path_is_limited(limited: Runtime):
    """Invalid bodies are charged too; after ten requests only the paths that cost a compilation refuse."""
    client = "203.0.113.1"
    for junk in (b"", b"{", b"[]", b"{}", b"\xff") * 2:
        assert post(limited, "/compile", junk, client).status_code == 400
    assert {path: post(limited, path, SENT_ALONG, client).status_code for path in COSTLY} == dict.fromkeys(COSTLY, 429)
    headers = {"CF-Connecting-IP": client}
    for path in ("/api", "/metrics", "/queue/stats", "/workflow/metrics", "/health/latest", "/api/turnstile-config"):
        assert httpx.get(f"{limited.url}{path}", headers=headers, timeout=PATIENCE_S).status_code == 200
    with dial(limited, client) as line:
        line.compile("a", SENT_ALONG["configuration"], preFetchedContent=SENT_ALONG["preFetchedContent"])
        error = line.hear_until("compile:error")[-1]
    assert error["details"]["status"] == 429
    assert 1 <= error["details"]["retryAfter"] <= 600


def test_ipv6_networks_are_clients(limited: Runtime):
    """Addresses of one /64 share their limit, another /64 has its own."""
    for number in range(10):
        assert post(limited, "/compile", SENT_ALONG, f"2001:db8:1:1::{number:x}").status_code == 200
    assert post(limited, "/compile", SENT_ALONG, "2001:db8:1:1:ffff::1").status_code == 429
    assert post(limited, "/compile", SENT_ALONG, "2001:db8:1:2::1").status_code == 200


def test_ipv6_clients_of_one_network(limited: Runtime):
    """Many clients of one /48 make as many requests as ten clients together; the network beside it is not concerned."""
    clients = [f"2001:db8:2:{number:x}::1" for number in range(110)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda client: post(limited, "/compile", SENT_ALONG, client), clients))
    # The first one came before its network was known to have several.
    assert Counter(reply.status_code for reply in replies) == {200: 101, 429: 9}
    refused = next(reply for reply in replies if reply.status_code == 429)
    assert refused.json()["error"] == "Rate limit exceeded. Maximum 100 requests per 600 seconds from one network."
    assert post(limited, "/compile", SENT_ALONG, "2001:db8:3::1").status_code == 200


def test_messages_are_charged(limited: Runtime):
    """Each compilation requested over a socket is charged; other messages are not."""
    client = "203.0.113.2"
    with dial(limited, client) as line:
        for number in range(10):
            line.say({"type": "ping"})
            line.say("junk")
            line.compile(str(number), SENT_ALONG["configuration"], preFetchedContent=SENT_ALONG["preFetchedContent"])
            assert line.hear_until("compile:complete", "compile:error")[-1]["type"] == "compile:complete"
    assert post(limited, "/compile", SENT_ALONG, client).status_code == 429


def test_metrics_report_it(limited: Runtime):
    """Requests and refusals are in the metrics, in both forms."""
    client = "203.0.113.3"
    for _ in range(12):
        post(limited, "/compile", SENT_ALONG, client)
    body = httpx.get(f"{limited.url}/metrics", timeout=PATIENCE_S).json()
    figures = body["endpoints"]["/compile"]
    assert body["window"] == "30 minutes"
    assert figures["count"] == figures["success"] + figures["failed"]
    assert figures["errors"]["Rate limit exceeded. Maximum 10 requests per 600 seconds."] >= 2
    assert figures["success"] >= 10
    reply = httpx.get(f"{limited.url}/metrics/prometheus", timeout=PATIENCE_S)
    assert reply.headers["Content-Type"].startswith("text/plain; version=0.0.4")
    assert find_violations(reply.text) == []
    counted = dict(line.rsplit(" ", 1) for line in reply.text.splitlines() if not line.startswith("#"))
    assert int(counted['sluice_requests_total{endpoint="/compile",outcome="success"}']) >= figures["success"]


def test_no_token(guarded: Runtime, origin: Origin):
    """With Turnstile enabled, no request that costs a compilation passes without a token."""
    verifications = origin.count("/verify", "POST")
    for path in COSTLY:
        reply = post(guarded, path, SENT_ALONG, "203.0.113.9")
        assert (path, reply.status_code) == (path, 403)
        assert "turnstileToken" in reply.json()["error"]
    for path in ("/workflow/cache-warm", "/workflow/health-check"):
        assert post(guarded, path, b"", "203.0.113.9").status_code == 403
    with dial(guarded, "203.0.113.9") as line:
        line.compile("a", SENT_ALONG["configuration"])
        assert line.hear_until("compile:error")[-1]["details"]["status"] == 403
    assert origin.count("/verify", "POST") == verifications


def test_good_token(guarded: Runtime, origin: Origin):
    """A token that the verifier accepts passes; the verifier received secret, token and address."""
    origin.serve("/verify", '{"success":true}')
    reply = post(guarded, "/compile", SENT_ALONG | {"turnstileToken": "tok&en"}, "203.0.113.10")
    assert (reply.status_code, reply.json()["ruleCount"]) == (200, 1)
    form = parse_qs(origin.requests("/verify")[-1].body.decode())
    assert form == {"secret": [SECRET], "response": ["tok&en"], "remoteip": ["203.0.113.10"]}
    with dial(guarded, "203.0.113.10") as line:
        line.compile(
            "a",
            SENT_ALONG["configuration"],
            preFetchedContent=SENT_ALONG["preFetchedContent"],
            turnstileToken="over the socket",
        )
        assert line.hear_until("compile:complete", "compile:error")[-1]["type"] == "compile:complete"
    assert b"over+the+socket" in origin.requests("/verify")[-1].body


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (Answer(b'{"success":false,"error-codes":["timeout-or-duplicate"]}'), "timeout-or-duplicate"),
        (Answer(b'{"success":false,"error-codes":["invalid-input-secret"]}'), "operator"),
        (Answer(b"", 500), "Turnstile"),
        (Answer(b"<html>"), "Turnstile"),
        (Answer(b'{"success":true}', drop=True), "Turnstile"),
        (Answer(b" " * 100_000), "Turnstile"),
        (Answer(b"[" * 5_000), "Turnstile"),
        (Answer(b"", 302, {"Location": "http://169.254.169.254/"}), "Turnstile"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bad_token(guarded: Runtime, origin: Origin, answer: Answer, word: str):
    """A token that is refused, or cannot be verified, does not pass; the secret is never revealed."""
    origin.serve("/verify", answer)
    reply = post(guarded, "/compile", SENT_ALONG | {"turnstileToken": "t"}, "203.0.113.11")
    assert reply.status_code == 403
    assert word in reply.json()["error"]
    assert SECRET not in reply.text


def test_turnstile_config(guarded: Runtime, limited: Runtime):
    """Pages can read whether to show a challenge."""
    reply = httpx.get(f"{guarded.url}/api/turnstile-config", timeout=PATIENCE_S)
    assert reply.json() == {"siteKey": "the-site", "enabled": True}
    assert reply.headers["Cache-Control"] == "public, max-age=3600"
    body = httpx.get(f"{limited.url}/api/turnstile-config", timeout=PATIENCE_S).json()
    assert body == {"siteKey": None, "enabled": False}


def test_socket_from_welcome_to_list(limited: Runtime, origin: Origin):
    """A list is compiled over a socket: welcome, start, events in order, and the whole list at the end."""
    rules = "\n".join(f"||ads{number}.example^" for number in range(50_000))
    origin.serve("/socket-list", "! Title: x\n" + rules)
    with dial(limited, "203.0.113.20") as line:
        welcome = line.hear()
        assert welcome["type"] == "welcome"
        assert welcome["capabilities"]["maxConcurrentCompilations"] == 3
        line.compile("a", configuration(origin, "/socket-list"), benchmark=True)
        messages = line.hear_until("compile:complete", "compile:error")
    assert [messages[0]["type"], messages[-1]["type"]] == ["compile:started", "compile:complete"]
    assert {message["sessionId"] for message in messages} == {"a"}
    names = [message["eventType"] for message in messages if message["type"] == "event"]
    assert names.index("source:start") < names.index("source:complete") < names.index("compilation:complete")
    complete = messages[-1]
    assert complete["ruleCount"] == sum(not rule.startswith("!") for rule in complete["rules"])
    assert sum(rule.startswith("||ads") for rule in complete["rules"]) == 50_000
    assert complete["metrics"]["sourceCount"] == 1
    assert complete["compiledAt"]


def test_socket_bad_configuration(limited: Runtime):
    """An invalid configuration is reported with its fields, and the connection stays open."""
    with dial(limited, "203.0.113.21") as line:
        line.compile("a", {"name": "", "sources": []})
        error = line.hear_until("compile:error")[-1]
        assert error["details"]["status"] == 400
        assert {field["path"] for field in error["details"]["errors"]} == {"name", "sources"}
        line.say({"type": "ping"})
        assert line.hear_until("pong")[-1]["type"] == "pong"


def test_socket_cancel_stops_the_work(limited: Runtime, origin: Origin):
    """Three run at once and no more; a cancelled one ends before its source answers, and leaves nothing."""
    gate = threading.Event()
    origin.serve("/gated", Answer(b"||ads.example^\n", gate=gate))
    client = "203.0.113.22"
    try:
        with dial(limited, client) as line:
            for session in ("a", "b", "c"):
                line.compile(session, configuration(origin, "/gated", session))
            until(lambda: origin.count("/gated") == 3)
            line.compile("d", configuration(origin, "/gated", "d"))
            assert line.hear_until("error")[-1]["code"] == "TOO_MANY_COMPILATIONS"
            line.compile("b", configuration(origin, "/gated", "b"))
            assert line.hear_until("error")[-1]["code"] == "DUPLICATE_SESSION"
            line.say({"type": "cancel", "sessionId": "b"})
            cancelled = line.hear_until("compile:cancelled")[-1]
            assert (cancelled["sessionId"], cancelled["reason"]) == ("b", "Cancelled by client")
            assert not gate.is_set()
            gate.set()
            ended = [line.hear_until("compile:complete", "compile:error")[-1] for _ in range(2)]
            assert sorted((one["type"], one["sessionId"]) for one in ended) == [
                ("compile:complete", "a"),
                ("compile:complete", "c"),
            ]
    finally:
        gate.set()
    origins = {
        name: post(limited, "/compile", {"configuration": configuration(origin, "/gated", name)}, client).headers[
            "X-Cache"
        ]
        for name in ("a", "b")
    }
    assert origins == {"a": "HIT", "b": "MISS"}


def test_socket_client_leaves(limited: Runtime, origin: Origin):
    """When the client leaves, its compilation is stopped."""
    gate = threading.Event()
    origin.serve("/left", Answer(b"||ads.example^\n", gate=gate))
    try:
        with dial(limited, "203.0.113.23") as line:
            line.compile("a", configuration(origin, "/left"))
            until(lambda: origin.count("/left") == 1)
        until(lambda: origin.left("/left") == 1)  # before the source has answered
    finally:
        gate.set()
    reply = post(limited, "/compile", {"configuration": configuration(origin, "/left")}, "203.0.113.23")
    assert reply.headers["X-Cache"] == "MISS"


def test_socket_codes(limited: Runtime):
    """Every kind of bad message has its code, and none ends the connection."""
    bad_messages = {
        "UNKNOWN_MESSAGE_TYPE": {"type": "hello"},
        "INVALID_MESSAGE": "{",
        "NOT_IMPLEMENTED": {"type": "pause", "sessionId": "a"},
        "SESSION_NOT_FOUND": {"type": "cancel", "sessionId": "a"},
        "MESSAGE_TOO_LARGE": "x" * (1024 * 1024 + 1),
    }
    with dial(limited, "203.0.113.24") as line:
        line.hear()
        for code, message in bad_messages.items():
            line.say(message)
            assert line.hear()["code"] == code


def test_socket_with_bad_messages_is_closed(limited: Runtime):
    """A client that sends only bad messages is disconnected."""
    with dial(limited, "203.0.113.25") as line, pytest.raises(ConnectionClosed) as closed:
        for_ever_junk(line)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def for_ever_junk(line: SocketClient) -> None:
    while True:
        line.say(b"\xff")
        line.hear()


def test_no_upgrade(limited: Runtime):
    """A plain request is verifications to upgrade; other paths have no WebSocket."""
    reply = httpx.get(f"{limited.url}/ws/compile", timeout=PATIENCE_S)
    # Its Upgrade header is kept by workerd: it is about one connection only.
    assert reply.status_code == 426
    assert "Upgrade: websocket" in reply.json()["error"]
    with pytest.raises(InvalidStatus) as refused, dialled(limited.url, f"{NAME}.localhost", "/api"):
        raise AssertionError("unreachable")
    assert refused.value.response.status_code == 200


def test_open_sockets_of_a_client(guarded: Runtime):
    """A client has thirty sockets open, and others theirs. After all were closed at once, it may open new ones."""
    client = "203.0.113.77"
    with ExitStack() as stack:
        for _ in range(MAX_OPEN):
            assert stack.enter_context(dial(guarded, client)).hear()["type"] == "welcome"
        with pytest.raises(InvalidStatus) as refused, dial(guarded, client):
            """Nothing is said."""
        assert refused.value.response.status_code == 429
        with dial(guarded, "203.0.113.78") as other:
            assert other.hear()["type"] == "welcome"

    def connect_again() -> bool:
        with suppress(InvalidStatus), dial(guarded, client) as line:
            return bool(line.hear()["type"] == "welcome")
        return False

    until(connect_again)
