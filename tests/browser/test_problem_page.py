"""What somebody in a browser sees who follows a broken link: a page of the product, not JSON."""

import httpx
import pytest
from playwright.sync_api import expect

from browser.conftest import OpenPage
from runtime import PATIENCE_S, Runtime

HEADINGS = {
    "adblock-compiler": "Filter-list compiler",
    "edge-preload": "Cache preload",
    "worker-api": "Bitcoin news",
}
PATHS = ("/mistyped", "/three/steps/down", "/api/v1/mistyped")


@pytest.mark.parametrize("worker", HEADINGS)
def test_a_mistyped_path(visit: OpenPage, runtime: Runtime, worker: str):
    """The page says what is wrong, looks like the others, and leads back to the start; a program gets JSON."""
    for path in PATHS:
        person = visit(worker, path, troubles=("status of 404",))
        page = person.page
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        expect(page.get_by_text(f"Nothing is served at {path}.")).to_be_visible()
        expect(page.get_by_role("navigation", name="Services")).to_be_visible()
        answer = httpx.get(f"{runtime.url}{path}", headers={"Host": f"{worker}.localhost"}, timeout=PATIENCE_S)
        assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    person.look(f"problem-{worker}")
    page.get_by_role("link", name="Start page").click()
    expect(page.get_by_role("heading", name=HEADINGS[worker])).to_be_visible()


def test_other_problems(visit: OpenPage):
    """So do a missing token, another method and a bad value, with what is wrong about them."""
    page = visit("edge-preload", "/api/v1/zones", troubles=("status of 40",)).page
    expect(page.get_by_role("heading", name="Unauthorized")).to_be_visible()
    page = visit("adblock-compiler", "/compile", troubles=("status of 40",)).page
    expect(page.get_by_role("heading", name="Method not allowed")).to_be_visible()
    person = visit("worker-api", "/api/v1/articles?limit=none&from=<b>", troubles=("status of 40",))
    expect(person.page.get_by_text("limit should be a valid integer")).to_be_visible()
    person.look("problem-fields")
    person.page.get_by_role("link", name="API", exact=True).last.click()
    expect(person.page.get_by_role("heading", name="API", exact=True)).to_be_visible()
