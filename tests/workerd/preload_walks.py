"""What a site and the operator do with edge-preload; each reply is checked against the API document."""

import uuid
from typing import Any

from runtime import Runtime, until
from sluice.services.preload.http import access, configure
from unit.services.metric_rules import find_violations
from workerd.api_walk import TOKEN, Walk, signature
from workerd.origin import Answer, Origin

ZONE = "/api/v1/zones/{zone}"
BATCH = f"{ZONE}/batches/{{id}}"
SITEMAP = "<urlset><url><loc>{}</loc></url></urlset>"


def register(runtime: Runtime, origin: Origin) -> None:
    """Register the zone of the examples, with its pages at the origin; it is paused, so that no example sends a request."""
    zone = f"/api/v1/zones/{access.ZONE.example}"
    with runtime.client("edge-preload") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        client.put(
            f"{zone}/config", json={**configure.CONFIGURE.example, "origin_url": origin.url("")}
        ).raise_for_status()
        client.post(f"{zone}/pause").raise_for_status()


class Visit:
    """A separate zone with its pages at the origin."""

    def __init__(self, walk: Walk, origin: Origin, name: str) -> None:
        self.walk = walk
        self.origin = origin
        self.name = name
        self.values = {"zone": name}
        self.config("PUT", json={"site_url": origin.url(""), "preload_retry_max": 0, **CONFIG})

    def config(self, method: str, **more: Any) -> Any:
        return self.ask(method, f"{ZONE}/config", **more)

    def ask(self, method: str, path: str, **more: Any) -> Any:
        """Return the reply to a request that must succeed."""
        reply = self.walk(method, path, self.values, **more)
        assert reply.status_code < 300, reply.text
        return reply.json()

    def url(self, path: str, answer: Answer | None = None) -> str:
        return self.origin.serve(f"/{self.name}{path}", answer or Answer(b"<html>a page</html>"))

    def post_signed(self, what: str, **body: Any) -> Any:
        request = {"zone_id": self.name, "idempotency_key": f"{what}-{uuid.uuid4()}", **body}
        first, again = (self.walk("POST", f"/api/v1/{what}", json=request) for _ in range(2))
        assert (first.status_code, again.headers["X-Idempotent-Replayed"]) == (202, "true")
        return first.json()

    def wait_until_finished(self, batch_id: str) -> Any:
        return self.walk.until(BATCH, self.values | {"id": batch_id}, "finished", member="state")


# Every page has two forms, and however many fail, the others are fetched.
CONFIG = {"cache_device_variants": True, "preload_circuit_breaker_threshold": 100}


def warm_pages(walk: Walk, origin: Origin, name: str) -> None:
    """Pages that succeed and pages that fail: progress, log, alerts, failed pages replayed and deleted, a purge."""
    visit = Visit(walk, origin, name)
    bad = [visit.url(f"/bad/{number}", Answer(status=500)) for number in range(3)]
    accepted = visit.post_signed("preload", urls=[visit.url("/good"), *bad], trigger="post-purge")
    done = visit.wait_until_finished(accepted["preload_batch_id"])
    assert (done["done"], done["failed"]) == (2, 6)
    batch = visit.values | {"id": done["preload_batch_id"]}
    headers = signature("GET", f"/api/v1/zones/{name}/batches/{batch['id']}")
    assert walk("GET", BATCH, batch, headers=headers).json()["state"] == "finished"
    assert until(lambda: visit.ask("GET", f"{ZONE}/alerts")["alerts"])[0]["kind"] == "failure_rate"
    assert until(lambda: len(visit.ask("GET", f"{ZONE}/log", params={"limit": 9})["log"]) == 8)
    assert visit.ask("GET", f"{ZONE}/pages")["pages"][0]["size_bytes"]
    assert visit.ask("GET", f"{ZONE}/status")["alerts"] == ["failure_rate"]
    failed = visit.ask("GET", f"{ZONE}/failed", params={"limit": 5})
    assert (failed["count"], len(failed["failed"])) == (6, 5)
    assert visit.ask("POST", f"{ZONE}/failed/replay", json={"ids": [failed["failed"][0]["id"]]}) == {"replayed": 1}
    assert visit.ask("DELETE", f"{ZONE}/failed", json={})["deleted"] >= 5
    purge = visit.values | {"id": visit.post_signed("purge", urls=[visit.url("/good")])["purge_id"]}
    assert until(lambda: walk("GET", f"{ZONE}/purges/{{id}}", purge).json()["state"] == "done")
    agent = {"idempotency_key": str(uuid.uuid4()), "origin_cron_path": "/cron"}
    assert visit.ask("PUT", f"{ZONE}/agent", json=agent)["origin_cron_path"] == "/cron"
    visit.config("DELETE")
    assert walk("GET", f"{ZONE}/status", visit.values).status_code == 404


