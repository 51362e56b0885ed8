"""Every endpoint against hostile and nearly valid requests: no 500, no hang, and nothing invalid accepted."""

import http.client
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runtime import PATIENCE_S, Runtime
from workerd import oracle
from workerd.api_walk import health
from workerd.conftest import StartRuntime
from workerd.hostile import CAREFUL, CARELESS, ORIGIN, content_types, odd_headers, said, written
from workerd.origin import Answer, Origin, local_origin
from workerd.socket_client import SocketClient, dialled

NAME = "adblock-compiler"
# A failing source of a list is not a failure of the service.
UPSTREAM = {502, 504}
EXPECTED = {
    "Conflict",
    "Forbidden",
    "Invalid",
    "NotFound",
    "Oversized",
    "Refused",
    "Unusable",
    "TimedOut",
    "TooLarge",
    "Unavailable",
}
CODES = {
    "DUPLICATE_SESSION",
    "INVALID_MESSAGE",
    "INVALID_SESSION_STATE",
    "MESSAGE_TOO_LARGE",
    "NOT_IMPLEMENTED",
    "SESSION_NOT_FOUND",
    "TOO_MANY_COMPILATIONS",
    "UNKNOWN_MESSAGE_TYPE",
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    path: str
    kind: str
    check: Callable[[Any], None]
    status: int
    optional: bool = False


def fuzz(examples: int) -> Callable[[Any], Any]:
    """Use fewer examples than elsewhere, because each is a request; hypothesis shrinks what fails."""
    checks = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=examples, suppress_health_check=checks)


def bodies(valid: st.SearchStrategy[Any], nearly: st.SearchStrategy[Any]) -> st.SearchStrategy[bytes]:
    """Half of the bodies are valid, so that every choice of examples has enough of them; the rest is of all kinds."""
    plain = valid.map(lambda value: json.dumps(value).encode())
    return st.booleans().flatmap(lambda is_plain: plain if is_plain else written(valid, nearly))


ENDPOINTS = (
    Endpoint("/compile", "compile", oracle.compile_body, 200),
    Endpoint("/compile/stream", "compile", oracle.compile_body, 200),
    Endpoint("/compile/batch", "batch", oracle.batch_body(10), 200),
    Endpoint("/compile/async", "compile", oracle.compile_body, 202),
    Endpoint("/compile/batch/async", "batch", oracle.batch_body(100), 202),
    Endpoint("/workflow/compile", "compile", oracle.compile_body, 202),
    Endpoint("/workflow/batch", "batch", oracle.batch_body(100), 202),
    Endpoint("/workflow/cache-warm", "warm", oracle.warm_body, 202, optional=True),
    Endpoint("/workflow/health-check", "health", oracle.health_body, 202, optional=True),
)
CANCEL = "/queue/cancel/{}"
GETS = (
    "/",
    "/api",
    "/api/turnstile-config",
    "/health",
    "/health/latest",
    "/lists",
    "/lists/{}",
    "/lists/{}/diff",
    "/lists/{}/overlap",
    "/lists/{}/versions",
    "/lists/{}/why",
    "/lists/patches/{}/{}",
    "/metrics",
    "/metrics/prometheus",
    "/openapi.json",
    "/queue/history",
    "/queue/results/{}",
    "/queue/stats",
    "/workflow/events/{}",
    "/workflow/metrics",
    "/workflow/status/compilation/{}",
    "/workflow/status/{}/{}",
    "/ws/compile",
)
# For the operator alone.
OPERATORS = (
    ("GET", "/queue/dead-letters"),
    ("PUT", "/lists/{}"),
    ("DELETE", "/lists/{}"),
    ("POST", "/lists/{}/rebuild"),
    ("POST", "/lists/{}/rollback"),
)


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        origin.serve("/good", "||ads.example^\n! note\n0.0.0.0 tracker.example\n")
        origin.serve("/gone", Answer(status=404))
        yield origin


