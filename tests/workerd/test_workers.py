"""The six Workers of the project together, as a person starts them."""

import http.server
import json
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, ROOT, Runtime, until
from workerd.api_document import ApiDocument
from workerd.api_walk import health
from workerd.conftest import StartRuntime

CONFIGS = {tomllib.loads(path.read_text())["name"]: path for path in ROOT.glob("wrangler*.toml")}
TOKEN = "the-operators-token"
SHORT = "too-short-token"


class Hook(http.server.BaseHTTPRequestHandler):
    """Keeps every body that is posted to it."""

    bodies: list[Any]

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""


@pytest.fixture(name="hook", scope="module")
def _hook() -> Iterator[http.server.ThreadingHTTPServer]:
    Hook.bodies = []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture(name="workers", scope="module")
def _workers(start: StartRuntime, hook: http.server.ThreadingHTTPServer) -> Runtime:
    address = f"127.0.0.1:{hook.server_port}"
    variables = [f"ADMIN_TOKEN={TOKEN}", f"ERROR_WEBHOOK_URL=http://{address}/", f"ALLOW_PRIVATE_HOSTS={address}"]
    routes = ["--route", "www.example.com=edge-preload"]
    return start(*routes, *(part for each in variables for part in ("--var", each)))


@pytest.fixture(name="unfinished", scope="module")
def _unfinished(start: StartRuntime) -> Runtime:
    """All Workers, whose operator has chosen a token that can be guessed."""
    return start("--var", f"ADMIN_TOKEN={SHORT}")


def bound_in(path: Path) -> set[str]:
    config = tomllib.loads(path.read_text())
    tables = ["kv_namespaces", "d1_databases", "r2_buckets", "analytics_engine_datasets", "workflows", "services"]
    entries = [entry for table in tables for entry in config.get(table, [])] + config.get("queues", {}).get(
        "producers", []
    )
    entries += [config["assets"]] if "assets" in config else []
    objects = config.get("durable_objects", {}).get("bindings", [])
    return {entry["binding"] for entry in entries} | {entry["name"] for entry in objects}


def test_there_are_six():
    """Every Worker of the design has its config."""
    assert sorted(CONFIGS) == [
        "adblock-compiler",
        "edge-preload",
        "sluice-tail",
        "worker-api",
        "worker-news-processor",
        "worker-news-updater",
    ]


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_health(workers: Runtime, worker: str):
    """Each Worker answers at its host name, and each binding of its config answers it."""
    with workers.client(worker) as client:
        reply = health(client)
    assert reply.status_code == 200, reply.text
    told = reply.json()
    assert (told["name"], told["status"]) == (worker, "ok")
    assert told["bindings"].keys() == bound_in(CONFIGS[worker])
    assert all(binding["ok"] for binding in told["bindings"].values())


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_short_token(unfinished: Runtime, worker: str):
    """A token that can be guessed lets nobody in at any route of the operator, which names it, as /health does; the rest goes on."""
    with unfinished.client(worker) as client:
        document = ApiDocument(client.get("/openapi.json").json())
        refused = [operation for operation in document.operations() if operation.is_for_admins]
        for operation in refused:
            headers = {"Authorization": f"Bearer {SHORT}"}
            reply = client.send(client.build_request(**document.request(operation), headers=headers))
            document.check(operation, reply)
            assert (reply.status_code, reply.json()["detail"].split()[0]) == (503, "ADMIN_TOKEN"), operation
        report = health(client)
        assert (report.status_code, report.json()["status"]) == (503, "degraded")
        assert "ADMIN_TOKEN has fewer than 16 characters" in report.json()["bindings"]["ADMIN_TOKEN"]["error"]
    assert refused


CRONS = {name: tomllib.loads(path.read_text()).get("triggers", {}).get("crons", []) for name, path in CONFIGS.items()}


@pytest.mark.parametrize("worker", sorted(name for name, crons in CRONS.items() if crons))
@pytest.mark.parametrize("at_host", [True, False])
def test_cron_by_hand(workers: Runtime, worker: str, at_host: bool):
    """A cron runs at the Worker's own host name, and at the bare address with the Worker's name; with or without a time."""
    headers = {"Host": f"{worker}.localhost:{httpx.URL(workers.url).port}"} if at_host else {}
    named = {} if at_host else {"worker": worker}
    for cron in ({}, {"cron": CRONS[worker][0]}):
        reply = httpx.get(
            f"{workers.url}/cdn-cgi/handler/scheduled", params=named | cron, headers=headers, timeout=PATIENCE_S
        )
        assert (reply.status_code, reply.text.strip()) == (200, "ok")


