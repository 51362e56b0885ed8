"""The demo's site, hours later: as warm as at first, with the same page that fails and no alert."""

from typing import Any

import httpx
import pytest

from ports import find_free_port
from runtime import ROOT, Runtime, open_client, until
from workerd.conftest import StartRuntime

HOURS = 13  # so that every page has expired twice
STEP_S = 600
PAGES = 20


@pytest.fixture(name="demo", scope="module")
def _demo(start: StartRuntime) -> Runtime:
    """The demo of edge-preload alone, with a clock that the test moves."""
    config = str(ROOT / "tests/workerd/preload/wrangler.toml")
    runtime = start("--demo", "--port", str(find_free_port()), "--config", config)
    until(lambda: any(line.startswith("The demo is filled") for line in runtime.lines))
    return runtime


def ask(client: httpx.Client, name: str) -> dict[str, Any]:
    reply = client.get(f"/api/v1/zones/demo/{name}").raise_for_status()
    shown: dict[str, Any] = reply.json()
    return shown


def test_the_site_stays_warm(demo: Runtime):
    """With the minute's cron every page is always fresh, the failing page stays in sight, and no alert is raised."""
    with open_client(demo.url, Host="edge-preload.localhost", Authorization="Bearer demo-operator-token") as client:
        until(lambda: ask(client, "traffic")["coverage"]["warm"] == PAGES and ask(client, "failed")["count"] == 1)
        for _ in range(HOURS * 3600 // STEP_S):
            client.put("/test", params={"advance_s": STEP_S}).raise_for_status()
            assert ask(client, "traffic")["coverage"]["warm"] == PAGES
            assert demo.cron("edge-preload", "* * * * *").status_code == 200
            until(lambda: not ask(client, "status")["queue_depth"] and ask(client, "failed")["count"] == 1)
            assert ask(client, "status")["alerts"] == []
        assert ask(client, "traffic")["coverage"] == {"pages": PAGES, "warm": PAGES, "stale": 0, "cold": 0}
        assert ask(client, "alerts")["alerts"] == []
        batches = ask(client, "status")["batches"]
    assert any(batch["trigger"] == "sitemap" and batch["gone"] == 1 for batch in batches)
    assert sum(batch["trigger"] == "scheduled" and batch["done"] == PAGES for batch in batches) >= 2