@pytest.fixture(name="runtime", scope="module")
def _runtime(start: StartRuntime, origin: Origin) -> Iterator[Runtime]:
    warmed = [{"name": "W", "sources": [{"source": origin.url("/good")}]}]
    checked = [{"name": "H", "url": origin.url("/good")}]
    variables = (
        f"ALLOW_PRIVATE_HOSTS={origin.address}",
        "RATE_LIMIT_MAX_REQUESTS=1000000",
        f"WARM_CONFIGURATIONS={json.dumps(warmed)}",
        f"HEALTH_SOURCES={json.dumps(checked)}",
    )
    runtime = start("--only", NAME, *(part for variable in variables for part in ("--var", variable)))
    yield runtime
    # After all requests the service is healthy, and the log has no defect.
    with runtime.client(NAME) as client:
        assert health(client).status_code == 200
    assert [line for line in runtime.lines if is_defect(line)] == []


def is_defect(line: str) -> bool:
    """Return whether a line is a traceback that does not belong to an error raised on purpose and handled."""
    if "Traceback (most" not in line and "request.failed" not in line:
        return False
    _, brace, rest = line.partition("{")
    try:
        logged = json.loads(brace + rest)
    except ValueError:
        return True
    return logged.get("event") == "request.failed" or logged.get("error") not in EXPECTED


@dataclass(frozen=True, slots=True)
class Response:
    status: int
    headers: dict[str, str]
    content: bytes

    def json(self) -> Any:
        return json.loads(self.content)


def send(
    runtime: Runtime, method: str, target: str, headers: dict[str, str] | None = None, body: bytes | None = None
) -> Response:
    """Send one request with its target as it is: other clients would normalize it."""
    address = urlsplit(runtime.url)
    connection = http.client.HTTPConnection(str(address.hostname), address.port, timeout=PATIENCE_S)
    try:
        connection.putrequest(method, target, skip_accept_encoding=True)
        for name, value in (headers or {}).items():
            connection.putheader(name, value.encode())
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        reply = connection.getresponse()
        headers_by_name = {name.lower(): value for name, value in reply.getheaders()}
        return Response(reply.status, headers_by_name, reply.read())
    finally:
        connection.close()


def check_reply(response: Response) -> None:
    """Check that a reply is usable and does not report a failure of the service."""
    assert response.status < 500 or response.status in UPSTREAM, response
    assert response.headers["x-content-type-options"] == "nosniff"
    if response.status >= 400 and response.content:
        problem = response.json()
        assert response.headers["content-type"] == "application/problem+json"
        assert (problem["success"], problem["status"]) == (False, response.status)
        assert problem["error"]


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.path)
def test_bodies(runtime: Runtime, origin: Origin, endpoint: Endpoint):
    """An accepted body is valid by an independent check, and a valid one is not refused for its form."""

    @fuzz(60)
    @given(bodies(getattr(CAREFUL, endpoint.kind), getattr(CARELESS, endpoint.kind)), content_types, odd_headers)
    def test(body: bytes, content_type: str | None, headers: dict[str, str]) -> None:
        sent = body.replace(ORIGIN.encode(), f"http://{origin.address}".encode())
        typed = {} if content_type is None else {"Content-Type": content_type}
        response = send(runtime, "POST", endpoint.path, headers | typed, sent)
        check_reply(response)
        accepted = response.status < 300
        acceptable = oracle.acceptable(endpoint.check, sent, content_type, optional=endpoint.optional)
        assert not accepted or (acceptable and response.status == endpoint.status), response
        # Only a request that compiles at once can fail because of its sources.
        assert accepted or not acceptable or endpoint.status == 200, response
        outcomes[accepted] += 1

    outcomes: Counter[bool] = Counter()
    test()
    # Both outcomes must occur often enough to be meaningful.
    assert min(outcomes[True], outcomes[False]) >= 5, outcomes


def test_configurations(runtime: Runtime):
    """A configuration that is reported valid is valid by an independent check, and no other is."""

    @fuzz(60)
    @given(bodies(CAREFUL.configurations, CARELESS.configurations), content_types)
    def test(body: bytes, content_type: str | None) -> None:
        typed = {} if content_type is None else {"Content-Type": content_type}
        response = send(runtime, "POST", "/configuration/validate", typed, body)
        check_reply(response)
        valid = response.status == 200 and response.json()["valid"]
        assert valid == oracle.acceptable(oracle.configuration, body, content_type), response
        outcomes[valid] += 1

    outcomes: Counter[bool] = Counter()
    test()
    assert min(outcomes[True], outcomes[False]) >= 5, outcomes


