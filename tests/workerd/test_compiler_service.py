"""adblock-compiler in the real runtime, over an origin that a test controls."""

import asyncio
import gzip
import json
import threading
from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, Runtime, until
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin

LIST = "! comment\n||ads.example^\n0.0.0.0 track.example\n"
WORKER = "adblock-compiler"


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="service", scope="module")
def _service(start: StartRuntime, origin: Origin) -> Runtime:
    return start(*options(origin))


def options(origin: Origin) -> list[str]:
    variables = {"ALLOW_PRIVATE_HOSTS": origin.address, "RATE_LIMIT_MAX_REQUESTS": "100000"}
    return ["--only", WORKER, *(f"--var={name}={value}" for name, value in variables.items())]


@pytest.fixture(name="failing_job", scope="module", autouse=True)
def _failing_job(service: Runtime, origin: Origin) -> str:
    """A job that never succeeds, submitted before all tests: its last retry comes after a minute."""
    body = {"configuration": configuration(origin.serve("/doomed", Answer(status=503))), "priority": "high"}
    with service.client(WORKER) as client:
        return str(client.post("/compile/async", json=body).json()["requestId"])


@pytest.fixture(name="client")
def _client(service: Runtime) -> Iterator[httpx.Client]:
    with service.client(WORKER) as client:
        yield client


def configuration(*urls: str, name: str = "T", **more: Any) -> dict[str, Any]:
    sources = [{"source": url} for url in urls]
    return {"name": name, "sources": sources, "transformations": ["RemoveComments", "Compress"], **more}


def rules(reply: dict[str, Any]) -> list[str]:
    """Return the rules without the header."""
    return [rule for rule in reply["rules"] if not rule.startswith("!")]


def job(client: httpx.Client, request_id: str, *states: str) -> dict[str, Any]:
    """Return the result of the job as soon as it is in one of the states."""

    def look() -> Any:
        result = client.get(f"/queue/results/{request_id}").json()
        return result if result["status"] in states else None

    result: dict[str, Any] = until(look)
    return result


# Synchronous


def test_compile_and_hit(client: httpx.Client, origin: Origin, name: str):
    """The first request compiles, the second is served from the cache as it is stored, and says so."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST))}
    first, second = (client.post("/compile", json=body) for _ in range(2))
    assert (first.status_code, first.headers["x-cache"]) == (200, "MISS")
    assert rules(first.json()) == ["||ads.example^", "||track.example^"]
    assert (first.json()["ruleCount"], "metrics" in first.json()) == (2, False)
    measured = client.post("/compile", json={**body, "benchmark": True}).json()
    assert measured["metrics"]["sourceCount"] == 1
    assert second.headers["x-cache"] == "HIT"
    assert second.headers["content-encoding"] == "gzip"
    assert second.json() == first.json() | {"cached": True}
    assert origin.count(f"/{name}") == 2


def test_refresh(client: httpx.Client, origin: Origin, name: str):
    """Cache-Control: no-cache compiles anew and replaces the cached list, also in memory."""
    url = origin.serve(f"/{name}", "||old.example^\n", "||new.example^\n")
    body = {"configuration": configuration(url)}
    for expected in ("MISS", "HIT", "HIT"):
        reply = client.post("/compile", json=body)
        assert (reply.headers["x-cache"], rules(reply.json())) == (expected, ["||old.example^"])
    fresh = client.post("/compile", json=body, headers={"Cache-Control": "no-cache"})
    assert (fresh.headers["x-cache"], rules(fresh.json())) == ("MISS", ["||new.example^"])
    again = client.post("/compile", json=body)
    assert (again.headers["x-cache"], rules(again.json())) == ("HIT", ["||new.example^"])


def test_without_gzip(client: httpx.Client, origin: Origin, name: str):
    """A client that does not accept gzip gets the same list uncompressed."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST))}
    packed = client.post("/compile", json=body)
    plain = client.post("/compile", json=body, headers={"Accept-Encoding": "identity"})
    assert "content-encoding" not in plain.headers
    assert plain.json()["rules"] == packed.json()["rules"]


