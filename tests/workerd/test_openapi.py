"""Every Worker's OpenAPI document: valid, complete, and true."""

import json
import re
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from runtime import PATIENCE_S, Runtime
from sluice.web.clients import MAX_READS
from workerd import compiler_walks, news_walks, preload_walks
from workerd.api_document import ApiDocument, Operation
from workerd.api_walk import KEY, TOKEN, Walk, send, signature
from workerd.conftest import StartRuntime
from workerd.origin import Origin, local_origin
from workerd.route_tables import CONFIGS, ROOT
from workerd.socket_client import dialled

COMPILER = "adblock-compiler"
WORKERS = tuple(sorted(CONFIGS))
Scenario = Callable[[Walk, Origin, str], None]
SHARED: dict[str, set[str]] = {
    COMPILER: {
        "GET /",
        "GET /api",
        "GET /api/turnstile-config",
        "GET /lists/patches/{id}/{file}",
        "GET /lists/{name}",
    },
    "edge-preload": {"GET /", "GET /{file}", "GET /{folder}/{file}"},
    "worker-api": {
        "GET /",
        "GET /api/bitcoin-news",
        "GET /api/v1/articles",
        "GET /api/v1/articles/{id}",
        "GET /api/v1/feed.atom",
        "GET /api/v1/feed.json",
        "GET /api/v1/feed.rss",
        "GET /api/v1/sentiment",
        "GET /api/v1/trending",
    },
}
# It is charged as a validation is, before a socket is opened.
BOUNDED_OTHERWISE = {"GET /ws/compile"}
SCENARIOS: dict[Scenario, str] = {
    compiler_walks.lists: COMPILER,
    compiler_walks.stream: COMPILER,
    compiler_walks.jobs: COMPILER,
    compiler_walks.workflows: COMPILER,
    compiler_walks.published_lists: COMPILER,
    news_walks.walk_api: "worker-api",
    news_walks.walk_updater: "worker-news-updater",
    news_walks.walk_processor: "worker-news-processor",
    preload_walks.warm_pages: "edge-preload",
    preload_walks.operate_zone: "edge-preload",
}


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin) -> Runtime:
    """All Workers, with some news, and with the zone that the examples name."""
    variables = {
        "ADMIN_TOKEN": TOKEN,
        "ALLOW_PRIVATE_HOSTS": origin.address,
        "RATE_LIMIT_MAX_REQUESTS": "100000",
        "SIGNING_KEY": KEY,
        # Feeds are shared only where their links have a host of their own.
        "PUBLIC_URL": "http://public.example",
        "TURNSTILE_SITE_KEY": "site",
        **news_walks.variables(origin),
    }
    # The claims are about the Workers: a cache in front would answer for them, and it ignores If-Match.
    service = start("--no-cache", *(f"--var={name}={value}" for name, value in variables.items()))
    news_walks.publish(origin)
    news_walks.collect(service)
    preload_walks.register(service, origin)
    return service


@pytest.fixture(name="tables", scope="module")
def _tables() -> dict[str, list[list[str]]]:
    script = Path(__file__).with_name("route_tables.py")
    done = subprocess.run(
        [sys.executable, script, *WORKERS], capture_output=True, text=True, check=True, timeout=PATIENCE_S
    )
    tables: dict[str, list[list[str]]] = json.loads(done.stdout)
    return tables


@pytest.fixture(name="documents", scope="module")
def _documents(service: Runtime) -> dict[str, ApiDocument]:
    found = {}
    for worker in WORKERS:
        with service.client(worker) as client:
            found[worker] = ApiDocument(client.get("/openapi.json").json())
    return found


class Tour:
    """Everything that can be seen of the Workers, each part once, whichever test asks for it first."""

    def __init__(self, service: Runtime, documents: dict[str, ApiDocument], origin: Origin) -> None:
        self._service = service
        self._documents = documents
        self._origin = origin
        self._done: set[object] = set()

    def examples(self, worker: str) -> None:
        """Every operation with its example; what is deleted is deleted last."""
        if worker in self._done:
            return
        document = self._documents[worker]
        with self._service.client(worker) as client:
            for operation in sorted(document.operations(), key=lambda each: each.method == "DELETE"):
                reply = send(client, operation, document.request(operation))
                document.check(operation, reply)
                assert reply.status_code < 300 or operation.parameters("path") or reply.status_code == 426, operation
        self._done.add(worker)

    def play(self, scenario: Scenario) -> None:
        if scenario in self._done:
            return
        worker = SCENARIOS[scenario]
        with self._service.client(worker) as client:
            scenario(Walk(client, self._documents[worker]), self._origin, secrets.token_hex(8))
        self._done.add(scenario)


