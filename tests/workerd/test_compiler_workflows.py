"""The four workflows in the real engine: to the end, followed by their events, and across a power cut."""

import contextlib
import hashlib
import json
import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, Runtime, until
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin

WORKER = "adblock-compiler"
LIST = "! comment\n||ads.example^\n||ads.example^\n"
TOKEN = "a-secret-of-the-operator"
RECHECK_DELAY_S = 20  # much longer than one more run takes


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin) -> Runtime:
    watched = [{"name": name, "url": origin.url(f"/{name}"), "expectedMinRules": 1} for name in ("steady", "shaky")]
    variables = {
        "ADMIN_TOKEN": TOKEN,
        "ALLOW_PRIVATE_HOSTS": origin.address,
        "RATE_LIMIT_MAX_REQUESTS": "100000",
        "ALERT_WEBHOOK_URL": origin.url("/hook"),
        "HEALTH_RECHECK_DELAY_S": str(RECHECK_DELAY_S),
        "HEALTH_SOURCES": json.dumps(watched),
        "WARM_CONFIGURATIONS": json.dumps([configuration(origin.serve("/popular", LIST), name="Popular")]),
    }
    return start("--only", WORKER, *(f"--var={name}={value}" for name, value in variables.items()))


@pytest.fixture(name="client")
def _client(service: Runtime) -> Iterator[httpx.Client]:
    with service.client(WORKER) as client:
        yield client


def configuration(*urls: str, name: str = "T") -> dict[str, Any]:
    sources = [{"source": url} for url in urls]
    return {"name": name, "sources": sources, "transformations": ["RemoveComments", "Deduplicate"]}


def start_workflow(client: httpx.Client, path: str, body: object = None) -> dict[str, Any]:
    reply = client.post(f"/workflow/{path}", json=body) if body is not None else client.post(f"/workflow/{path}")
    assert reply.status_code == 202, reply.text
    started: dict[str, Any] = reply.json()
    return started


def wait_for_output(client: httpx.Client, kind: str, workflow_id: str) -> dict[str, Any]:
    """Return the output of an instance as soon as there is one."""

    def look() -> Any:
        reply = client.get(f"/workflow/status/{kind}/{workflow_id}")
        status = reply.json() if reply.status_code == 200 else {}
        assert status.get("status") not in {"errored", "terminated"}, status
        return status.get("output") if status.get("status") == "complete" else None

    output: dict[str, Any] = until(look)
    return output


def run(client: httpx.Client, path: str, body: object = None) -> tuple[str, dict[str, Any]]:
    started = start_workflow(client, path, body)
    return started["workflowId"], wait_for_output(client, started["workflowType"], started["workflowId"])


def log_of(client: httpx.Client, workflow_id: str, **query: str) -> dict[str, Any]:
    log: dict[str, Any] = client.get(f"/workflow/events/{workflow_id}", params=query).json()
    return log


def cron(service: Runtime, expression: str, at_ms: int) -> None:
    query = {"worker": WORKER, "cron": expression, "time": str(at_ms)}
    httpx.get(f"{service.url}/cdn-cgi/handler/scheduled", params=query, timeout=PATIENCE_S).raise_for_status()


def test_compilation(client: httpx.Client, origin: Origin, name: str):
    """The list is in the cache for all paths; polled with `since`, its events come once each and in order."""
    gate = threading.Event()
    requested = configuration(origin.serve(f"/{name}", Answer(LIST.encode(), gate=gate)), name=name)
    started = start_workflow(client, "compile", {"configuration": requested})
    assert started["workflowId"].startswith("wf-compile-")
    polled: list[dict[str, Any]] = []

    def poll() -> bool:
        log = log_of(client, started["workflowId"], **({"since": polled[-1]["timestamp"]} if polled else {}))
        polled.extend(log["events"])
        if polled:  # so that the rest comes with later polls
            gate.set()
        return bool(log["isComplete"])

    until(poll)
    output = wait_for_output(client, "compilation", started["workflowId"])
    whole = log_of(client, started["workflowId"])
    assert polled == whole["events"]
    assert (whole["progress"], whole["workflowType"]) == (100, "compilation")
    types = [event["type"] for event in polled]
    assert (types[0], types[-1]) == ("workflow:started", "workflow:completed")
    assert {"source:fetch:started", "source:fetch:completed", "transformation:completed", "cache:stored"} <= set(types)
    marks = [event["progress"] for event in polled if event["type"] in {"workflow:step:completed", "cache:stored"}]
    assert marks == [10, 70, 90]
    assert output["success"]
    assert output["steps"]["transformation"]["transformationCount"] == 2
    reply = client.post("/compile", json={"configuration": requested})
    assert reply.headers["x-cache"] == "HIT"
    assert reply.json()["ruleCount"] == output["ruleCount"]
    assert reply.json()["cacheKey"] == output["cacheKey"]
    assert origin.count(f"/{name}") == 1


