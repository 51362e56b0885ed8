"""The runtime is killed in the updater and in each stage of an article: one run after the restart continues the work."""

import contextlib
import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from runtime import PATIENCE_S, ROOT, Runtime, until
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin

HTML = {"Content-Type": "text/html"}
TEXT = "Bitcoin climbed on Monday as buyers returned, and the analysts of a bank said that number {} was the reason for it."
PAGE = Answer(f"<article>{''.join(f'<p>{TEXT.format(n)}</p>' for n in range(5))}</article>".encode(), headers=HTML)
# What is asked in the updater and in each stage, with the answer, and the Worker that asks.
ASKED: dict[str, tuple[str, str | Answer]] = {
    "/feed": (
        "updater-ai",
        "<rss version='2.0'><channel><item><title>Bitcoin climbs again</title><link>{}</link></item></channel></rss>",
    ),
    "/ai/sentiment": ("processor-ai", ""),
    "/page": ("processor-ai", PAGE),
    "/ai/summary": ("processor-ai", ""),
}


def trigger_cron(runtime: Runtime, worker: str) -> None:
    query = {"worker": worker, "cron": "* * * * *"}
    with contextlib.suppress(httpx.HTTPError):
        httpx.get(f"{runtime.url}/cdn-cgi/handler/scheduled", params=query, timeout=PATIENCE_S)


def kill_while_asking(runtime: Runtime, origin: Origin, path: str, worker: str) -> None:
    """Start a run, and kill the runtime while the run waits for the answer from this path."""
    gate = threading.Event()
    origin.serve(path, Answer(gate=gate))
    run = threading.Thread(target=trigger_cron, args=(runtime, worker))
    run.start()
    until(lambda: origin.count(path))
    runtime.kill()
    gate.set()
    run.join()


def read_status(runtime: Runtime) -> dict[str, Any]:
    with runtime.client("processor-ai") as client:
        status: dict[str, Any] = client.get("/status").json()
        return status


@pytest.fixture(name="pipeline")
def _pipeline(start: StartRuntime) -> Iterator[tuple[Runtime, Origin]]:
    with local_origin() as origin:
        settings = {
            "NEWS_FEEDS": origin.url("/feed"),
            "AI_GATE_URL": origin.url("/ai"),
            "ALLOW_PRIVATE_HOSTS": origin.address,
            "RUN_LEASE_S": "1",
        }
        variables = [part for name, value in settings.items() for part in ("--var", f"{name}={value}")]
        folder = ROOT / "tests/workerd/news"
        configs = [f"--config={folder}/wrangler.{name}.toml" for name in ("ai", "api", "processor", "updater")]
        yield start(*configs, *variables), origin


def test_kill_in_every_stage(pipeline: tuple[Runtime, Origin]):
    """After each kill one run does what was interrupted; everything is asked once more, and nothing else is repeated."""
    runtime, origin = pipeline
    seen = []
    for path, (worker, answer) in ASKED.items():
        kill_while_asking(runtime, origin, path, worker)
        origin.serve(path, answer.format(origin.url("/page")) if isinstance(answer, str) else answer)
        runtime.start()
        trigger_cron(runtime, worker)
        status = read_status(runtime)
        seen.append((status["backlog"], (status["current"] or {}).get("stage"), status["processed"]))
    assert seen == [(1, None, 0), (0, "content", 0), (0, "summary", 0), (0, None, 1)]
    assert {path: origin.count(path) for path in ASKED} == dict.fromkeys(ASKED, 2)
    finished = [json.loads(line) for line in runtime.lines if "fully processed" in line]
    assert len(finished) == 1
    with runtime.client("api-ai") as client:
        [article] = client.get("/api/v1/articles").json()["articles"]
    assert (article["sentimentBy"], article["summaryBy"], article["status"]) == ("workers-ai", "workers-ai", "complete")
    assert read_status(runtime)["tryLater"] == []
