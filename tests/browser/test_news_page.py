"""The news page, as a reader and an operator use it."""

import json
import re

from playwright.sync_api import Page, expect

from browser.conftest import OpenPage
from runtime import Runtime

WORKER = "worker-api"


def titles(page: Page) -> list[str]:
    return page.locator(".story h3").all_inner_texts()


def test_reading(visit: OpenPage):
    """Stories come newest first, each with sentiment, source and summary; those who tell the same are under one."""
    person = visit(WORKER)
    page = person.page
    expect(page.locator(".story").first).to_be_visible()
    assert "rallies" in titles(page)[0]
    assert len([title for title in titles(page) if "rallies" in title]) == 1
    page.get_by_text("1 more source reports this").first.click()
    expect(page.locator(".story details a")).to_have_count(1)
    expect(page.get_by_role("img", name=re.compile("Stories by sentiment"))).to_be_visible()
    person.look("news-stories")


def test_feeds_are_found(visit: OpenPage, runtime: Runtime):
    """A reader that is given the address of the page finds every feed that the service has."""
    page = visit(WORKER).page
    links = page.locator("head link[rel=alternate]")
    told = {link.get_attribute("href") or "": link.get_attribute("type") for link in links.all()}
    assert all(link.get_attribute("title") for link in links.all())
    with runtime.client(WORKER) as client:
        answered = {path: client.get(path).headers["Content-Type"].partition(";")[0] for path in told}
        paths = client.get("/openapi.json").json()["paths"]
    assert told == answered
    assert sorted(told) == sorted(path for path in paths if path.startswith("/api/v1/feed."))


def test_filters(visit: OpenPage):
    """Sentiment, source, days and words narrow the list, and stand in the address; clearing brings all back."""
    page = visit(WORKER).page
    expect(page.locator(".story").first).to_be_visible()
    more = page.get_by_role("button", name="More stories")
    first_page = len(titles(page))
    more.click()
    expect(page.locator(".story").nth(first_page)).to_be_visible()
    expect(more).to_have_count(0)  # it is hidden also while it loads
    everything = len(titles(page))
    assert len(set(titles(page))) == everything
    page.get_by_role("checkbox", name="negative").check()
    expect(page.locator(".about .badge.good")).to_have_count(0)
    assert 0 < len(titles(page)) < everything
    page.get_by_label("Source").fill("the wire")
    expect(page.get_by_text("Lender files for bankruptcy")).to_be_visible()
    expect(page.get_by_text("Exchange hacked")).to_have_count(0)
    assert page.url.endswith("?source=the+wire&sentiment=negative")
    page.reload()
    expect(page.get_by_text("Lender files for bankruptcy")).to_be_visible()
    expect(page.get_by_role("checkbox", name="negative")).to_be_checked()
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator(".story")).to_have_count(first_page)
    page.get_by_role("searchbox", name="Search").fill("custody -banks")
    expect(page.locator(".story")).to_have_count(1)
    page.get_by_role("searchbox", name="Search").fill("nobody wrote this")
    expect(page.get_by_text("No story matches.")).to_be_visible()


def test_terms(visit: OpenPage):
    """A click on what is talked about looks for it; a second click takes it back."""
    page = visit(WORKER).page
    page.get_by_label("Within").select_option("the last week")
    term = page.locator(".terms button").first
    expect(term).to_be_visible()
    term.click()
    expect(page.locator(".terms button[aria-pressed=true]")).to_have_count(1)
    assert "q=" in page.url
    page.locator(".terms button[aria-pressed=true]").click()
    expect(page.locator(".terms button[aria-pressed=true]")).to_have_count(0)


def test_feeds(visit: OpenPage, runtime: Runtime):
    """The links to the feeds carry the filters, and lead to feeds."""
    page = visit(WORKER).page
    page.get_by_role("checkbox", name="positive").check()
    link = page.get_by_role("link", name="RSS")
    expect(link).to_have_attribute("href", "/api/v1/feed.rss?sentiment=positive")
    with runtime.client(WORKER) as client:
        assert client.get(link.get_attribute("href") or "").headers["Content-Type"].startswith("application/rss+xml")


