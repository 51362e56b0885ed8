"""Published lists on the compiler's page: from a form to an address that people subscribe to."""

import contextlib
import re
import secrets
import threading

import httpx
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Route, expect

from browser.conftest import OpenPage
from runtime import PATIENCE_S, Runtime, until
from sluice.core.compiler.published.list_names import check_name
from workerd.origin import Answer, Origin
from workerd.preload_site import TOKEN

WORKER = "adblock-compiler"
OWNER = {"Authorization": f"Bearer {TOKEN}"}


def sign_in(page: Page) -> None:
    page.get_by_label("Operator token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()


def publish(client: httpx.Client, name: str, source: str) -> None:
    body = {"configuration": {"name": name, "sources": [{"source": source}]}}
    assert client.put(f"/lists/{name}", json=body, headers=OWNER).status_code in {201, 202}


def test_the_token_is_asked_for_first(visit: OpenPage):
    """Whoever is no operator learns that before a form is filled; strangers still see all lists."""
    page = visit(WORKER, "/#lists").page
    expect(page.get_by_role("heading", name="Published lists")).to_be_visible()
    page.get_by_role("button", name="New list").click()
    expect(page.get_by_role("heading", name="Sign in as the operator")).to_be_visible()
    expect(page.get_by_label("Name in the address")).to_have_count(0)


def test_from_the_form_to_a_subscription(visit: OpenPage, origin: Origin, runtime: Runtime):
    """A list is published; its page has its addresses, sources, versions and what they differ in, and says why it blocks."""
    name = f"walked-{secrets.token_hex(4)}"
    first = origin.serve(f"/{name}/ads.txt", "||ads.example^\n||shared.example^\n")
    second = origin.serve(f"/{name}/hosts.txt", "0.0.0.0 tracker.example\n0.0.0.0 shared.example\n")
    person = visit(WORKER)
    page = person.page
    page.get_by_label("Address 1", exact=True).fill(first)
    page.get_by_role("button", name="Add an address").click()
    page.get_by_label("Address 2", exact=True).fill(second)
    page.get_by_label("Name of the list").fill(name)
    page.get_by_role("tab", name="Lists").click()
    page.get_by_role("button", name="New list").click()
    sign_in(page)
    expect(page.get_by_label("Name in the address")).to_have_value(name)
    expect(page.get_by_label(re.compile("^dnsmasq"))).to_be_checked()
    person.look("lists-new")
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("fresh", exact=True)).to_be_visible()
    address = page.get_by_role("list", name="Addresses").get_by_text(f"/lists/{name}.dnsmasq").inner_text()
    path = address.partition("/lists/")[2]
    with runtime.client(WORKER) as client:
        assert "tracker.example" in client.get(f"/lists/{path}").text
    programs = {
        "AdGuard Home": "txt",
        "Pi-hole": "pihole",
        "uBlock Origin": "txt",
        "dnsmasq": "dnsmasq",
        "unbound": "unbound",
    }
    for program, ending in programs.items():
        page.get_by_role("tab", name=f"Add to {program}").click()
        expect(page.get_by_role("tabpanel", name=f"Add to {program}")).to_contain_text(f"/lists/{name}.{ending}")
    expect(page.get_by_role("tabpanel", name="Add to unbound")).to_contain_text("dig @127.0.0.1 ads.example")
    page.get_by_label("Domain").fill("deep.tracker.example")
    page.get_by_role("button", name="Ask").click()
    expect(page.get_by_text("By the rule")).to_contain_text("tracker.example")
    contribution = page.get_by_role("region", name="Contribution of each source")
    expect(contribution.get_by_role("row")).to_have_count(3)
    origin.serve(f"/{name}/ads.txt", "||ads.example^\n||shared.example^\n||new.example^\n")
    page.get_by_role("button", name="Rebuild now").click()
    expect(page.get_by_role("region", name="Versions").get_by_role("row")).to_have_count(3)
    expect(page.get_by_role("region", name="Changed rules")).to_contain_text("new.example")
    person.look("lists-page")
    page.get_by_role("tab", name="Lists").click()
    page.get_by_role("button", name="New list").click()
    expect(page.get_by_text("There is a list of this name.")).to_be_visible()


def test_a_list_before_its_first_version(visit: OpenPage, origin: Origin):
    """While the first build runs, the page has the title that the person gave, the name in the address, and nothing stray."""
    mark = secrets.token_hex(4)
    gate = threading.Event()
    source = origin.serve(f"/{mark}.txt", Answer(b"||ads.example^\n", gate=gate))
    person = visit(WORKER)
    page = person.page
    page.get_by_label("Address 1", exact=True).fill(source)
    page.get_by_label("Name of the list").fill(f"Bücher & Straße № {mark}")
    page.get_by_role("tab", name="Lists").click()
    page.get_by_role("button", name="New list").click()
    sign_in(page)
    name = f"buecher-strasse-no-{mark}"
    expect(page.get_by_label("Name in the address")).to_have_value(name)
    page.get_by_role("button", name="Publish").click()
    try:
        expect(page.get_by_role("heading", name=f"Bücher & Straße № {mark}")).to_be_visible()
        expect(page.locator("code", has_text=name).first).to_be_visible()
        expect(page.get_by_text("not built yet", exact=True)).to_be_visible()
        person.look("lists-unbuilt")
    finally:
        gate.set()
    expect(page.get_by_text("fresh", exact=True)).to_be_visible()
    page.get_by_role("button", name="← All lists").click()
    row = page.get_by_role("row", name=re.compile(mark))
    expect(row.get_by_role("link")).to_have_text(f"Bücher & Straße № {mark}")
    expect(row).to_contain_text(name)
    person.look("lists-all")


