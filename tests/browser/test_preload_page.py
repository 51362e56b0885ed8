"""The preload page, as an operator uses it."""

import math
import re
import secrets

from playwright.sync_api import Page, expect

from browser.conftest import SITE_HOST, OpenPage
from runtime import Runtime, until
from workerd.preload_site import TOKEN, Service, Site
from workerd.preload_site import Page as SitePage

WORKER = "edge-preload"


def signed_in(page: Page, zone: str | None = None) -> Page:
    page.get_by_label("Operator token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_label("Zone", exact=True)).to_be_visible()
    if zone:
        page.get_by_label("Zone", exact=True).select_option(zone)
    return page


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def confirm(page: Page, action: str) -> None:
    page.get_by_role("dialog").get_by_role("button", name=action).click()


def test_signing_in(visit: OpenPage):
    """A wrong token is refused at its field. The right one stays in this tab: after a reload too, and nowhere else."""
    person = visit(WORKER, troubles=("status of 401",))
    page = person.page
    person.look("preload-sign-in")
    page.get_by_label("Operator token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The service refuses this token.")).to_be_visible()
    signed_in(page)
    assert TOKEN not in page.url
    assert TOKEN not in page.evaluate("JSON.stringify([{ ...localStorage }, document.cookie])")
    assert TOKEN not in page.content()
    page.reload()
    expect(page.get_by_label("Zone", exact=True)).to_be_visible()
    expect(visit(WORKER).page.get_by_label("Operator token")).to_have_value("")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Operator token")).to_have_value("")
    assert TOKEN not in page.evaluate("JSON.stringify({ ...sessionStorage })")


def test_new_zone(visit: OpenPage):
    """A zone is registered by hand and removed again; what is wrong with it is said at its field."""
    person = visit(WORKER, troubles=("status of 400",))
    page = signed_in(person.page)
    page.get_by_role("button", name="New zone").click()
    name = f"made-{secrets.token_hex(4)}"
    page.get_by_label("Zone id").fill(name)
    page.get_by_label("Address of the site").fill("ftp://x")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_label("Address of the site")).to_have_attribute("aria-invalid", "true")
    person.look("preload-new-zone")
    page.get_by_label("Address of the site").fill("https://www.shop.example")
    page.get_by_role("button", name="Register").click()
    expect(page.get_by_text("The queue is empty.")).to_be_visible()
    expect(page.get_by_label("Zone", exact=True)).to_have_value(name)
    expect(page.get_by_text("No page is known yet.")).to_be_visible()
    person.look("preload-first")
    page.get_by_role("link", name="Warm some pages or crawl the sitemap").click()
    expect(page.get_by_role("tab", name="Batches")).to_have_attribute("aria-selected", "true")
    page.go_back()
    page.get_by_role("link", name="put the Worker in front of the site").click()
    expect(page.get_by_role("tab", name="Set up")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_text('{ pattern = "www.shop.example/*", zone_name = "shop.example" }')).to_be_visible()
    tab(page, "Settings")
    page.get_by_role("button", name="Remove this zone").click()
    person.look("preload-confirm")
    confirm(page, "Remove permanently")
    expect(page.locator(f"option[value={name}]")).to_have_count(0)


