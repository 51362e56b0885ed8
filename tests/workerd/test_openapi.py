"""Every Worker's OpenAPI document: valid, complete, and true."""

import json
import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from runtime import Runtime, until
from sluice.preload.signing import sign
from workerd.api_document import ApiDocument, Operation
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin
from workerd.route_tables import CONFIGS
from workerd.socket_client import dialled

TOKEN = "the-operators-token"
KEY = "the-key-that-signs"
COMPILER = "adblock-compiler"
TAIL = "sluice-tail"
# The Workers whose routes are all described.
WORKERS = (COMPILER, TAIL)
ALL = tuple(sorted(CONFIGS))
LIST = "||ads.example^\n0.0.0.0 track.example\n"


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin) -> Runtime:
    variables = {
        "ADMIN_TOKEN": TOKEN,
        "ALLOW_PRIVATE_HOSTS": origin.address,
        "RATE_LIMIT_MAX_REQUESTS": "100000",
        "SIGNING_KEY": KEY,
        "TURNSTILE_SITE_KEY": "site",
    }
    return start(*(f"--var={name}={value}" for name, value in variables.items()))


@pytest.fixture(name="tables", scope="module")
def _tables() -> dict[str, list[list[str]]]:
    script = Path(__file__).with_name("route_tables.py")
    done = subprocess.run([sys.executable, script, *ALL], capture_output=True, text=True, check=True, timeout=60)
    tables: dict[str, list[list[str]]] = json.loads(done.stdout)
    return tables


@pytest.fixture(name="documents", scope="module")
def _documents(service: Runtime) -> dict[str, ApiDocument]:
    found = {}
    for worker in ALL:
        with service.client(worker) as client:
            found[worker] = ApiDocument(client.get("/openapi.json").json())
    return found


def send(client: httpx.Client, operation: Operation, request: dict[str, Any]) -> httpx.Response:
    """Send the request, with the operator's token or a signature where it is needed and not given."""
    given = client.build_request(**request)
    if operation.is_for_admins:
        given.headers.setdefault("Authorization", f"Bearer {TOKEN}")
    if operation.is_signed:
        target, nonce = given.url.raw_path.decode(), secrets.token_hex(16)
        given.headers.update(sign(KEY, given.method, target, given.read(), now=time.time(), nonce=nonce))
    return client.send(given)


@pytest.mark.parametrize("worker", ALL)
def test_valid(documents: dict[str, ApiDocument], worker: str):
    """An independent validator finds nothing wrong."""
    OpenAPIV31SpecValidator(documents[worker].told).validate()


@pytest.mark.parametrize("worker", ALL)
def test_head(documents: dict[str, ApiDocument], worker: str):
    """It says whose it is and where that is served."""
    told = documents[worker].told
    assert told["info"]["title"] == worker
    assert told["info"]["description"]
    assert told["servers"] == [{"url": "/"}]


@pytest.mark.parametrize("worker", ALL)
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
def test_examples(service: Runtime, documents: dict[str, ApiDocument], worker: str):
    """Every operation, called with its example, answers as the document says."""
    document = documents[worker]
    with service.client(worker) as client:
        for operation in document.operations():
            reply = send(client, operation, document.request(operation))
            document.check(operation, reply)
            assert reply.status_code < 300 or operation.parameters("path") or reply.status_code == 426, operation


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
        for operation in document.operations():
            request = document.request(operation)
            wrong: dict[int, dict[str, Any]] = {}
            if operation.body:
                broken = {name: value for name, value in request.items() if name != "json"}
                text = {"Content-Type": "text/plain"}
                wrong[400] = broken | {"content": b"[", "headers": {"Content-Type": "application/json"}}
                wrong[415] = broken | {"content": b"{}", "headers": text}
            if operation.parameters("query"):
                wrong[400] = request | {"params": {"no-such-parameter": "1"}}
            if operation.is_for_admins:
                wrong[401] = request | {"headers": {"Authorization": "Bearer wrong"}}
            for status, mistaken in wrong.items():
                reply = send(client, operation, mistaken)
                assert reply.status_code == status, f"{operation}: {reply.text}"
                document.check(operation, reply)