NAMES = {
    "My list": "my-list",
    "Überwachung & Größe": "ueberwachung-groesse",
    "U\u0308ber": "ueber",
    "Éléphant à Nîmes": "elephant-a-nimes",
    "Łódź — Smørrebrød": "lodz-smoerrebroed",
    "İstanbul ISPARTA": "istanbul-isparta",
    "ﬁnal № ² Ｗｉｄｅ": "final-no-2-wide",
    "Tiếng Việt": "tieng-viet",
    "  --a__b..c--  ": "a-b-c",
    "Мой список": "",
    "我的列表 2": "2",
    "🙂": "",
    "": "",
    "a" * 63 + " b": "a" * 63,
    "x" * 200: "x" * 64,
}


def test_names_are_suggested_in_plain_letters(visit: OpenPage):
    """A title in Latin letters of any language gives a name that the service takes; any other gives none, and one is asked for."""
    page = visit(WORKER).page
    suggest = "titles => import('/compiler/list-name.js').then((name) => titles.map(name.suggestListName))"
    suggested = page.evaluate(suggest, list(NAMES))
    assert dict(zip(NAMES, suggested, strict=True)) == NAMES
    for name in filter(None, suggested):
        assert check_name(name) == name
    page.get_by_label("Address 1", exact=True).fill("https://example.org/list.txt")
    page.get_by_label("Name of the list").fill("Мой список")
    page.get_by_role("tab", name="Lists").click()
    page.get_by_role("button", name="New list").click()
    sign_in(page)
    expect(page.get_by_text("Choose a name for the address.")).to_be_visible()
    expect(page.get_by_role("button", name="Publish")).to_be_disabled()
    page.get_by_label("Name in the address").fill("moy-spisok")
    expect(page.get_by_role("button", name="Publish")).to_be_enabled()


def test_a_list_is_deleted(visit: OpenPage, origin: Origin, runtime: Runtime):
    """What the page still waits for is given up first: nothing asks for a list that is gone."""
    name = f"deleted-{secrets.token_hex(4)}"
    source = origin.serve(f"/{name}.txt", "||ads.example^\n")
    with runtime.client(WORKER) as client:
        publish(client, name, source)
        until(lambda: client.get(f"/lists/{name}").json().get("version") == 1)
        origin.serve(f"/{name}.txt", "||ads.example^\n||new.example^\n")
        assert client.post(f"/lists/{name}/rebuild", headers=OWNER).status_code == 202
        until(lambda: client.get(f"/lists/{name}").json()["version"] == 2)
    page = visit(WORKER, "/#lists").page
    page.get_by_role("button", name="New list").click()
    sign_in(page)
    page.go_back()
    held: list[Route] = []
    page.route("**/diff?*", lambda route: held.append(route))  # noqa: PLW0108 - Playwright marks the function
    with page.expect_request("**/diff?*"):
        page.get_by_role("link", name=name).click()
    page.get_by_role("button", name="Delete").click()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(f"{request.method} {httpx.URL(request.url).path}"))
    page.get_by_role("dialog").get_by_role("button", name="Delete the list").click()
    expect(page.get_by_role("heading", name="Published lists")).to_be_visible()
    for route in held:
        with contextlib.suppress(PlaywrightError):
            route.continue_()
    assert [route.request.response() for route in held] == [None]
    asked_afterwards = asked[asked.index(f"DELETE /lists/{name}") + 1 :]
    assert f"GET /lists/{name}" not in asked_afterwards
    assert httpx.get(f"{runtime.url}/lists/{name}.txt", timeout=PATIENCE_S).status_code == 404


def test_a_failing_source(visit: OpenPage, origin: Origin, runtime: Runtime):
    """A degraded list says which source failed and why, and that its rules are kept."""
    name = f"failing-{secrets.token_hex(4)}"
    source = origin.serve(f"/{name}.txt", "||kept.example^\n")
    with runtime.client(WORKER) as client:
        publish(client, name, source)
    person = visit(WORKER, f"/#lists/{name}")
    page = person.page
    expect(page.get_by_text("fresh", exact=True)).to_be_visible()
    origin.serve(f"/{name}.txt", "<html><body>We are sorry, this list has moved somewhere else today</body></html>")
    with runtime.client(WORKER) as client:
        assert client.post(f"/lists/{name}/rebuild", headers=OWNER).status_code == 202
    expect(page.get_by_text("degraded", exact=True)).to_be_visible()
    expect(page.get_by_text("last good copy").first).to_be_visible()
    person.look("lists-degraded")


def test_a_first_build_that_failed(visit: OpenPage, origin: Origin, runtime: Runtime):
    """A list whose first build failed has no old version, and its page does not speak of one."""
    name = f"never-{secrets.token_hex(4)}"
    with runtime.client(WORKER) as client:
        publish(client, name, origin.url(f"/{name}/gone.txt"))
        until(lambda: (client.get(f"/lists/{name}").json()["lastBuild"] or {}).get("outcome"))
    page = visit(WORKER, f"/#lists/{name}").page
    expect(page.get_by_text("Mend its sources, then rebuild.")).to_be_visible()
    expect(page.get_by_text("the old version is served")).to_have_count(0)


def test_an_address_with_a_lone_percent_sign(visit: OpenPage):
    """An address that a person has mistyped shows the page, not an empty one."""
    page = visit(WORKER, "/#lists/100%", troubles=("status of 400",)).page
    expect(page.get_by_role("tab", name="Lists")).to_be_visible()