def test_every_endpoint_is_tried(runtime: Runtime):
    """Every endpoint that the service documents is fuzz here."""
    paths = httpx.get(f"{runtime.url}/openapi.json", timeout=PATIENCE_S).json()["paths"]
    exchange = {(method.upper(), re.sub(r"{\w+}", "{}", path)) for path, item in paths.items() for method in item}
    posts = [*(endpoint.path for endpoint in ENDPOINTS), "/configuration/validate", CANCEL]
    tried = {("GET", path) for path in GETS} | {("POST", path) for path in posts} | {("DELETE", CANCEL)}
    assert exchange - tried - set(OPERATORS) == set()


@pytest.mark.parametrize(("method", "path"), OPERATORS)
def test_strangers_are_refused(runtime: Runtime, method: str, path: str):
    """What is the operator's stays closed, whatever stands in the path and the body."""
    for value in ("x", "patches", "%2F", "%00", "..", "x" * 3000):
        for body in (b"", b"{", b"{}", b'{"configuration": {}}'):
            headers = {"Content-Type": "application/json", "Authorization": "Bearer none"}
            response = send(runtime, method, path.replace("{}", value), headers, None if method == "GET" else body)
            check_reply(response)
            assert response.status in {400, 401, 403, 404, 405}, response


@fuzz(150)
@given(
    st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE", "PROPFIND"]),
    st.sampled_from([*GETS, *(endpoint.path for endpoint in ENDPOINTS), CANCEL, "/nothing/{}"]),
    st.sampled_from(
        ["x", "%2F", "%00", "%zz", "%", "..", "%2e%2e", "x" * 3000, "%F0%9F%98%80", "%ff", "a;b", "a:b", ""]
    )
    | st.text(min_size=1, max_size=12).map(lambda text: quote(text, safe="", errors="replace")),
    st.sampled_from(
        [
            "",
            "?",
            "?since=",
            "?since=2026-01-01",
            "?since=2026-13-99",
            "?since=1e5",
            "?since=9999-12-31T23:59:59Z",
            "?since=a&since=b",
            "?x=%ff",
            "?x=%zz",
            "?item=a",
            "?item=%00",
            "?" + "a=b&" * 500,
        ]
    ),
    odd_headers,
)
def test_paths(  # noqa: PLR0917 - drawn one by one
    runtime: Runtime, method: str, path: str, value: str, query: str, headers: dict[str, str]
):
    """Any method at any path with any query gets a reply, and a POST without a body causes no work."""
    response = send(
        runtime, method, path.replace("{}", value) + query, headers, b"" if method in {"POST", "PUT", "PATCH"} else None
    )
    check_reply(response)
    template = path.partition("?")[0]
    if method == "GET" and template in GETS and "{}" not in template and template not in {"/", "/ws/compile"}:
        assert response.status == 200
    if method == "GET" and "since=" in query and template == "/workflow/events/{}" and response.status == 200:
        assert "2026-13" not in query
        assert "1e5" not in query
        assert "since=a" not in query
    if method not in {"GET", "HEAD", "OPTIONS", "POST", "DELETE"}:
        assert response.status in {400, 404, 405}
    if method in {"POST", "DELETE"} and response.status < 300:
        assert template in {"/workflow/cache-warm", "/workflow/health-check"}


def test_socket(runtime: Runtime, origin: Origin):
    """Whatever is sent, the connection replies with a known code or does what was requested, and stays open."""

    @fuzz(60)
    @given(said)
    def test(messages: list[str]) -> None:
        texts = [text.replace(ORIGIN, f"http://{origin.address}") for text in messages]
        with dialled(runtime.url, f"{NAME}.localhost", "/ws/compile") as line:
            response = [message for text in texts for message in exchange(line, text)]
        kinds = [oracle.socket_message(text) for text in texts]
        said_of.update(kinds)
        errors = [message["code"] for message in response if message["type"] == "error"]
        assert set(errors) <= CODES
        assert len(errors) >= kinds.count(None), errors
        assert sum(message["type"] == "compile:started" for message in response) <= kinds.count("compile")

    said_of: Counter[str | None] = Counter()
    test()
    assert all(said_of[kind] >= 5 for kind in (None, "ping", "compile", "cancel")), said_of


def exchange(line: SocketClient, text: str) -> list[dict[str, Any]]:
    """Send a text, and return everything received up to the reply to a ping that is sent after it."""
    line.say(text)
    response = line.hear_until("pong") if oracle.socket_message(text) == "ping" else []
    line.say({"type": "ping"})
    return response + line.hear_until("pong")
