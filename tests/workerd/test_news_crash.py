"""The runtime is killed twice in the middle of an article and restarted: nothing is lost or repeated."""

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


def trigger_cron(runtime: Runtime, worker: str) -> None:
    query = {"worker": worker, "cron": "* * * * *"}
    with contextlib.suppress(httpx.HTTPError):
        httpx.get(f"{runtime.url}/cdn-cgi/handler/scheduled", params=query, timeout=PATIENCE_S)


def kill_while_fetching(runtime: Runtime, origin: Origin, name: str) -> None:
    """Starts a run, and kills the runtime while it waits for this article's page."""
    gate = threading.Event()
    origin.serve(f"/{name}", Answer(gate=gate))
    run = threading.Thread(target=trigger_cron, args=(runtime, "worker-news-processor"))
    run.start()
    until(lambda: origin.count(f"/{name}"))
    runtime.kill()
    gate.set()
    run.join()
    origin.serve(f"/{name}", page())


def page() -> Answer:
    return Answer(f"<article>{''.join(f'<p>{TEXT.format(n)}</p>' for n in range(5))}</article>".encode(), headers=HTML)


def test_kill_in_the_middle_of_an_article(start: StartRuntime):
    """Every article ends complete; only the pages that were being fetched at the kill are fetched again."""
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
        runtime = start("--only", "worker-news-updater,worker-news-processor,worker-api", *variables)
        trigger_cron(runtime, "worker-news-updater")
        kill_while_fetching(runtime, origin, "one")
        runtime.start()
        kill_while_fetching(runtime, origin, "two")
        runtime.start()

        def status() -> Any:
            trigger_cron(runtime, "worker-news-processor")
            with runtime.client("worker-news-processor") as client:
                return client.get("/status").json()

        done = until(lambda: (current := status())["processed"] == 2 and current)
        assert (done["backlog"], done["tryLater"], done["current"]) == (0, [], None)
        assert {name: origin.count(f"/{name}") for name in NAMES} == {"one": 2, "two": 2}
        finished = [json.loads(line) for line in runtime.lines if "fully processed" in line]
        assert sorted(line["id"] for line in finished) == sorted(NAMES)