@pytest.fixture(name="tour", scope="module")
def _tour(service: Runtime, documents: dict[str, ApiDocument], origin: Origin) -> Tour:
    return Tour(service, documents, origin)


@pytest.mark.parametrize("worker", WORKERS)
def test_valid(documents: dict[str, ApiDocument], worker: str):
    """An independent validator finds nothing wrong."""
    OpenAPIV31SpecValidator(documents[worker].told).validate()


@pytest.mark.parametrize("worker", WORKERS)
def test_head(documents: dict[str, ApiDocument], worker: str):
    """It says whose it is and where that is served."""
    told = documents[worker].told
    assert told["info"]["title"] == worker
    assert told["info"]["description"]
    assert told["servers"] == [{"url": "/"}]


@pytest.mark.parametrize("worker", WORKERS)
def test_every_route_is_in_it(documents: dict[str, ApiDocument], tables: dict[str, list[list[str]]], worker: str):
    """It has the routes of the Worker's own table, no more and no fewer."""
    told = {
        (operation.method, operation.path.replace("{", ":").replace("}", ""))
        for operation in documents[worker].operations()
    }
    assert {("GET", "/health"), ("GET", "/openapi.json")} < told
    assert told == {(method, pattern) for method, pattern in tables[worker]}


@pytest.mark.parametrize("worker", WORKERS)
def test_every_route_is_described(documents: dict[str, ApiDocument], worker: str):
    """Each says what it is for, what it answers and what its parameters are."""
    for operation in documents[worker].operations():
        assert operation.told.get("summary"), operation
        assert operation.told.get("tags"), operation
        assert any(status[0] in "12" for status in operation.told["responses"]), operation
        assert all(each.get("description") for each in operation.told.get("parameters", ())), operation


@pytest.mark.parametrize("worker", WORKERS)
def test_bodies_fit(documents: dict[str, ApiDocument], worker: str):
    """Each example fits its schema, and so does the least body that the schema lets one make."""
    document = documents[worker]
    for operation in document.operations():
        if body := operation.body:
            assert not document.mistakes(body["schema"], body["example"]), operation
            assert not document.mistakes(body["schema"], document.least(body["schema"])), operation


@pytest.mark.parametrize("worker", WORKERS)
def test_examples(tour: Tour, worker: str):
    """Every operation, called with its example, answers as the document says."""
    tour.examples(worker)


@pytest.mark.parametrize("worker", WORKERS)
def test_least_bodies(service: Runtime, documents: dict[str, ApiDocument], worker: str):
    """Every body that the schema lets one make is answered as the document says."""
    document = documents[worker]
    with service.client(worker) as client:
        for operation in document.operations():
            if body := operation.body:
                request = document.request(operation) | {"json": document.least(body["schema"])}
                document.check(operation, send(client, operation, request))


@pytest.mark.parametrize("worker", WORKERS)
def test_wrong_calls(service: Runtime, documents: dict[str, ApiDocument], worker: str):
    """A wrong body, media type, query or token is refused with a status that is documented."""
    document = documents[worker]
    with service.client(worker) as client:
        # After a body that nobody read, the local runtime hangs up.
        client.headers["Connection"] = "close"
        calls = [call for operation in document.operations() for call in list_mistakes(document, operation)]
        # Wrong tokens are answered ever more slowly, so several are sent at once.
        with ThreadPoolExecutor(8) as pool:
            replies = list(pool.map(lambda call: send(client, call[0], call[2]), calls))
    for (operation, status, _), reply in zip(calls, replies, strict=True):
        assert reply.status_code == status, f"{operation}: {reply.text}"
        document.check(operation, reply)


def list_mistakes(document: ApiDocument, operation: Operation) -> Iterator[tuple[Operation, int, dict[str, Any]]]:
    """Yield the wrong calls of an operation, each with the status that answers it."""
    request = document.request(operation)
    if operation.body:
        broken = {name: value for name, value in request.items() if name != "json"}
        yield operation, 400, broken | {"content": b"[", "headers": {"Content-Type": "application/json"}}
        yield operation, 415, broken | {"content": b"{}", "headers": {"Content-Type": "text/plain"}}
    if operation.parameters("query"):
        yield operation, 400, request | {"params": {"no-such-parameter": "1"}}
    if operation.is_signed:
        yield operation, 401, request | {"headers": signature("GET", "/another")}
    elif operation.is_for_admins:
        yield operation, 401, request | {"headers": {"Authorization": "Bearer wrong"}}


