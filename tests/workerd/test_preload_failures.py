"""Every kind of failure, the breaker, dead letters, alerts and triggers, in workerd with a clock that the test moves."""

import gzip
import json
import secrets
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from runtime import Runtime, until
from workerd.preload_site import Page, Service, Site, SiteRequest, site
from workerd.recording_origin import RecordingOrigin, Sent, recording_origin


@pytest.fixture(name="place")
def _place(preload: Runtime, name: str) -> Iterator[tuple[Service, Site]]:
    with site() as (control, address):
        service = Service(preload, address, name)
        with service.standing_clock():
            yield service, control
        service.retire()


def counts(batch: dict[str, Any]) -> dict[str, int]:
    return {name: batch[name] for name in ("queued", "done", "failed", "gone", "skipped", "dropped") if batch[name]}


def has_lines(service: Service, lines: int) -> bool:
    return len(service.log("/a")) == lines


def has_requests(control: Site, requests: int) -> bool:
    return len(control.requests) == requests


def test_server_error(place: tuple[Service, Site]):
    """5xx: retried after 5, 25 and 125 s, then a dead letter, which is replayed within an hour and succeeds."""
    service, control = place
    service.register(preload_circuit_breaker_threshold=50)
    control.pages["/a"] = Page(503)
    batch = service.preload("/a")["preload_batch_id"]
    for attempt, delay_s in enumerate((5, 25, 125), start=1):
        until(partial(has_lines, service, attempt))
        service.tick()
        assert control.count("/a") == attempt
        service.advance(delay_s)
    assert counts(service.wait_until_finished(batch)) == {"failed": 1}
    until(lambda: service.statuses("/a") == ["retry", "retry", "retry", "failed"])
    assert service.ask("failed")["failed"][0]["reason"] == "status 503"
    control.pages["/a"] = Page()
    service.advance(3601)
    until(lambda: service.statuses("/a")[-1] == "warmed")
    assert service.ask("failed")["count"] == 0


def test_gone(place: tuple[Service, Site]):
    """404 and 410: not retried, logged as gone."""
    service, control = place
    service.register()
    control.pages |= {"/a": Page(404), "/b": Page(410), "/c": Page(403)}
    assert counts(service.warm("/a", "/b", "/c")) == {"gone": 2, "failed": 1}
    until(lambda: service.statuses("/a") == service.statuses("/b") == ["gone"])
    assert control.counts == {"/a": 1, "/b": 1, "/c": 1}


@pytest.fixture(name="silent", scope="module", autouse=True)
def _silent(preload: Runtime) -> Iterator[tuple[Service, str]]:
    """A page that does not reply the first time; requested when the module begins, so that no test waits for it."""
    over = threading.Event()
    with site() as (control, address):
        service = Service(preload, address, secrets.token_hex(8))
        service.register()
        gates = iter([over])
        control.pages["/a"] = lambda _request: Page(gate=next(gates, None))
        yield service, service.preload("/a")["preload_batch_id"]
        over.set()
        service.retire()


def test_timeout(silent: tuple[Service, str]):
    """No response within 30 s is a failure that is retried."""
    service, batch = silent
    row = until(lambda: service.log("/a"))[0]
    assert (row["status"], row["http_status"]) == ("retry", None)
    assert "within 30 s" in row["detail"]
    service.advance(21)
    assert counts(service.wait_until_finished(batch)) == {"done": 1}


def test_lost_connection(preload: Runtime, name: str):
    """A page whose connection is always lost costs the site four requests; visitors keep the copy that there is."""
    with recording_origin() as origin:
        service = Service(preload, origin.address, name)
        with service.standing_clock():
            service.register()
            service.warm("/a")
            origin.received.clear()
            origin.scripts["/a"] = Sent(drop=True)
            batch = service.preload("/a")["preload_batch_id"]
            for requests, delay_s in ((2, 25), (3, 125)):
                until(partial(has_received, origin, requests))
                until(partial(has_lines, service, requests + 1))
                service.advance(delay_s)
            assert counts(service.wait_until_finished(batch)) == {"failed": 1}
            assert origin.count("/a") == 4
        service.retire()


def has_received(origin: RecordingOrigin, requests: int) -> bool:
    return origin.count("/a") == requests