def test_wrong_filter(visit: OpenPage):
    """What the service has against a filter is said at its field."""
    page = visit(WORKER, "/?source=" + "x" * 120, troubles=("status of 400",)).page
    expect(page.get_by_label("Source")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("A filter is invalid")).to_be_visible()


def test_pipeline(visit: OpenPage):
    """The operator sees backlog, last runs, and what is tried later and why."""
    person = visit(WORKER)
    person.page.get_by_role("tab", name="Processing").click()
    expect(person.page.get_by_role("cell", name="A page that is gone")).to_be_visible()
    expect(person.page.get_by_text(re.compile("Updater, every hour: last ran"))).to_be_visible()
    person.look("news-pipeline")
    person.page.get_by_role("tab", name="Sources").click()
    expect(person.page.get_by_role("heading", name="Sources")).to_be_visible()
    person.look("news-sources")


def test_dead_service(visit: OpenPage):
    """When the service does not answer, the page says so, and goes on when it does."""
    person = visit(WORKER, troubles=("ERR_FAILED",))
    page = person.page
    expect(page.locator(".story").first).to_be_visible()
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("checkbox", name="neutral").check()
    expect(page.get_by_text("The service cannot be reached").first).to_be_visible()
    person.look("news-dead")
    page.unroute("**/api/**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator(".story").first).to_be_visible()


def test_charts_lead_to_stories(visit: OpenPage):
    """A bar of the chart shows its stories: as many as it counts."""
    page = visit(WORKER).page
    chart = page.get_by_role("img", name=re.compile("Stories by sentiment"))
    chart.focus()
    page.keyboard.press("End")
    reading = page.locator(".reading").first

    def count() -> int:
        return sum(
            int(number) for number in re.findall(r"(\d+) (?:positive|neutral|negative|unknown)", reading.inner_text())
        )

    while not (counted := count()):
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_label("From")).not_to_have_value("")
    expect(page.get_by_text(f"{counted} of {counted}", exact=True)).to_be_visible()
    expect(page.locator(".story")).to_have_count(counted)


def test_a_window_of_hours(visit: OpenPage):
    """The chart of a day has its hours, also those without a story; a bar leads to the stories of that hour."""
    page = visit(WORKER).page
    page.get_by_role("group", name="Time window").get_by_role("button", name="24 h").click()
    expect(page.get_by_text(re.compile(r"\d+ of \d+ stories are in this window"))).to_be_visible()
    chart = page.get_by_role("img", name=re.compile("Stories by sentiment"))
    chart.focus()
    page.keyboard.press("End")
    reading = page.locator(".reading").first
    while "1 positive" not in reading.inner_text():
        page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
    expect(page.get_by_label("From")).to_have_accessible_description(re.compile(r"\d\d:00 UTC"))


def test_on_a_phone(visit: OpenPage):
    """The filters are folded away, and tables become cards that name their columns."""
    page = visit(WORKER).page
    page.set_viewport_size({"width": 360, "height": 800})
    page.reload()
    expect(page.locator(".story").first).to_be_visible()
    expect(page.get_by_label("Source")).to_be_hidden()
    page.locator("summary", has_text="Filters").click()
    expect(page.get_by_label("Source")).to_be_visible()
    page.get_by_role("tab", name="Processing").click()
    cell = page.get_by_role("cell", name="A page that is gone")
    expect(cell).to_be_visible()
    assert (
        page.locator("td[data-label=Reason]").first.evaluate("(cell) => getComputedStyle(cell, '::before').content")
        == '"Reason"'
    )


def test_no_news_yet(visit: OpenPage):
    """Before the first article the page says what happens next, and where to look."""
    page = visit(WORKER, troubles=("status of 503",)).page
    body = json.dumps({"title": "Service Unavailable", "status": 503, "detail": "no news yet"})
    page.route(
        "**/api/v1/**", lambda route: route.fulfill(status=503, content_type="application/problem+json", body=body)
    )
    page.reload()
    expect(page.get_by_text("No news yet: the updater looks for articles every hour")).to_be_visible()