def test_bare_address(workers: Runtime):
    """The bare address is the compiler."""
    assert httpx.get(f"{workers.url}/health", timeout=PATIENCE_S).json()["name"] == "adblock-compiler"


def test_route(workers: Runtime):
    """A host given with --route goes to its Worker, which refuses to go round in a circle."""
    headers = {"Host": "www.example.com", "Via": "1.1 sluice"}
    reply = httpx.get(f"{workers.url}/health", headers=headers, timeout=PATIENCE_S)
    assert (reply.status_code, reply.headers["Cache-Status"]) == (508, "sluice; fwd=bypass; detail=error-508")


@pytest.mark.parametrize("worker", sorted(CONFIGS))
def test_problems(workers: Runtime, worker: str):
    """An unknown path and a wrong method are told as problem+json; HEAD has GET's headers and no body."""
    with workers.client(worker) as client:
        missing = client.get("/nothing")
        wrong = client.delete("/health")
        head = client.head("/health")
        options = client.options("/health")
    assert (missing.status_code, missing.headers["Content-Type"]) == (404, "application/problem+json")
    assert (wrong.status_code, wrong.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")
    assert (head.status_code, head.content, head.headers["Content-Type"]) == (200, b"", "application/json")
    assert (options.status_code, options.headers["Allow"]) == (204, "GET, HEAD, OPTIONS")


def test_tail(workers: Runtime, hook: http.server.ThreadingHTTPServer):
    """What fails in one Worker is kept by the tail Worker, readable by the operator alone, and sent to the webhook."""
    assert hook.server_port
    failed = workers.cron("worker-api", "* * * * *")  # it takes no crons
    assert failed.status_code == 500
    with workers.client("sluice-tail") as client:
        assert client.get("/logs").status_code == 401
        token = {"Authorization": f"Bearer {TOKEN}"}
        bad = client.get("/logs", params={"limit": 0}, headers=token)
        assert (bad.status_code, bad.json()["errors"][0]["path"]) == (400, "limit")

        def kept() -> Any:
            return [each for each in client.get("/logs", headers=token).json()["records"] if each["exceptions"]]

        [record] = until(kept)
    assert record["scriptName"] == "worker-api"
    assert any("scheduled" in line["message"] for line in record["logs"])
    assert until(lambda: record in Hook.bodies)


def test_failures_of_the_compiler_reach_the_webhook(workers: Runtime, name: str):
    """Failed compilations and dead letters, with their reasons, but no successful workflow or job."""

    def body(list_name: str, text: str) -> dict[str, Any]:
        sources = [{"source": "mine"}]
        return {"configuration": {"name": list_name, "sources": sources}, "preFetchedContent": {"mine": text}}

    def sent(event: str) -> list[str]:
        lines = [line["message"] for told in Hook.bodies for line in told["logs"] if line["level"] == "error"]
        return [line for line in lines if f'"event": "{event}"' in line and name in line]

    with workers.client("adblock-compiler") as client:
        good = body(f"good-{name}", "||ads.example^")
        workflow = client.post("/workflow/compile", json=good).json()["workflowId"]
        job = client.post("/compile/async", json=good).json()["requestId"]
        until(lambda: client.get(f"/queue/results/{workflow}").json()["status"] == "completed")
        until(lambda: client.get(f"/queue/results/{job}").json()["status"] == "completed")
        bad = body(f"bad-{name}", "! nothing but a comment")
        assert client.post("/compile", json=bad).status_code >= 400
        failed = client.post("/compile/async", json=bad).json()["requestId"]
        [letter] = until(lambda: sent("queue.dead_letter"))
        assert failed in letter
        assert "has no rules" in letter
        assert len(until(lambda: len(sent("compilation.failed")) > 1 and sent("compilation.failed"))) == 2
        told = json.dumps(Hook.bodies)
        assert not [each for each in (workflow, job, f"good-{name}") if each in told]
        token = {"Authorization": f"Bearer {TOKEN}"}
        letters = client.get("/queue/dead-letters", headers=token).json()["deadLetters"]
        assert [(each["requestId"], each["configName"], each["attempts"]) for each in letters] == [
            (failed, f"bad-{name}", 1)
        ]
        assert client.get("/queue/dead-letters").status_code == 401