def test_hanging_pages(place: tuple[Service, Site]):
    """Six pages hang, before all others: these are warmed meanwhile, so visitors get them as HIT; then those that hung."""
    service, control = place
    service.register()
    gate = threading.Event()
    hanging, good = [f"/h{n}" for n in range(6)], [f"/g{n}" for n in range(30)]
    control.pages |= {path: Page(gate=gate) for path in hanging}
    batch = service.preload(*hanging, *good)["preload_batch_id"]
    until(lambda: service.batch(batch)["done"] == len(good))
    assert service.ask("status")["breaker"]["state"] == "closed"
    assert max(control.counts[path] for path in hanging) <= 2
    gate.set()

    def is_finished() -> bool:
        service.advance(5)
        return bool(service.batch(batch)["state"] == "finished")

    until(is_finished)
    assert counts(service.batch(batch)) == {"done": 36}
    assert {control.counts[path] for path in good} == {1}


def test_bucket_fails(place: tuple[Service, Site]):
    """R2 refuses twice: stored at the third try; three times: only the edge has the page."""
    service, _ = place
    service.register()
    service.set(bucket_failures=2)
    service.warm("/a")
    service.set(bucket_failures=3)
    service.warm("/b")
    until(lambda: (service.statuses("/a"), service.statuses("/b")) == (["warmed"], ["edge_only"]))


def test_too_many(place: tuple[Service, Site]):
    """429: retried when Retry-After says."""
    service, control = place
    service.register()
    answers = [Page(429, headers={"Retry-After": "100"}), Page()]
    control.pages["/a"] = lambda _request: answers.pop(0)
    batch = service.preload("/a")["preload_batch_id"]
    until(lambda: service.statuses("/a") == ["retry"])
    service.advance(90)
    assert control.count("/a") == 1
    service.advance(11)
    assert counts(service.wait_until_finished(batch)) == {"done": 1}


def test_overflow(place: tuple[Service, Site]):
    """A full queue drops the lowest priorities and logs that."""
    service, _ = place
    service.register(preload_queue_max_depth=2)
    service.admin("POST", "pause")
    low = service.preload("/1", "/2", priority=10)["preload_batch_id"]
    service.preload("/3", priority=90)
    assert counts(service.batch(low)) == {"queued": 1, "dropped": 1}
    service.tick()
    until(lambda: service.statuses("/2") == ["queue_overflow"])


def test_breaker(place: tuple[Service, Site]):
    """Three failures in a row open it; failed probes double the backoff; a good one closes it; each alert comes once."""
    service, control = place
    service.register(preload_max_concurrency=1, preload_retry_max=10)
    paths = [f"/{n}" for n in range(8)]
    control.pages |= {path: Page(500) for path in paths}
    batch = service.preload(*paths)["preload_batch_id"]

    def breaker() -> Any:
        return service.ask("status")["breaker"]

    until(lambda: breaker()["state"] == "open")
    assert len(control.requests) == 3
    for probe, backoff_s in ((1, 30), (2, 60), (3, 120)):
        assert breaker()["backoff_s"] == backoff_s
        service.advance(backoff_s - 3)
        assert len(control.requests) == 2 + probe
        service.advance(4)
        until(partial(has_requests, control, 3 + probe))
        until(lambda: breaker()["state"] == "open")
    control.pages.clear()
    service.advance(241)
    until(lambda: breaker()["state"] == "closed")
    service.advance(700)
    assert counts(service.wait_until_finished(batch)) == {"done": 8}
    service.advance(301)
    until(lambda: all(each["resolved_at"] for each in service.ask("alerts")["alerts"]))
    assert sorted(each["kind"] for each in service.ask("alerts")["alerts"]) == ["breaker_open", "failure_rate"]


def test_purge(place: tuple[Service, Site]):
    """The pages of a purged tag are fetched again with the trigger post-purge; the others stay."""
    service, control = place
    service.register()
    control.pages |= {path: Page(headers={"Cache-Tag": "post:1,term:2", "ETag": '"1"'}) for path in ("/a", "/b")}
    service.warm("/a", "/b", "/c")
    control.reset()
    reply = service.purge(tags=["post:1"])
    assert reply["purge_id"].startswith("purge-")
    assert (reply["status"], reply["tags_affected"]) == ("accepted", ["post:1"])
    until(lambda: control.counts == {"/a": 1, "/b": 1})
    assert all("if-none-match" not in request.headers for request in control.requests)
    until(lambda: [row["trigger_name"] for row in service.log("/a")] == ["manual", "post-purge"])


def test_unchanged(place: tuple[Service, Site]):
    """A page that has not changed costs the site a 304."""
    service, control = place
    service.register()

    def page(request: SiteRequest) -> Page:
        return Page(304 if request.headers.get("if-none-match") == '"1"' else 200, headers={"ETag": '"1"'})

    control.pages["/a"] = page
    service.warm("/a")
    service.warm("/a")
    until(lambda: service.statuses("/a") == ["warmed", "unchanged"])