@pytest.mark.parametrize("worker", ALL)
def test_conditional(service: Runtime, worker: str):
    """Who has the current document is not sent it again."""
    with service.client(worker) as client:
        first = client.get("/openapi.json")
        again = client.get("/openapi.json", headers={"If-None-Match": first.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")


class Walk:
    """Calls by the document's own paths; each reply is held against it."""

    def __init__(self, client: httpx.Client, document: ApiDocument) -> None:
        self.client = client
        self.document = document

    def __call__(self, method: str, path: str, values: dict[str, str] | None = None, **more: Any) -> httpx.Response:
        operation = self.document.operation(method, path)
        reply = send(self.client, operation, self.document.request(operation, **(values or {})) | more)
        self.document.check(operation, reply)
        return reply

    def until(self, path: str, values: dict[str, str], *states: str) -> dict[str, Any]:
        """The reply as soon as its status is one of these."""

        def look() -> Any:
            found = self("GET", path, values).json()
            return found if found["status"] in states else None

        found: dict[str, Any] = until(look, 120)
        return found


@pytest.fixture(name="walk")
def _walk(service: Runtime, documents: dict[str, ApiDocument]) -> Iterator[Walk]:
    with service.client(COMPILER) as client:
        yield Walk(client, documents[COMPILER])


def configuration(*urls: str) -> dict[str, Any]:
    return {"name": "T", "sources": [{"source": url} for url in urls], "transformations": ["RemoveComments"]}


def lists(walk: Walk, origin: Origin, name: str):
    """Fresh, cached, as text, with a report, in a batch with a failure: all as documented."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST))}
    fresh, cached = (walk("POST", "/compile", json=body).json() for _ in range(2))
    assert "cached" not in fresh
    assert cached["cached"]
    text = walk("POST", "/compile", json=body, headers={"Accept": "text/plain"})
    assert text.text.splitlines() == fresh["rules"]
    assert "dropped" in walk("POST", "/compile", json=body | {"report": True}).json()["report"]
    bad = {"id": "bad", "configuration": {"name": ""}}
    missing = {"id": "missing", "configuration": configuration(origin.url(f"/{name}/nothing"))}
    batch = walk("POST", "/compile/batch", json={"requests": [{"id": "good", **body}, bad, missing]}).json()
    assert [each["success"] for each in batch["results"]] == [True, False, False]
    walk("POST", "/compile", json={"configuration": missing["configuration"]})  # 502


def stream(walk: Walk, origin: Origin, name: str):
    """The last events are as documented: the result is what /compile answers, and tells of the version before."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST))}
    walk("POST", "/compile", json=body)
    events = [part.splitlines() for part in walk("POST", "/compile/stream", json=body).text.split("\n\n")]
    told = {lines[0].removeprefix("event: "): lines[1].removeprefix("data: ") for lines in events if len(lines) == 2}
    assert list(told)[-1] == "done"
    described = walk.document.operation("POST", "/compile/stream").told["responses"]["200"]["content"]
    assert all(f"`{event}`" in described["text/event-stream"]["schema"]["description"] for event in told)
    result = {"success": True, **json.loads(told["result"])}
    assert "previousVersion" in result
    assert not walk.document.mistakes({"$ref": "#/components/schemas/Compiled"}, result, closed=True)


def test_socket(service: Runtime):
    """The WebSocket opens and speaks the documented messages."""
    with dialled(service.url, f"{COMPILER}.localhost", "/ws/compile") as client:
        client.say({"type": "ping"})
        assert [message["type"] for message in client.hear_until("pong")] == ["welcome", "pong"]


def jobs(walk: Walk, origin: Origin, name: str):
    """A job, a batch and one of its items, waiting, done and cancelled: all as documented."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST)), "priority": "high"}
    results = "/queue/results/{id}"
    done = {"id": walk("POST", "/compile/async", json=body).json()["requestId"]}
    assert walk.until(results, done, "completed")["rules"]
    items = [{"id": "good", **body}, {"id": "bad", "configuration": {"name": ""}}]
    items[0].pop("priority")
    batch = {
        "id": walk("POST", "/compile/batch/async", json={"requests": items, "priority": "high"}).json()["requestId"]
    }
    assert len(walk.until(results, batch, "completed", "failed")["results"]) == 2
    assert walk("GET", results, batch, params={"item": "good"}).json()["rules"]
    assert walk("GET", results, batch, params={"item": "bad"}).status_code == 404
    gate = threading.Event()
    held = {"configuration": configuration(origin.serve(f"/{name}/held", Answer(LIST.encode(), gate=gate)))}
    try:
        for method in ("POST", "DELETE"):
            job = {"id": walk("POST", "/compile/async", json=held).json()["requestId"]}
            assert walk(method, "/queue/cancel/{id}", job).status_code == 200
            assert walk(method, "/queue/cancel/{id}", job).status_code == 409
            assert walk("GET", results, job).json()["status"] == "cancelled"
    finally:
        gate.set()
    assert walk("GET", "/queue/stats").json()["cancelled"] >= 2
    assert walk("GET", "/queue/history").json()["depthHistory"]


def workflows(walk: Walk, origin: Origin, name: str):
    """Each type of workflow from its start to its result, with its events and figures: all as documented."""
    made = configuration(origin.serve(f"/{name}", LIST))
    source = {"name": name, "url": origin.url(f"/{name}"), "expectedMinRules": 1}
    starts: dict[str, tuple[str, dict[str, Any]]] = {
        "compilation": ("/workflow/compile", {"configuration": made}),
        "batch-compilation": ("/workflow/batch", {"requests": [{"id": "good", "configuration": made}]}),
        "cache-warming": ("/workflow/cache-warm", {"configurations": [made]}),
        "health-monitoring": ("/workflow/health-check", {"sources": [source]}),
    }
    runs = {kind: walk("POST", path, json=body).json()["workflowId"] for kind, (path, body) in starts.items()}
    for kind, run in runs.items():
        ended = walk.until("/workflow/status/{type}/{id}", {"type": kind, "id": run}, "complete", "errored")
        assert ended["output"]["success"], ended
        log = walk("GET", "/workflow/events/{id}", {"id": run}).json()
        assert log["isComplete"]
        last = log["events"][-1]["timestamp"]
        assert walk("GET", "/workflow/events/{id}", {"id": run}, params={"since": last}).json()["events"] == []
    assert all(walk("GET", "/workflow/metrics").json()["workflows"].values())
    assert walk("GET", "/health/latest").json()["data"]["results"]
    assert walk("GET", "/workflow/status/{type}/{id}", {"type": "no-such-type", "id": "x"}).status_code == 400


SCENARIOS = (lists, stream, jobs, workflows)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
def test_scenario(walk: Walk, origin: Origin, name: str, scenario: Callable[[Walk, Origin, str], None]):
    """What people do with the compiler is answered as documented, in every state that they can bring it to."""
    scenario(walk, origin, name)


def test_every_success_is_seen(service: Runtime, documents: dict[str, ApiDocument], walk: Walk, origin: Origin):
    """No documented success is a promise only: each status and media type can be seen, and fits its schema."""
    for scenario in SCENARIOS:
        scenario(walk, origin, f"again-{scenario.__name__}")
    for worker in WORKERS:
        test_examples(service, documents, worker)
        missing = documents[worker].successes() - documents[worker].seen
        assert not missing, [f"{operation} {status} {media}" for operation, status, media in missing]