def test_list_itself(client: httpx.Client, origin: Origin, name: str):
    """Accept: text/plain gives the list, fresh and from the cache."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST))}
    replies = [client.post("/compile", json=body, headers={"Accept": "text/plain"}) for _ in range(2)]
    assert [reply.headers["x-cache"] for reply in replies] == ["MISS", "HIT"]
    assert replies[0].headers["content-type"] == "text/plain; charset=utf-8"
    assert replies[0].text == replies[1].text
    assert replies[0].text.endswith("\n||ads.example^\n||track.example^")


def test_previous_version(client: httpx.Client, origin: Origin, name: str):
    """A list compiled anew reports what changed."""
    url = origin.serve(f"/{name}", LIST, "||ads.example^\n||new.example^\n")
    body = {"configuration": configuration(url)}
    client.post("/compile", json=body)
    events = sse(client, body)
    result = next(data for event, data in events if event == "result")
    diff = result["previousVersion"]["diff"]
    assert (diff["added"], diff["removed"], diff["unchanged"]) == (1, 1, 1)
    assert diff["addedRules"] == ["||new.example^"]


def test_private_content(client: httpx.Client, name: str):
    """It needs no origin, and is neither stored in the cache nor read from it."""
    body = {"configuration": configuration(name), "preFetchedContent": {name: "||own.example^"}}
    for _ in range(2):
        reply = client.post("/compile", json=body)
        assert (reply.headers["x-cache"], rules(reply.json())) == ("MISS", ["||own.example^"])


def test_report(client: httpx.Client, origin: Origin, name: str):
    """Every dropped line is reported on request."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST)), "report": True}
    dropped = client.post("/compile", json=body).json()["report"]["dropped"]
    assert [(line["text"], line["transformation"]) for line in dropped] == [("! comment", "RemoveComments")]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "configuration"),
        ({"configuration": {"name": "T", "sources": []}}, "configuration.sources"),
        ({"configuration": {"name": "T", "sources": [{"source": "a", "x": 1}]}}, "configuration.sources[0].x"),
        ({"configuration": {"name": "T", "sources": [{"source": "a"}], "transformations": ["X"]}}, "configuration"),
        ({"configuration": {"name": 1, "sources": [{"source": "a"}]}}, "configuration.name"),
        ({"configuration": configuration("a"), "preFetchedContent": {"a": 1}}, "preFetchedContent.a"),
    ],
    ids=["none", "no source", "unknown member", "unknown transformation", "type", "content"],
)
@pytest.mark.parametrize("path", ["/compile", "/compile/async", "/compile/stream", "/workflow/compile"])
def test_bad_configuration(client: httpx.Client, path: str, body: dict[str, Any], field: str):
    """It is a 400 with the field, on every path."""
    reply = client.post(path, json=body)
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/problem+json"
    assert any(error["path"].startswith(field) for error in reply.json()["errors"])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(status=404), (502, "status 404")),
        (Answer(status=500), (502, "status 500")),
        (Answer(LIST.encode() * 100, drop=True), (502, "did not answer")),
        (Answer(b"<!doctype html><title>Sorry", headers={"Content-Type": "text/html"}), (502, "web page")),
        (Answer(b"\0\1\2"), (502, "binary")),
        (Answer(endless=True), (413, "larger than 10,000,000 bytes")),
        (Answer(status=302, headers={"Location": "http://10.0.0.1/"}), (400, "not fetched")),
    ],
    ids=["missing", "failing", "dropped", "page", "binary", "endless", "inward"],
)
def test_origin_misbehaves(client: httpx.Client, origin: Origin, name: str, answer: Answer, expected: tuple[int, str]):
    """The reply says which source failed and why; the next request tries again."""
    status, reason = expected
    url = origin.serve(f"/{name}", answer)
    body = {"configuration": configuration(url)}
    reply = client.post("/compile", json=body)
    assert (reply.status_code, reply.json()["success"]) == (status, False)
    assert url in reply.json()["error"]
    assert reason in reply.json()["error"]
    origin.serve(f"/{name}", LIST)
    assert client.post("/compile", json=body).status_code == 200


def test_origin_recovers(client: httpx.Client, origin: Origin, name: str):
    """A source that fails for a moment is retried."""
    url = origin.serve(f"/{name}", Answer(status=503), Answer(LIST.encode(), drop=True), LIST)
    assert client.post("/compile", json={"configuration": configuration(url)}).status_code == 200


def test_private_addresses(client: httpx.Client):
    """An address inside the network is not fetched."""
    for url in ("http://127.0.0.1:9/x", "http://169.254.169.254/latest", "http://[::1]/x", "file:///etc/passwd"):
        reply = client.post("/compile", json={"configuration": configuration(url)})
        assert reply.status_code == 400, reply.text


def test_batch(client: httpx.Client, origin: Origin, name: str):
    """One failed item and one invalid item do not affect the others; the order is kept."""
    good, bad = origin.serve(f"/{name}", LIST), origin.serve(f"/{name}-bad", Answer(status=404))
    items = [
        {"id": "a", "configuration": configuration(good)},
        {"id": "b", "configuration": configuration(bad)},
        {"id": "c", "configuration": {"name": "T"}},
        {"id": "d", "configuration": configuration(good)},
    ]
    reply = client.post("/compile/batch", json={"requests": items}).json()
    assert [(result["id"], result["success"]) for result in reply["results"]] == [
        ("a", True),
        ("b", False),
        ("c", False),
        ("d", True),
    ]
    assert reply["results"][0]["rules"] == reply["results"][3]["rules"]
    assert reply["results"][2]["errors"] == [{"path": "sources", "reason": "is required"}]
    assert origin.count(f"/{name}") == 1