def test_batch_and_replay(visit: OpenPage, zone: tuple[Service, Site]):
    """A batch is asked for and watched to its end; a page that failed is replayed and comes."""
    service, control = zone
    control.pages["/broken"] = SitePage(403)
    person = visit(WORKER)
    page = signed_in(person.page, service.zone)
    tab(page, "Batches")
    paths = ("/", "/about", "/blog", "/broken")
    page.get_by_label("Addresses, one per line").fill("\n".join(service.site_url + path for path in paths))
    page.get_by_role("button", name="Warm", exact=True).click()
    expect(page.get_by_text("4 pages in the queue")).to_be_visible()
    expect(page.get_by_role("cell", name="4 of 4, 3 done, 1 failed")).to_be_visible()
    expect(page.get_by_role("cell", name="finished")).to_be_visible()
    person.look("preload-batches")
    tab(page, "Failed")
    expect(page.get_by_role("cell", name=f"{service.site_url}/broken", exact=True)).to_be_visible()
    person.look("preload-failed")
    control.pages["/broken"] = SitePage()
    page.get_by_role("button", name=f"Replay {service.site_url}/broken").click()
    expect(page.get_by_text("1 page back in the queue")).to_be_visible()
    expect(page.get_by_text("No page has failed", exact=True)).to_be_visible()
    tab(page, "Batches")
    expect(page.get_by_role("cell", name="1 of 1, 1 done")).to_be_visible()
    tab(page, "Pages")
    expect(page.get_by_role("cell", name=f"{service.site_url}/broken", exact=True)).to_be_visible()
    person.look("preload-pages")
    page.get_by_label("Search the pages").fill("/blog")
    rows = page.get_by_role("region", name="Stored copies").get_by_role("row")
    expect(rows).to_have_count(2)
    asked = len(control.requests)
    page.get_by_role("button", name=f"Warm {service.site_url}/blog").click()
    expect(page.get_by_text("/blog is in the queue.")).to_be_visible()
    until(lambda: len(control.requests) > asked)
    page.get_by_role("button", name=f"Purge {service.site_url}/blog").click()
    confirm(page, "Purge")
    expect(page.get_by_text(re.compile("^Purged."))).to_be_visible()
    expect(page.get_by_role("link", name="Open")).to_have_attribute("href", f"{service.site_url}/blog")
    page.get_by_role("button", name=f"Why? {service.site_url}/blog").click()
    expect(page.get_by_label("Address")).to_have_value(f"{service.site_url}/blog")


def test_pause_and_cancel(visit: OpenPage, zone: tuple[Service, Site]):
    """Paused, pages wait by priority; a batch is cancelled; resumed, the zone is idle again."""
    service, control = zone
    person = visit(WORKER)
    page = signed_in(person.page, service.zone)
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused: pages are added to the queue")).to_be_visible()
    service.admin("POST", "enqueue", {"urls": [f"{service.site_url}/{n}" for n in range(7)]})
    service.admin("POST", "enqueue", {"urls": [f"{service.site_url}/low{n}" for n in range(3)], "priority": 20})
    row = page.get_by_role("row", name=re.compile("100 or more"))
    expect(row.get_by_role("cell", name="7", exact=True).first).to_be_visible()
    person.look("preload-paused")
    tab(page, "Batches")
    expect(page.get_by_role("cell", name="not progressing")).to_have_count(2)
    page.get_by_role("button", name="Cancel").first.focus()
    held = page.evaluate("document.activeElement.ariaLabel")
    service.admin("POST", "enqueue", {"urls": [f"{service.site_url}/late"]})
    expect(page.get_by_role("cell", name="not progressing")).to_have_count(3)
    assert page.evaluate("document.activeElement.ariaLabel") == held, "the list was drawn anew and the focus is lost"
    page.keyboard.press("Enter")
    confirm(page, "Cancel the batch")
    expect(page.get_by_role("cell", name="3 of 3, 3 cancelled")).to_be_visible()
    for _ in range(2):
        left = page.get_by_role("button", name="Cancel").count()
        page.get_by_role("button", name="Cancel").first.click()
        confirm(page, "Cancel the batch")
        expect(page.get_by_role("button", name="Cancel")).to_have_count(left - 1)
    expect(page.get_by_role("cell", name="7 of 7, 7 cancelled")).to_be_visible()
    tab(page, "Overview")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("idle", exact=True)).to_be_visible()
    expect(page.get_by_text("Warming reaches the origin: it answered 200")).to_be_visible()
    # The page has tried that once; none of the cancelled pages was asked for.
    assert [request.path for request in control.requests] == ["/"]


def test_banners(visit: OpenPage, zone: tuple[Service, Site]):
    """An origin that fails opens the breaker: an error banner; a failure rate above 10 % is a warning."""
    service, control = zone
    control.pages |= {f"/{n}": SitePage(500) for n in range(4)}
    service.admin("POST", "enqueue", {"urls": [f"{service.site_url}/{n}" for n in range(4)]})
    until(lambda: {"breaker_open", "failure_rate"} <= set(service.ask("status")["alerts"]))
    person = visit(WORKER)
    page = signed_in(person.page, service.zone)
    expect(page.get_by_role("alert").filter(has_text="The circuit breaker is open")).to_be_visible()
    expect(page.get_by_text(re.compile(r"100 % of the fetches in the last 5 minutes failed"))).to_be_visible()
    expect(page.get_by_role("cell", name="breaker open", exact=True)).to_be_visible()
    person.look("preload-trouble")