def test_schedule(place: tuple[Service, Site]):
    """Every half hour the known pages are warmed again."""
    service, control = place
    service.register()
    service.warm("/a")
    service.tick()
    assert control.counts == {"/a": 1}
    service.advance(1801)
    until(lambda: control.count("/a") == 2)
    until(lambda: [row["trigger_name"] for row in service.log("/a")] == ["manual", "scheduled"])


def test_sitemap(place: tuple[Service, Site]):
    """A crawl goes from robots.txt over an index to a compressed sitemap; an XML bomb is refused."""
    service, control = place
    service.register()
    url = service.site_url
    pages = "".join(f"<url><loc>{url}/p{n}</loc></url>" for n in range(5))
    urlset = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{pages}</urlset>'
    bomb = '<!DOCTYPE a [<!ENTITY b "cc"><!ENTITY d "&b;&b;">]><urlset><url><loc>&d;</loc></url></urlset>'
    index = "".join(
        f"<sitemap><loc>{each}</loc></sitemap>" for each in (f"{url}/1.xml", f"{url}/bomb.xml", "http://10.0.0.1/s.xml")
    )
    control.pages |= {
        "/sitemap.xml": Page(404),
        "/robots.txt": Page(body=f"User-agent: *\nSitemap: {url}/index.xml\n".encode()),
        "/index.xml": Page(body=f"<sitemapindex>{index}</sitemapindex>".encode()),
        "/1.xml": Page(body=gzip.compress(urlset.encode())),
        "/bomb.xml": Page(body=bomb.encode()),
    }
    batch = service.admin("POST", "sitemap", {}).json()["preload_batch_id"]
    assert counts(service.wait_until_finished(batch)) == {"done": 5}
    until(lambda: service.statuses("/bomb.xml") == ["sitemap_failed"])
    assert {row["trigger_name"] for n in range(5) for row in service.log(f"/p{n}")} == {"sitemap"}


def test_large_sitemap(place: tuple[Service, Site]):
    """Other calls are answered while a large file is taken in: they see the queue grow."""
    service, control = place
    addresses = 10_000
    service.register(
        preload_queue_max_depth=2 * addresses,
        preload_rpm_limit=1,
        preload_rps_limit=1,
        preload_queue_backend="durable-object",
    )
    pages = "".join(f"<url><loc>{service.site_url}/p{n}</loc></url>" for n in range(addresses))
    control.pages["/sitemap.xml"] = Page(body=f"<urlset>{pages}</urlset>".encode())
    service.admin("POST", "sitemap", {})
    depths = {0}

    def is_taken_in() -> bool:
        depths.add(service.ask("status")["queue_depth"])
        return max(depths) >= addresses - 10

    until(is_taken_in)
    assert [depth for depth in depths if 0 < depth < addresses - 10]


def test_manual_and_redirects(place: tuple[Service, Site]):
    """Pages by hand: the target of a redirect is warmed; a redirect into a private network is not followed."""
    service, control = place
    service.register()
    control.pages |= {
        "/old": Page(301, headers={"Location": "/new"}),
        "/out": Page(302, headers={"Location": "http://169.254.169.254/latest/meta-data/"}),
        "/private": Page(headers={"Set-Cookie": "a=1"}),
    }
    urls = [service.site_url + path for path in ("/old", "/out", "/private", "/cart/")]
    batch = service.admin("POST", "enqueue", {"urls": urls}).json()["preload_batch_id"]
    assert counts(service.wait_until_finished(batch)) == {"done": 1, "skipped": 4}
    assert control.counts == {"/old": 1, "/new": 1, "/out": 1, "/private": 1}
    until(lambda: "redirects to http://169.254.169.254" in service.log("/out")[0]["detail"])


def test_pause_cancel_and_restore(place: tuple[Service, Site]):
    """The operator pauses, cancels, resumes, and restores an earlier configuration."""
    service, control = place
    service.register(preload_rps_limit=4)
    service.admin("POST", "pause")
    batch = service.preload("/a", "/b")["preload_batch_id"]
    assert service.ask("status")["paused"] is True
    cancelled = service.admin("POST", f"batches/{batch}/cancel").json()
    assert (cancelled["cancelled"], cancelled["state"]) == (2, "finished")
    service.admin("POST", "resume")
    service.warm("/c")
    assert control.counts == {"/c": 1}
    service.register(preload_rps_limit=5)
    versions = service.ask("config/versions")["versions"]
    assert [each["config"]["preload_rps_limit"] for each in versions] == [5, 4]
    restored = service.admin("POST", "config/versions/1/restore")
    assert (restored.status_code, service.ask("config")["config"]["preload_rps_limit"]) == (200, 4)
    assert json.loads(restored.text)["version"] == 3
