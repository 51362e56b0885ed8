"""The deployed Worker under load, and killed several times: nothing is lost, and the site's limits are kept."""

import json
import random
import subprocess
import threading
from collections.abc import Iterator

import pytest

from cli.sluice_process import COMMAND, ENVIRONMENT
from runtime import PATIENCE_S, Runtime, until
from workerd.conftest import StartRuntime
from workerd.preload_site import KEY, TOKEN, Page, Service, Site, site

OPTIONS = ("--only", "edge-preload", *(f"--var={each}" for each in (f"ADMIN_TOKEN={TOKEN}", f"SIGNING_KEY={KEY}")))


PAGE_S = 1.0  # long enough for some pages to be under way at any time, and too short for one to give way to others


def kill_repeatedly(runtime: Runtime, service: Service, control: Site, *, pages: int, kills: int) -> dict[str, int]:
    """Kill the runtime during a drain after a random number of pages; return what the site saw when every page is settled."""
    draw = random.Random(11)
    control.default = Page(wait_s=PAGE_S)
    batches = []
    for start in range(0, pages, 100):
        paths = [f"/p{n}" for n in range(start, min(start + 100, pages))]
        batches.append(service.preload(*paths)["preload_batch_id"])
    for _ in range(kills):
        service.tick()  # for nobody to wait; after the last kill it goes on by itself
        wait_for_requests(service, control, len(control.requests) + draw.randrange(1, 12))
        runtime.kill()
        runtime.start()
    for batch_id in batches:
        batch = service.wait_until_finished(batch_id)
        assert batch["total"] == batch["done"] + batch["failed"]
    seen = control.counts
    status = service.ask("status")
    return {
        "pages": len(seen),
        "requests": sum(seen.values()),
        "most for one page": max(seen.values()),
        "most at once": control.most_at_once,
        "most in a second": control.most_within(1.0),
        "most in a minute": control.most_within(60.0),
        "depth": status["queue_depth"],
        "dead letters": status["dead_letters"],
    }


def wait_for_requests(service: Service, control: Site, count: int) -> None:
    """Wait until the site has got so many requests, or everything is done: a slow start may leave nothing to kill."""
    until(lambda: len(control.requests) >= count or service.ask("status")["queue_depth"] == 0)


@pytest.fixture(name="place")
def _place(start: StartRuntime, name: str) -> Iterator[tuple[Runtime, Service, Site]]:
    with site() as (control, address):
        runtime = start(*OPTIONS, "--var", f"ALLOW_PRIVATE_HOSTS={address}", "--var", "DEPLOYMENT_ID=one")
        yield runtime, Service(runtime, address, name), control
        runtime.kill()


def test_killed_again_and_again(place: tuple[Runtime, Service, Site]):
    """Every page is done, none is stuck, and the site gets no page more often than the kills explain."""
    runtime, service, control = place
    service.register(preload_rpm_limit=6000)
    kills = 3
    result = kill_repeatedly(runtime, service, control, pages=60, kills=kills)
    assert (result["pages"], result["depth"], result["dead letters"]) == (60, 0, 0)
    # Each kill cuts off at most the six pages under way, and each of those is fetched once more.
    assert result["requests"] <= 60 + 6 * kills
    assert result["most for one page"] <= 1 + kills
    assert result["most at once"] <= 6
    assert result["most in a second"] <= 10


def test_killed_while_pages_hang(place: tuple[Runtime, Service, Site]):
    """Killed while some pages hang and others are warmed beside them: visitors get every page as HIT in the end, none is lost."""
    runtime, service, control = place
    service.register()
    gate = threading.Event()
    hanging, good = [f"/h{n}" for n in range(6)], [f"/g{n}" for n in range(30)]
    control.pages |= {path: Page(gate=gate) for path in hanging}
    batch = service.preload(*hanging, *good)["preload_batch_id"]
    until(lambda: sum(control.counts[path] for path in good) >= 5)
    runtime.kill()
    gate.set()
    runtime.start()
    result = service.wait_until_finished(batch)
    assert (result["total"], result["done"]) == (36, 36)
    assert service.ask("status")["queue_depth"] == 0
    assert max(control.counts.values()) <= 4


def test_limits(place: tuple[Runtime, Service, Site]):
    """The site gets no more requests at once, in a second and in a minute than the zone allows; then a new version is deployed."""
    first, service, control = place
    service.register(preload_rpm_limit=40, preload_on_deployment=True)
    control.pages |= {f"/p{n}": Page(wait_s=0.2 * (n % 4)) for n in range(60)}
    service.preload(*(f"/p{n}" for n in range(60)))
    # An invocation ends when the minute has no request left, and then brings the log out.
    until(lambda: len(service.ask("log?limit=1000")["log"]) >= 40)
    assert control.most_within(60.0) <= 40
    assert control.most_at_once <= 6
    assert control.most_within(1.0) <= 10

    service.tick()
    first.kill()
    control.reset()
    address = service.site_url.removeprefix("http://")
    webhook = f"ALERT_WEBHOOK_URL={service.site_url}/webhook"
    variables = [f"--var={each}" for each in (f"ALLOW_PRIVATE_HOSTS={address}", webhook, "DEPLOYMENT_ID=two")]
    again = Runtime(first.state, *OPTIONS, *variables)
    try:
        service.runtime = again.start()
        check_new_version(service, control)
    finally:
        again.kill()


def check_new_version(service: Service, control: Site) -> None:
    """It warms the site again, serves the command line, and posts an incident to the webhook."""
    service.register(preload_on_deployment=True, preload_retry_max=0)
    service.tick()
    until(lambda: [row["trigger_name"] for row in service.log("/")] == ["deployment"])

    control.pages |= {"/gone": Page(404)}
    urls = [part for path in ("/a", "/gone") for part in ("--url", service.site_url + path)]
    endpoint = service.runtime.url.replace("127.0.0.1", "edge-preload.localhost")
    command = [
        *COMMAND,
        "preload",
        "--zone",
        service.zone,
        "--endpoint",
        endpoint,
        "--priority",
        "100",
        "--wait",
        *urls,
    ]
    environment = ENVIRONMENT | {"SLUICE_SIGNING_KEY": KEY}
    done = subprocess.run(command, capture_output=True, env=environment, check=False, timeout=PATIENCE_S)
    assert (done.returncode, done.stderr) == (0, b"1 done, 1 gone\n")

    control.pages.clear()
    control.default = Page(500)
    service.preload(*(f"/bad{n}" for n in range(9)), priority=100)
    until(lambda: "breaker_open" in told_to_webhook(control))


def told_to_webhook(control: Site) -> list[str]:
    posted = control.pages.get("posted", Page(body=b""))
    assert isinstance(posted, Page)
    return [json.loads(line)["kind"] for line in posted.body.splitlines()]
