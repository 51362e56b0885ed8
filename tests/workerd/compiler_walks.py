"""Requests to the compiler in every state that a client can reach; each reply is checked against the API document."""

import json
import re
import threading
from typing import Any

from runtime import until
from workerd.api_walk import Walk
from workerd.origin import Answer, Origin

LIST = "||ads.example^\n0.0.0.0 track.example\n"


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
    """The last events are as documented: the result is what /compile replies, with the previous version."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST))}
    walk("POST", "/compile", json=body)
    events = [part.splitlines() for part in walk("POST", "/compile/stream", json=body).text.split("\n\n")]
    events_by_name = {
        lines[0].removeprefix("event: "): lines[1].removeprefix("data: ") for lines in events if len(lines) == 2
    }
    assert list(events_by_name)[-1] == "done"
    described = walk.document.operation("POST", "/compile/stream").told["responses"]["200"]["content"]
    assert all(f"`{event}`" in described["text/event-stream"]["schema"]["description"] for event in events_by_name)
    result = {"success": True, **json.loads(events_by_name["result"])}
    assert "previousVersion" in result
    assert not walk.document.mistakes({"$ref": "#/components/schemas/CompiledList"}, result, closed=True)


def jobs(walk: Walk, origin: Origin, name: str):
    """A job, a batch and one of its items, waiting, completed and cancelled: all as documented."""
    body = {"configuration": configuration(origin.serve(f"/{name}", LIST)), "priority": "high"}
    results = "/queue/results/{id}"
    completed = {"id": walk("POST", "/compile/async", json=body).json()["requestId"]}
    rules = walk.until(results, completed, "completed")["rules"]
    assert walk("GET", results, completed, headers={"Accept": "text/plain"}).text.splitlines() == rules
    items = [{"id": "good", **body}, {"id": "bad", "configuration": {"name": ""}}]
    items[0].pop("priority")
    batch = {
        "id": walk("POST", "/compile/batch/async", json={"requests": items, "priority": "high"}).json()["requestId"]
    }
    assert len(walk.until(results, batch, "completed", "failed")["results"]) == 2
    assert walk("GET", results, batch, params={"item": "good"}).json()["rules"]
    assert walk("GET", results, batch, params={"item": "bad"}).status_code == 404
    gate = threading.Event()
    waiting = {"configuration": configuration(origin.serve(f"/{name}/held", Answer(LIST.encode(), gate=gate)))}
    try:
        for method in ("POST", "DELETE"):
            job = {"id": walk("POST", "/compile/async", json=waiting).json()["requestId"]}
            assert walk(method, "/queue/cancel/{id}", job).status_code == 200
            assert walk(method, "/queue/cancel/{id}", job).status_code == 409
            assert walk("GET", results, job).json()["status"] == "cancelled"
    finally:
        gate.set()
    assert walk("GET", "/queue/stats").json()["cancelled"] >= 2
    assert walk("GET", "/queue/history").json()["depthHistory"]
    assert not [job for job in walk("GET", "/queue/history").json()["history"] if "requestId" in job]


def workflows(walk: Walk, origin: Origin, name: str):
    """Each type of workflow from its start to its result, with its events and figures: all as documented."""
    valid = configuration(origin.serve(f"/{name}", LIST))
    source = {"name": name, "url": origin.url(f"/{name}"), "expectedMinRules": 1}
    starts: dict[str, tuple[str, dict[str, Any]]] = {
        "compilation": ("/workflow/compile", {"configuration": valid}),
        "batch-compilation": ("/workflow/batch", {"requests": [{"id": "good", "configuration": valid}]}),
        "cache-warming": ("/workflow/cache-warm", {"configurations": [valid]}),
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
    assert walk("GET", "/health/latest").json()["data"] is None  # a stranger's check is answered and forgotten
    assert walk("GET", "/workflow/status/{type}/{id}", {"type": "no-such-type", "id": "x"}).status_code == 400


def published_lists(walk: Walk, origin: Origin, name: str):
    """Walk a list from its preview to its removal, with all that can be asked about it: all as documented."""
    path, own = "/lists/{name}", {"name": name}
    source = origin.serve(f"/{name}", LIST)
    body = {"configuration": {"name": "T", "sources": [{"source": source}]}, "formats": ["hosts"]}

    def finish(reply: Any) -> dict[str, Any]:
        def look() -> Any:
            facts = walk("GET", path, own).json()
            last = facts["lastBuild"] or {}
            return facts if last.get("id") == reply.json()["buildId"] and last["endedAt"] else None

        facts: dict[str, Any] = until(look)
        return facts

    assert walk("PUT", path, own, json=body, params={"dryRun": "1"}).json()["added"]
    finish(walk("PUT", path, own, json=body))
    origin.serve(f"/{name}", LIST + "||more.example^\n")
    text = walk("GET", path, {"name": f"{name}.txt"})
    assert finish(walk("POST", "/lists/{name}/rebuild", own))["version"] == 2
    assert (
        walk("GET", path, {"name": f"{name}.txt"}, headers={"If-None-Match": text.headers["etag"]}).status_code == 200
    )
    newest = walk("GET", path, {"name": f"{name}.txt"}).headers["etag"]
    assert walk("GET", path, {"name": f"{name}.txt"}, headers={"If-None-Match": newest}).status_code == 304
    patch = re.search(r"Diff-Path: patches/(\w+)/(\S+)#list", text.text)
    assert patch
    walk("GET", "/lists/patches/{id}/{file}", {"id": patch[1], "file": patch[2]})
    assert walk("GET", "/lists").json()["lists"]
    assert len(walk("GET", "/lists/{name}/versions", own).json()["versions"]) == 2
    assert walk("GET", "/lists/{name}/diff", own, params={"from": "1", "to": "2"}).json()["added"] == [
        "||more.example^"
    ]
    assert walk("GET", "/lists/{name}/why", own, params={"domain": "ads.example"}).json()["verdict"] == "blocked"
    assert walk("GET", "/lists/{name}/overlap", own).json()["sources"]
    finish(walk("POST", "/lists/{name}/rollback", own, json={"version": 1}))
    finish(walk("PUT", path, own, json=body))
    assert walk("DELETE", path, own).status_code == 204