def test_compilation_fails(client: httpx.Client, origin: Origin, name: str):
    """A missing source ends the run with an outcome that says so; the instance itself is complete."""
    workflow_id, output = run(client, "compile", {"configuration": configuration(origin.url(f"/{name}"))})
    assert (output["success"], output["failedStep"]) == (False, "compile-sources")
    assert "404" in output["error"]
    log = log_of(client, workflow_id)
    assert log["isComplete"]
    assert [event["type"] for event in log["events"]][-2:] == ["workflow:step:failed", "workflow:failed"]


def test_large_content(client: httpx.Client, name: str):
    """Content that is too large for the engine is still compiled."""
    content = {"mine": "".join(f"||a{number}.example^\n" for number in range(60_000))}
    _, output = run(
        client, "compile", {"configuration": configuration("mine", name=name), "preFetchedContent": content}
    )
    assert output["success"], output
    assert output["ruleCount"] == 60_000


def test_batch(client: httpx.Client, origin: Origin, name: str):
    """Two chunks; an invalid item and one with a missing source do not affect the others."""
    good = [configuration(origin.serve(f"/{name}{n}", LIST), name=f"{name}{n}") for n in range(3)]
    broken = [{"name": "no sources"}, configuration(origin.url(f"/{name}-missing"))]
    requests = [{"id": str(at), "configuration": each} for at, each in enumerate([*good, *broken])]
    workflow_id, output = run(client, "batch", {"requests": requests})
    assert [result["success"] for result in output["results"]] == [True, True, True, False, False]
    assert (output["totalRequests"], output["successful"], output["failed"]) == (5, 3, 2)
    assert "sources" in output["results"][3]["error"]
    assert "404" in output["results"][4]["error"]
    steps = [event.get("step") for event in log_of(client, workflow_id)["events"]]
    assert {"validate-batch", "compile-chunk-1", "compile-chunk-2"} <= set(steps)
    for each in good:
        assert client.post("/compile", json={"configuration": each}).headers["x-cache"] == "HIT"


def find_finished_items(service: Runtime, workflow_id: str) -> set[str]:
    """Return the recorded items of a batch, read from the database's file: a request for one of them could compile it itself."""
    query = "select item_id from compile_items where owner = ? and success = 1"
    found: set[str] = set()
    for file in (service.state / "v3/d1").rglob("*.sqlite"):
        database = sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        # It may be another database, or a busy one.
        with contextlib.closing(database), contextlib.suppress(sqlite3.OperationalError):
            found |= {item_id for (item_id,) in database.execute(query, (workflow_id,))}
    return found


def test_power_cut_in_a_batch(service: Runtime, origin: Origin, name: str):
    """Killed in the second chunk: afterwards every item is compiled, and finished sources were fetched once."""
    gate = threading.Event()
    paths = [f"/{name}{n}" for n in range(6)]
    for path in paths:
        origin.serve(path, LIST)
    origin.serve(paths[4], Answer(LIST.encode(), gate=gate), LIST)
    configurations = [configuration(origin.url(path), name=path) for path in paths]
    requests = [{"id": path, "configuration": each} for path, each in zip(paths, configurations, strict=True)]
    with service.client(WORKER) as client:
        started = start_workflow(client, "batch", {"requests": requests})
        until(lambda: origin.count(paths[4]) == 1)
    until(lambda: {paths[3], paths[5]} <= find_finished_items(service, started["workflowId"]))
    service.kill()
    gate.set()
    service.start()
    with service.client(WORKER) as client:
        output = wait_for_output(client, "batch-compilation", started["workflowId"])
        events = log_of(client, started["workflowId"])["events"]
    assert [result["id"] for result in output["results"]] == paths
    assert all(result["success"] for result in output["results"])
    assert [origin.count(path) for path in paths] == [1, 1, 1, 1, 2, 1]
    lasting = [(event["type"], event.get("step")) for event in events]
    assert len(lasting) == len(set(lasting))
    assert lasting[-1][0] == "workflow:completed"