def operate_zone(walk: Walk, origin: Origin, name: str) -> None:
    """A paused zone, its queue, a cancelled batch, a sitemap, an earlier configuration."""
    visit = Visit(walk, origin, name)
    assert name in visit.ask("GET", "/api/v1/zones")["zones"]
    assert visit.ask("POST", f"{ZONE}/pause")["paused"]
    facts = {"monthly_pageviews": 1000, "published_at": 1_794_787_200, "post_id": 123}
    assert visit.ask("PUT", f"{ZONE}/pages", json={"pages": [{"url": visit.url("/a"), **facts}]}) == {"learned": 1}
    accepted = visit.ask("POST", f"{ZONE}/enqueue", json={"urls": [visit.url("/a")]})
    waiting = visit.ask("GET", f"{ZONE}/queue")
    assert [sum(band["waiting"] for band in waiting["by_priority"]), waiting["next"][0]["post_id"]] == [2, 123]
    batch = visit.values | {"id": accepted["preload_batch_id"]}
    assert walk("GET", BATCH, batch).json()["eta_s"] is None
    assert walk("POST", f"{BATCH}/cancel", batch).json()["cancelled"] == 2
    assert visit.ask("POST", f"{ZONE}/enqueue", json={"all": True})["enqueued"]
    visit.url("/sitemap.xml", Answer(SITEMAP.format(visit.url("/b")).encode()))
    crawl = visit.ask("POST", f"{ZONE}/sitemap", json={"url": origin.url(f"/{name}/sitemap.xml")})
    assert not visit.ask("POST", f"{ZONE}/resume")["paused"]
    assert visit.ask("POST", f"{ZONE}/rules/test", json={"url": "https://elsewhere.example/"})["decision"] == "pass"
    assert visit.ask("GET", f"{ZONE}/observed")["observed"] == []
    assert visit.ask("GET", f"{ZONE}/traffic")["coverage"]["pages"]
    page = walk("GET", "/metrics/prometheus").text
    assert "sluice_preload_pages{" in page
    assert find_violations(page) == []
    assert visit.ask("POST", f"{ZONE}/purge", json={"tags": ["post:9"]})["status"] == "accepted"
    assert visit.wait_until_finished(crawl["preload_batch_id"])["total"] == 2
    own_key = {"site_url": origin.url(""), "signing_key": "a-key-of-this-zone-alone", "preload_enabled": False}
    assert visit.config("PUT", json=own_key)["own_signing_key"]
    by_schedule = {"all": True, "trigger": "scheduled"}
    assert walk("POST", f"{ZONE}/enqueue", visit.values, json=by_schedule).status_code == 409
    versions = visit.ask("GET", f"{ZONE}/config/versions")["versions"]
    assert [each["version"] for each in versions] == [2, 1]
    restored = walk("POST", f"{ZONE}/config/versions/{{version}}/restore", visit.values | {"version": "1"}).json()
    assert restored["config"] == visit.config("GET")["config"] == versions[1]["config"]
    visit.config("DELETE")
    assert walk("GET", "/{file}", {"file": "style.css"}).headers["Content-Type"].startswith("text/css")
    script = walk("GET", "/{folder}/{file}", {"folder": "ui", "file": "api.js"})
    assert script.headers["Content-Type"].startswith("text/javascript")
    assert walk("GET", "/{file}", {"file": "nothing.css"}).status_code == 404