def test_sitemap(visit: OpenPage, zone: tuple[Service, Site]):
    """A sitemap is crawled; one of another host is refused at its field."""
    service, control = zone
    urls = "".join(f"<url><loc>{service.site_url}/page-{n}</loc></url>" for n in range(24))
    control.pages |= {"/page-7": SitePage(404), "/page-15": SitePage(403)}
    xml = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    control.pages["/sitemap.xml"] = SitePage(body=xml.encode(), headers={"Content-Type": "application/xml"})
    person = visit(WORKER, troubles=("status of 400",))
    page = signed_in(person.page, service.zone)
    tab(page, "Batches")
    page.get_by_label("Address of the sitemap").last.fill("https://other.example/sitemap.xml")
    page.get_by_role("button", name="Crawl").click()
    expect(page.get_by_text("not on one of the zone's hosts")).to_be_visible()
    page.get_by_label("Address of the sitemap").last.fill("")
    page.get_by_role("button", name="Crawl").click()
    expect(page.get_by_role("cell", name="24 of 24, 22 done, 1 failed, 1 gone")).to_be_visible()
    tab(page, "Overview")
    expect(
        page.get_by_role("img", name=re.compile("^Fetches in each .*: 22 warmed, 1 other, 1 failed"))
    ).to_be_visible()
    expect(page.locator(".figure", has_text="Warm pages")).to_contain_text("22 of 22")
    expect(page.get_by_role("region", name="Failing pages")).to_contain_text("/page-15")
    person.look("preload-overview")
    page.set_viewport_size({"width": 1440, "height": 900})
    chart = page.get_by_role("img", name=re.compile("^Fetches in each 2 min"))
    chart.focus()
    page.keyboard.press("Home")
    expect(page.locator(".reading").first).to_have_text(re.compile("0 warmed, 0 other, 0 failed"))
    page.get_by_role("group", name="Time window").get_by_role("button", name="7 days").click()
    expect(page.get_by_role("img", name=re.compile("^Fetches in each 6 h: 22 warmed"))).to_be_visible()
    page.reload()
    expect(page.get_by_role("img", name=re.compile("^Fetches in each 6 h: 22 warmed"))).to_be_visible()


def test_settings(visit: OpenPage, zone: tuple[Service, Site]):
    """Every key is in the form; a mistake is shown where it is; a former version comes back."""
    service, _ = zone
    person = visit(WORKER, troubles=("status of 400",))
    page = signed_in(person.page, service.zone)
    tab(page, "Settings")
    expect(page.get_by_role("heading", name="Settings, version 1")).to_be_visible()
    shown = page.locator("form code").all_inner_texts()
    assert sorted(shown) == sorted(service.ask("config")["config"])
    limit = page.get_by_label("Requests per second")
    limit.fill("0")
    page.get_by_role("button", name="Save").click()
    expect(limit).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Nothing was saved")).to_be_visible()
    person.look("preload-settings")
    limit.fill("7")
    page.get_by_label("Other hosts").fill("www.shop.example")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved: version 2 is active.")).to_be_visible()
    config = service.ask("config")["config"]
    assert (config["preload_rps_limit"], config["hosts"]) == (7, ["www.shop.example"])
    expect(page.get_by_role("cell", name="hosts, preload_rps_limit")).to_be_visible()
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("Version 1 is active again.")).to_be_visible()
    assert service.ask("config")["config"]["preload_rps_limit"] == 10