def test_warming(service: Runtime, client: httpx.Client, origin: Origin, name: str):
    """Fresh entries are skipped; one that expires before the next run is compiled; the cron starts one run."""
    fresh, ending, missing = (
        configuration(origin.serve(f"/{name}-{kind}", LIST), name=f"{name}-{kind}")
        for kind in ("fresh", "ending", "missing")
    )
    run(client, "compile", {"configuration": fresh})
    client.post("/compile", json={"configuration": ending}).raise_for_status()
    workflow_id, output = run(client, "cache-warm", {"configurations": [fresh, ending, missing]})
    assert (output["warmed"], output["skipped"], output["failed"]) == (2, 1, 0)
    counts = [origin.count(f"/{name}-{kind}") for kind in ("fresh", "ending", "missing")]
    assert counts == [1, 2, 1]
    [checked] = [e for e in log_of(client, workflow_id)["events"] if e.get("step") == "check-cache-status"]
    assert checked["data"] == {"toWarm": 2, "skipped": 1}
    for _ in range(2):
        cron(service, "0 */6 * * *", 1_800_000_000_000)
    output = wait_for_output(client, "cache-warming", "cache-warm-scheduled-1800000000000")
    assert [result["name"] for result in output["results"]] == ["Popular"]
    assert origin.count("/popular") == 1


def test_health(service: Runtime, client: httpx.Client, origin: Origin):
    """Three consecutive failures alert once, by cron and by the operator's request; the recheck resolves the alert."""
    client.headers["Authorization"] = f"Bearer {TOKEN}"
    tagged = {"ETag": '"1"'}
    origin.serve("/hook", Answer(status=204))
    origin.serve("/steady", Answer(LIST.encode(), headers=tagged))
    origin.serve("/shaky", Answer(status=503))
    at_ms = 1_800_003_600_000
    cron(service, "0 * * * *", at_ms)
    first = wait_for_output(client, "health-monitoring", f"health-check-scheduled-{at_ms}")
    assert first["summary"] | {"avgResponseTimeMs": 0} == {
        "total": 2,
        "healthy": 1,
        "unhealthy": 1,
        "avgResponseTimeMs": 0,
    }
    _, second = run(client, "health-check")
    assert second["history"]["consecutiveFailures"] == 2
    assert origin.requests("/hook") == []
    third_id, third = run(client, "health-check")
    [request] = origin.requests("/hook")
    alert = json.loads(request.body)
    assert (alert["alertId"], alert["source"]["name"], alert["consecutiveFailures"]) == (third["alerts"][0], "shaky", 3)
    assert {name.lower(): value for name, value in request.headers.items()}["idempotency-key"] == alert["alertId"]
    assert (origin.count("/steady"), origin.count("/steady", "HEAD")) == (1, 2)
    _, fourth = run(client, "health-check")
    assert fourth["history"]["consecutiveFailures"] == 4
    assert len(origin.requests("/hook")) == 1

    origin.serve("/shaky", LIST)
    recheck_id = f"wf-health-recheck-{hashlib.sha256(third_id.encode()).hexdigest()[:16]}"
    recheck = wait_for_output(client, "health-monitoring", recheck_id)
    assert (recheck["recheck"], recheck["summary"]["total"]) == (True, 1)
    [analyzed] = [e for e in log_of(client, recheck_id)["events"] if e.get("step") == "analyze-results"]
    assert (analyzed["data"]["resolved"], recheck["summary"]["healthy"]) == (1, 1)
    latest = client.get("/health/latest").json()["data"]
    assert {result["name"]: result["healthy"] for result in latest["results"]} == {"steady": True, "shaky": True}
    times_ms = [result["responseTimeMs"] for result in latest["results"]]
    assert latest["summary"]["avgResponseTimeMs"] == round(sum(times_ms) / len(times_ms))
    told = [json.loads(request.body)["type"] for request in origin.requests("/hook")]
    assert told == ["source-unhealthy", "source-recovered"]


def test_metrics(client: httpx.Client, origin: Origin, name: str):
    """Every run is counted under its type."""
    before = client.get("/workflow/metrics").json()["workflows"]["compilation"] or {"completed": 0}
    run(client, "compile", {"configuration": configuration(origin.serve(f"/{name}", LIST), name=name)})
    assert client.get("/workflow/metrics").json()["workflows"]["compilation"]["completed"] == before["completed"] + 1


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/workflow/status/compilation/wf-compile-0-nobody", 404),
        ("/workflow/status/soup/wf-compile-0-nobody", 400),
        ("/workflow/events/wf-compile-0-nobody", 200),
        ("/workflow/events/wf-compile-0-nobody?since=soon", 400),
    ],
)
def test_unknown_ids(client: httpx.Client, path: str, status: int):
    """An unknown id is a result, not a failure."""
    assert client.get(path).status_code == status