@pytest.mark.parametrize(
    "items", [None, [], [{}] * 11, [{"configuration": {}}], [{"id": "a", "configuration": {}}] * 2]
)
def test_bad_batch(client: httpx.Client, items: Any):
    """Not a list, empty, too long, without ids, with the same id twice."""
    assert client.post("/compile/batch", json={"requests": items}).status_code == 400


def test_burst_compiles_once(service: Runtime, origin: Origin, name: str):
    """A hundred equal requests at once: one compilation, a hundred equal lists."""
    all_sent = threading.Event()
    url = origin.serve(f"/{name}", Answer((LIST + "||x.example^\n" * 1000).encode(), gate=all_sent))
    body = {"configuration": configuration(url)}
    remaining = iter(range(99, -1, -1))

    async def release_at_last(event: str, _info: Any) -> None:
        if event == "http11.send_request_body.complete" and next(remaining) == 0:
            all_sent.set()

    async def burst() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=100)
        headers = {"Host": f"{WORKER}.localhost"}
        async with httpx.AsyncClient(
            base_url=service.url, headers=headers, timeout=PATIENCE_S, limits=limits
        ) as client:
            post = partial(client.post, "/compile", json=body, extensions={"trace": release_at_last})
            return await asyncio.gather(*(post() for _ in range(100)))

    replies = asyncio.run(burst())
    assert Counter(reply.status_code for reply in replies) == {200: 100}
    assert len({tuple(reply.json()["rules"]) for reply in replies}) == 1
    assert origin.count(f"/{name}") == 1
    counts = Counter(tuple(sorted(reply.json().keys() & {"cached", "deduplicated"})) for reply in replies)
    assert counts[()] == 1
    assert all("X-Request-Deduplication" in reply.headers for reply in replies if "deduplicated" in reply.json())


# Streams


def sse(client: httpx.Client, body: dict[str, Any]) -> list[tuple[str, Any]]:
    events: list[tuple[str, Any]] = []
    with client.stream("POST", "/compile/stream", json=body) as reply:
        assert reply.headers["content-type"] == "text/event-stream"
        event = ""
        for line in reply.iter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                events.append((event, json.loads(line.removeprefix("data: "))))
    return events


def test_stream_in_order(client: httpx.Client, origin: Origin, name: str):
    """Sources, transformations, completion, diagnostics, the list, the end."""
    url = origin.serve(f"/{name}", LIST)
    names = [event for event, _ in sse(client, {"configuration": configuration(url)})]
    milestones = [
        "log",
        "source:start",
        "source:complete",
        "transformation:start",
        "transformation:complete",
        "compilation:complete",
        "diagnostic",
        "cache",
        "result",
        "done",
    ]
    assert [event for event in dict.fromkeys(names) if event in milestones] == milestones
    assert names.count("transformation:complete") == 2


def test_stream_in_time(client: httpx.Client, origin: Origin, name: str):
    """Events arrive while the compilation still runs."""
    gate = threading.Event()
    quick, slow = origin.serve(f"/{name}-1", LIST), origin.serve(f"/{name}-2", Answer(LIST.encode(), gate=gate))
    names: list[str] = []
    with client.stream("POST", "/compile/stream", json={"configuration": configuration(quick, slow)}) as reply:
        for line in reply.iter_lines():
            if line.startswith("event: "):
                names.append(line.removeprefix("event: "))
            if names.count("source:complete") == 1:
                gate.set()
    assert gate.is_set()
    assert names[-1] == "done"


def test_stream_fails(client: httpx.Client, origin: Origin, name: str):
    """A failure is the last event."""
    url = origin.serve(f"/{name}", Answer(status=404))
    events = sse(client, {"configuration": configuration(url)})
    assert events[-1][0] == "error"
    assert "status 404" in events[-1][1]["error"]


# Jobs