def test_purge_and_rules(visit: OpenPage, zone: tuple[Service, Site]):
    """A page is purged after a question, and the rules explain what would happen with an address."""
    service, _ = zone
    service.admin("POST", "enqueue", {"urls": [f"{service.site_url}/one"]})
    until(lambda: service.ask("pages?limit=10")["pages"])
    person = visit(WORKER)
    page = signed_in(person.page, service.zone)
    page.get_by_label("Address of the page").fill(f"{service.site_url}/one")
    page.get_by_role("button", name="Purge", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("Purge")
    confirm(page, "Purge")
    expect(page.get_by_text(re.compile("^Purged. In . s no data centre"))).to_be_visible()
    for kind, label, action in (
        ("Everything with a tag", "Tag", "Purge"),
        ("The whole site", None, "Purge everything"),
    ):
        page.get_by_label(kind).check()
        if label:
            page.get_by_label(label, exact=True).fill("post-12")
        page.get_by_role("button", name="Purge", exact=True).click()
        expect(page.get_by_role("dialog")).to_contain_text("Purge")
        confirm(page, action)
        expect(page.get_by_text(re.compile("^Purged. In . s no data centre"))).to_be_visible()
    tab(page, "Rules")
    page.get_by_label("Address").fill(f"{service.site_url}/cart?add-to-cart=1")
    page.get_by_role("button", name="Explain").click()
    expect(page.get_by_role("cell", name="pass", exact=True)).to_be_visible()
    person.look("preload-rules")
    tab(page, "Set up")
    expect(page.get_by_text("SLUICE_WORKER_URL")).to_be_visible()
    person.look("preload-guide")


def test_what_visitors_get(visit: OpenPage, zone: tuple[Service, Site]):
    """After visits the overview says how many of them a copy answered, and how long visitors wait with and without one."""
    service, _ = zone
    service.register(site_url=f"http://{SITE_HOST}", origin_url=service.site_url)
    person = visit(WORKER)
    page = signed_in(person.page, service.zone)
    ratio = page.locator(".figure", has_text="Hit ratio")
    expect(ratio).to_contain_text("no visitor in 24 h")

    def is_counted() -> bool:
        with service.runtime.client(WORKER) as client:
            for path in ("/", f"/{secrets.token_hex(4)}"):
                assert client.get(path, headers={"Host": SITE_HOST}).status_code == 200
        layers = service.ask("traffic")["layers"]
        return bool(layers["edge"]["visits"] and layers["origin"]["visits"])

    def is_shown() -> bool:
        counted = service.ask("traffic")
        texts = {"Hit ratio": f"{math.floor(counted['hit_ratio'] * 1000 + 0.5) / 10:g} %"}
        for name, layer in (("First byte, warm", "edge"), ("First byte, cold", "origin")):
            texts[name] = f"{math.floor(counted['layers'][layer]['mean_ttfb_ms'] + 0.5):,} ms"
        return all(text in page.locator(".figure", has_text=name).inner_text() for name, text in texts.items())

    until(is_counted)
    until(is_shown)
    person.look("preload-overview-visited")


def test_dead_service(visit: OpenPage, zone: tuple[Service, Site]):
    """What was known stays, with a sentence above it; when the service is back, the sentence is gone."""
    service, _ = zone
    person = visit(WORKER, troubles=("ERR_FAILED",))
    page = signed_in(person.page, service.zone)
    expect(page.get_by_text("idle", exact=True)).to_be_visible()
    page.route("**/api/**", lambda route: route.abort())
    expect(page.get_by_text("The service cannot be reached").first).to_be_visible()
    expect(page.get_by_text("idle", exact=True)).to_be_visible()
    page.unroute("**/api/**")
    expect(page.get_by_text("The service cannot be reached")).to_have_count(0)


def test_own_host_alone(runtime: Runtime, zone: tuple[Service, Site]):
    """The page and its files are on the Worker's own host; a zone's host has its own pages, whatever they are called."""
    service, control = zone
    control.pages["/style.css"] = SitePage(body=b"the site's own", headers={"Content-Type": "text/css"})
    with service.client as client:
        assert "text/html" in client.get("/").headers["Content-Type"]
        assert "text/css" in client.get("/style.css").headers["Content-Type"]
        assert client.get("/style.css").headers["Content-Security-Policy"].startswith("default-src 'none'")
        missing = client.get("/nothing.css")
        assert (missing.status_code, missing.json()["detail"]) == (404, "nothing is served at /nothing.css")
    assert service.register(site_url=f"http://{SITE_HOST}", origin_url=service.site_url).status_code == 200
    host = {"Host": SITE_HOST}
    with runtime.client(WORKER) as client:
        for path, own in (("/style.css", b"the site's own"), ("/", b"<html>a page</html>")):
            reply = client.get(path, headers=host)
            assert (reply.status_code, reply.content) == (200, own)
