"""What strangers try: to read and cancel what is not theirs, to raise alarms, to make one request cost a hundred."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, Runtime, open_client, until
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin

WORKER = "adblock-compiler"
SECRET = "||secret-rule.example^"
GOOD = "\n".join(f"||rule{number}.example^" for number in range(300))
PUBLIC = (
    "/queue/stats",
    "/queue/history",
    "/workflow/metrics",
    "/metrics",
    "/metrics/prometheus",
    "/health/latest",
    "/health",
)


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin) -> Runtime:
    own = [{"name": "own", "url": origin.serve("/own", GOOD)}]
    variables = {
        "ALLOW_PRIVATE_HOSTS": origin.address,
        "RATE_LIMIT_MAX_REQUESTS": "30",
        "RATE_LIMIT_WINDOW_S": "3600",
        "HEALTH_SOURCES": json.dumps(own),
        "ALERT_WEBHOOK_URL": origin.url("/alerts"),
    }
    return start("--only", WORKER, *(f"--var={name}={value}" for name, value in variables.items()))


@pytest.fixture(name="client")
def _client(service: Runtime, name: str) -> Iterator[httpx.Client]:
    """A client with an address of its own."""
    address = f"10.{int(name[:2], 16)}.{int(name[2:4], 16)}.{int(name[4:6], 16)}"
    headers = {"Host": f"{WORKER}.localhost", "CF-Connecting-IP": address}
    with open_client(service.url, **headers) as client:
        yield client


def private(name: str) -> dict[str, Any]:
    return {
        "configuration": {"name": f"private-{name}", "sources": [{"source": "mine"}]},
        "preFetchedContent": {"mine": f"{SECRET}\n"},
    }


def wait_for_result(client: httpx.Client, request_id: str) -> dict[str, Any]:
    def look() -> Any:
        result = client.get(f"/queue/results/{request_id}").json()
        return result if result["status"] in {"completed", "failed"} else None

    found: dict[str, Any] = until(look)
    return found


def wait_for_output(client: httpx.Client, path: str) -> dict[str, Any]:
    output: dict[str, Any] = until(lambda: client.get(path).json()["output"])
    return output


def test_nothing_of_others_is_shown(client: httpx.Client, origin: Origin, name: str):
    """Ids, names, sources and content of a client appear in no public answer; the id alone opens its job."""
    request_id = client.post("/compile/async", json=private(name)).json()["requestId"]
    hidden = origin.serve(f"/hidden-{name}", Answer(status=404))
    failed = {"configuration": {"name": f"failing-{name}", "sources": [{"source": hidden}]}}
    failed_id = client.post("/compile/async", json=failed).json()["requestId"]
    client.post("/compile", json=failed)
    for each in (request_id, failed_id):
        kind, _, digits = each.split("-")
        assert (kind, len(digits)) == ("compile", 32)
    assert SECRET in wait_for_result(client, request_id)["rules"]
    assert wait_for_result(client, failed_id)["status"] == "failed"
    for path in PUBLIC:
        shown = client.get(path).text
        for word in (request_id, failed_id, f"private-{name}", f"failing-{name}", f"hidden-{name}", "secret-rule"):
            assert word not in shown, (path, word)
    as_text = client.get(f"/queue/results/{request_id}", headers={"Accept": "text/plain"})
    assert as_text.headers["content-type"] == "text/plain; charset=utf-8"
    assert as_text.text.endswith(SECRET)


def test_results_of_a_workflow_by_its_id(client: httpx.Client, name: str):
    """A workflow that used content of its caller gives its list to whoever holds its id."""
    workflow_id = client.post("/workflow/compile", json=private(name)).json()["workflowId"]
    assert len(workflow_id.rsplit("-", 1)[1]) == 32
    result = wait_for_result(client, workflow_id)
    assert (result["status"], result["ruleCount"]) == ("completed", 1)
    assert SECRET in result["rules"]
    assert client.get("/queue/results/wf-compile-1-" + "0" * 32).status_code == 404


def test_health_check_of_own_sources_is_forgotten(service: Runtime, client: httpx.Client, origin: Origin, name: str):
    """Strangers learn about their sources, and the operator's; the operator's report stays and no alert is sent."""
    service.cron(WORKER, "0 * * * *")
    before = until(lambda: client.get("/health/latest").json()["data"])
    page = origin.serve(f"/{name}", "<!DOCTYPE html>\n" + "<p>nothing here</p>\n" * 300)
    sources = [{"name": "bad", "url": page}, {"name": "own", "url": origin.url("/own"), "expectedMinRules": 10_000_000}]
    for _ in range(3):
        started = client.post("/workflow/health-check", json={"sources": sources}).json()
        output = wait_for_output(client, f"/workflow/status/health-monitoring/{started['workflowId']}")
        assert [result["healthy"] for result in output["results"]] == [False, False]
        assert output["alerts"] == []
    origin.serve("/own", Answer(status=503))
    for _ in range(3):
        started = client.post("/workflow/health-check").json()
        output = wait_for_output(client, f"/workflow/status/health-monitoring/{started['workflowId']}")
        assert ([result["healthy"] for result in output["results"]], output["alerts"]) == ([False], [])
    origin.serve("/own", GOOD)
    assert client.get("/health/latest").json()["data"] == before
    assert origin.count("/alerts", "POST") == 0


def test_one_request_causes_few_fetches(client: httpx.Client, origin: Origin, name: str):
    """A source of many includes, and a batch of such sources, end at a hundred fetches."""
    includes = "\n".join(f"!#include {name}-part{number}" for number in range(150))
    for number in range(150):
        origin.serve(f"/{name}-part{number}", "||part.example^\n")
    url = origin.serve(f"/{name}-many", includes)
    before = len(origin.seen)
    refused = client.post("/compile", json={"configuration": {"name": name, "sources": [{"source": url}]}})
    assert refused.status_code >= 400
    assert len(origin.seen) - before <= 100
    before = len(origin.seen)
    items = [{"id": str(n), "configuration": {"name": f"{name}{n}", "sources": [{"source": url}]}} for n in range(5)]
    results = client.post("/compile/batch", json={"requests": items}).json()["results"]
    assert not any(result["success"] for result in results)
    assert len(origin.seen) - before <= 100


def test_slow_sources_hold_nobody_up(service: Runtime, client: httpx.Client, origin: Origin, name: str):
    """While ten lists of one client wait for sources that never answer, another client gets its own."""
    gate = threading.Event()
    urls = [origin.serve(f"/{name}-{number}", Answer(GOOD.encode(), gate=gate)) for number in range(10)]
    bodies = [{"configuration": {"name": url, "sources": [{"source": url}]}} for url in urls]
    headers = {"Host": f"{WORKER}.localhost", "CF-Connecting-IP": "192.0.2.77"}
    with ThreadPoolExecutor(len(bodies)) as pool:
        try:
            slow = [
                pool.submit(httpx.post, f"{service.url}/compile", json=body, headers=headers, timeout=PATIENCE_S)
                for body in bodies
            ]
            until(lambda: all(origin.count(f"/{name}-{number}") for number in range(6)))
            mine = {"configuration": {"name": name, "sources": [{"source": origin.url("/own")}]}}
            assert client.post("/compile", json=mine).status_code == 200
            assert not any(future.done() for future in slow)
        finally:
            gate.set()


@pytest.mark.parametrize("path", ["/compile/batch", "/compile/batch/async", "/workflow/batch"])
def test_batch_of_many_sources_is_refused(client: httpx.Client, origin: Origin, path: str):
    """A batch whose lists name more than a hundred files is refused before anything is fetched."""
    sources = [{"source": origin.url(f"/never-{number}")} for number in range(60)]
    items = [{"id": str(n), "configuration": {"name": "T", "sources": sources}} for n in range(2)]
    refused = client.post(path, json={"requests": items})
    assert refused.status_code == 400
    assert "split" in refused.json()["error"]


def test_batch_is_charged_by_its_sources(client: httpx.Client):
    """A batch of 95 sources counts as ten requests: three of them fill a window of thirty."""
    items = [
        {
            "id": str(n),
            "configuration": {"name": "T", "sources": [{"source": f"s{k}"} for k in range(19)]},
            "preFetchedContent": {f"s{k}": "||a.example^" for k in range(19)},
        }
        for n in range(5)
    ]
    statuses = [client.post("/compile/batch", json={"requests": items}).status_code for _ in range(4)]
    assert statuses == [200, 200, 200, 429]


def test_validation_is_limited(client: httpx.Client):
    """The editor's endpoint has a limit of its own, which a compilation does not use up."""
    statuses = [client.post("/configuration/validate", json={"name": "T"}).status_code for _ in range(91)]
    assert statuses == [200] * 90 + [429]
    assert client.post("/compile", json=private("x")).status_code == 200
