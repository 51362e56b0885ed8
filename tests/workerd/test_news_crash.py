"""Killed in the middle of an article, twice, and started again on the same state: nothing is lost or done again."""

import contextlib
import json
import threading
from typing import Any

import httpx

from runtime import PATIENCE_S, Runtime, until
from workerd.conftest import StartRuntime
from workerd.origin import Answer, Origin, local_origin

HTML = {"Content-Type": "text/html"}
TEXT = "Bitcoin climbed on Monday as buyers returned, and the analysts of a bank said that number {} was the reason for it."
NAMES = ("one", "two")


def fire(runtime: Runtime, worker: str) -> None:
    query = {"worker": worker, "cron": "* * * * *"}
    with contextlib.suppress(httpx.HTTPError):
        httpx.get(f"{runtime.url}/cdn-cgi/handler/scheduled", params=query, timeout=PATIENCE_S)


def killed_while_reading(runtime: Runtime, origin: Origin, name: str) -> None:
    """Start a run, and kill the runtime while it waits for this article's page."""
    held = threading.Event()
    origin.serve(f"/{name}", Answer(gate=held))
    run = threading.Thread(target=fire, args=(runtime, "worker-news-processor"))
    run.start()
    until(lambda: origin.count(f"/{name}"))
    runtime.kill()
    held.set()
    run.join()
    origin.serve(f"/{name}", page())


def page() -> Answer:
    return Answer(f"<article>{''.join(f'<p>{TEXT.format(n)}</p>' for n in range(5))}</article>".encode(), headers=HTML)


def test_kill_in_the_middle_of_an_article(start: StartRuntime):
    """Every article ends complete; only the pages that were being read when the power went are read again."""
    with local_origin() as origin:
        items = [
            {"article_id": n, "title": f"Bitcoin climbs {n}", "link": origin.serve(f"/{n}", page())} for n in NAMES
        ]
        origin.serve("/newsdata?apikey=k&coin=btc&language=en&removeduplicate=1", json.dumps({"results": items}))
        settings = {
            "NEWSDATA_API_KEY": "k",
            "NEWSDATA_URL": origin.url("/newsdata"),
            "NEWS_FEEDS": " ",
            "ALLOW_PRIVATE_HOSTS": origin.address,
            "MAX_ARTICLES_PER_RUN": "20",
            "RUN_LEASE_S": "1",
        }
        variables = [part for name, value in settings.items() for part in ("--var", f"{name}={value}")]
        runtime = start("--only", "worker-news-updater,worker-news-processor", *variables)
        fire(runtime, "worker-news-updater")
        killed_while_reading(runtime, origin, "one")
        runtime.start()
        killed_while_reading(runtime, origin, "two")
        runtime.start()

        def status() -> Any:
            fire(runtime, "worker-news-processor")
            with runtime.client("worker-news-processor") as client:
                return client.get("/status").json()

        done = until(lambda: (found := status())["processed"] == 2 and found)
        assert (done["backlog"], done["tryLater"], done["current"]) == (0, [], None)
        assert {name: origin.count(f"/{name}") for name in NAMES} == {"one": 2, "two": 2}
        finished = [json.loads(line.partition("] ")[2]) for line in runtime.lines if "fully processed" in line]
        assert sorted(line["id"] for line in finished) == sorted(NAMES)