@pytest.mark.parametrize("priority", ["standard", "high", "urgent"])
def test_async(client: httpx.Client, origin: Origin, name: str, priority: str):
    """Accepted, completed in the background, found by id and by configuration; the default priority is standard."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST)), "priority": priority}
    accepted = client.post("/compile/async", json=body)
    assert accepted.status_code == 202
    assert accepted.json()["priority"] == ("high" if priority == "high" else "standard")
    result = job(client, accepted.json()["requestId"], "completed")
    assert rules(result) == ["||ads.example^", "||track.example^"]
    del body["priority"]
    assert client.post("/compile", json=body).json()["cached"] is True


def test_async_batch(client: httpx.Client, origin: Origin, name: str):
    """Every item has its outcome and its list."""
    items = [
        {"id": "a", "configuration": configuration(origin.serve(f"/{name}", LIST))},
        {"id": "b", "configuration": {"name": "T"}},
        {"id": "c", "configuration": configuration("given"), "preFetchedContent": {"given": "||own.example^"}},
    ]
    accepted = client.post("/compile/batch/async", json={"requests": items, "priority": "high"}).json()
    assert accepted["batchSize"] == 3
    result = job(client, accepted["requestId"], "completed")
    assert {result["id"]: result["success"] for result in result["results"]} == {"a": True, "b": False, "c": True}
    listed = client.get(f"/queue/results/{accepted['requestId']}", params={"item": "c"}).json()
    assert rules(listed) == ["||own.example^"]


def test_large_job(client: httpx.Client, name: str):
    """Content that is too large for a message still arrives."""
    content = "".join(f"||{name}{number}.example^\n" for number in range(20_000))
    body = {"configuration": configuration(name), "preFetchedContent": {name: content}, "priority": "high"}
    accepted = client.post("/compile/async", json=body).json()
    assert len(rules(job(client, accepted["requestId"], "completed"))) == 20_000


def test_cancel(client: httpx.Client, origin: Origin, name: str):
    """A cancelled job does not run, and is cancelled once."""
    gate = threading.Event()

    def handed_in(path: str, answer: Answer) -> str:
        body = {"configuration": configuration(origin.serve(path, answer))}
        return str(client.post("/compile/async", json=body).json()["requestId"])

    handed_in(f"/{name}-1", Answer(LIST.encode(), gate=gate))
    until(lambda: origin.count(f"/{name}-1"))  # the queue is held up, so the next ones wait
    request_id = handed_in(f"/{name}", Answer(LIST.encode()))
    later = handed_in(f"/{name}-2", Answer(LIST.encode()))
    assert client.post(f"/queue/cancel/{request_id}").json()["success"] is True
    assert client.delete(f"/queue/cancel/{request_id}").status_code == 409
    gate.set()
    job(client, later, "completed")  # it was after the other in the same queue
    assert client.get(f"/queue/results/{request_id}").json()["status"] == "cancelled"
    assert origin.count(f"/{name}") == 0
    assert client.post("/queue/cancel/nobody").status_code == 404


def test_retries_then_dead_letter(client: httpx.Client, origin: Origin, failing_job: str):
    """Five attempts with growing delays; then the job is failed with a reason."""
    failed = job(client, failing_job, "failed")
    assert "status 503" in failed["error"]
    assert failed["jobInfo"]["attempts"] == 5
    assert len(origin.requests("/doomed")) == 5 * 4  # each attempt downloads four times


def test_queue_statistics(client: httpx.Client, origin: Origin, name: str):
    """Statistics and history have the job."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST), name=name), "priority": "high"}
    request_id = client.post("/compile/async", json=body).json()["requestId"]
    job(client, request_id, "completed")
    stats = client.get("/queue/stats").json()
    assert stats["completed"] >= 1
    history = client.get("/queue/history").json()
    assert any((one["status"], one["ruleCount"]) == ("completed", 2) for one in history["history"])
    for shown in (stats, history):
        assert request_id not in json.dumps(shown)
        assert name not in json.dumps(shown)
    assert history["depthHistory"]


def test_crash_with_jobs_queued(start: StartRuntime, origin: Origin, name: str):
    """Killed with jobs queued and running, the next start completes them all, each once."""
    service = start(*options(origin))
    gate = threading.Event()
    paths = [f"/{name}-{number}" for number in range(6)]
    urls = [origin.serve(path, Answer(LIST.encode(), gate=gate if path.endswith("5") else None)) for path in paths]
    with service.client(WORKER) as client:
        ids = [
            client.post("/compile/async", json={"configuration": configuration(url)}).json()["requestId"]
            for url in urls
        ]
        until(lambda: origin.count(paths[5]))  # in the middle of the last one
    service.kill()
    gate.set()
    service.start()
    with service.client(WORKER) as client:
        for request_id in ids:
            job(client, request_id, "completed")
    assert [origin.count(path) for path in paths[:5]] == [1] * 5


def test_overview(client: httpx.Client):
    """Everything that the overview names exists."""
    for endpoint in client.get("/api").json()["endpoints"]:
        method, path = endpoint.split(" ")
        reply = client.request(method, path.replace(":type", "compilation").replace(":id", "x"))
        assert reply.status_code not in {405, 500, 501}, endpoint
        assert reply.status_code != 404 or ":id" in path, endpoint


def test_stored_bytes_are_gzip(client: httpx.Client, origin: Origin, name: str):
    """A hit is sent as it is stored: its bytes are one gzip file."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST))}
    client.post("/compile", json=body)
    with client.stream("POST", "/compile", json=body) as reply:
        assert json.loads(gzip.decompress(b"".join(reply.iter_raw())))["cached"] is True