@pytest.mark.parametrize("worker", WORKERS)
def test_every_public_read_is_bounded(documents: dict[str, ApiDocument], worker: str):
    """What strangers may read is shared by all, limited for each client, or refused: a route that is none of these fails here."""
    shared = SHARED.get(worker, set()) | BOUNDED_OTHERWISE | {"GET /openapi.json"}
    public = [each for each in documents[worker].operations() if each.method == "GET" and not each.told.get("security")]
    assert [str(each) for each in public if str(each) not in shared and "429" not in each.told["responses"]] == []


@pytest.mark.parametrize("worker", [COMPILER, "worker-api", "worker-news-processor", "worker-news-updater"])
def test_reads_are_limited(service: Runtime, documents: dict[str, ApiDocument], worker: str):
    """A client that has read too much is told to wait at every such route; others go on."""
    document = documents[worker]
    reads = [each for each in document.operations() if each.method == "GET" and "429" in each.told["responses"]]
    with service.client(worker) as client:

        def ask(operation: Operation, address: str) -> httpx.Response:
            request = client.build_request(**document.request(operation), headers={"CF-Connecting-IP": address})
            return client.send(request)

        def insist(operation: Operation) -> httpx.Response:
            """Return the reply that refuses; the window may end meanwhile, so two of them are filled."""
            replies = (ask(operation, "203.0.113.77") for _ in range(2 * MAX_READS + 1))
            return next(reply for reply in replies if reply.status_code == 429)

        # What fills the window is cheaper than /health.
        for operation in sorted(reads, key=lambda each: each.path == "/health"):
            if str(operation) in BOUNDED_OTHERWISE:
                continue
            refused = insist(operation)
            document.check(operation, refused)
            assert "Retry-After" in refused.headers, operation
            assert ask(operation, "203.0.113.78").status_code != 429, operation


@pytest.mark.parametrize("worker", [COMPILER, "worker-api"])
def test_routes_come_before_files(tables: dict[str, list[list[str]]], worker: str):
    """No file is looked for at the address of a route, and no file has such an address."""
    assets = CONFIGS[worker]["assets"]

    def is_first(path: str) -> bool:
        return any(fnmatchcase(path, pattern) for pattern in assets["run_worker_first"])

    folder = ROOT / assets["directory"]
    files = [f"/{path.relative_to(folder)}" for path in folder.rglob("*") if path.is_file()]
    routes = [re.sub(r":\w+", "x", pattern) for _, pattern in tables[worker]]
    assert [path for path in routes if not is_first(path)] == []
    assert [path for path in files if is_first(path)] == []


@pytest.mark.parametrize("worker", WORKERS)
def test_conditional(service: Runtime, worker: str):
    """Who has the current document is not sent it again."""
    with service.client(worker) as client:
        first = client.get("/openapi.json")
        again = client.get("/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("worker", WORKERS)
def test_page(service: Runtime, worker: str):
    """The document can be read in a browser, at the Worker that it describes."""
    with service.client(worker) as client:
        page = client.get("/docs")
        script = client.get("/reference/page.js")
    assert (page.status_code, page.headers["Content-Type"].partition(";")[0]) == (200, "text/html")
    assert "script-src 'self'" in page.headers["Content-Security-Policy"]
    assert ('src="/reference/page.js"' in page.text, script.status_code) == (True, 200)


def test_socket(service: Runtime):
    """The WebSocket opens and speaks the documented messages."""
    with dialled(service.url, f"{COMPILER}.localhost", "/ws/compile") as client:
        client.say({"type": "ping"})
        assert [message["type"] for message in client.hear_until("pong")] == ["welcome", "pong"]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_scenario(tour: Tour, scenario: Scenario):
    """What people do with the Workers is answered as documented, in every state that they can bring them to."""
    tour.play(scenario)


def test_every_success_is_seen(documents: dict[str, ApiDocument], tour: Tour):
    """No documented success is a promise only: each status and media type can be seen, and fits its schema.

    Of all these replies, caches may keep those that are the same for everybody, and no others.
    """
    for scenario in SCENARIOS:
        tour.play(scenario)
    for worker in WORKERS:
        tour.examples(worker)
        assert documents[worker].shared == {"GET /openapi.json"} | SHARED.get(worker, set())
        missing = documents[worker].successes() - documents[worker].seen
        assert not missing, [f"{operation} {status} {media}" for operation, status, media in missing]
