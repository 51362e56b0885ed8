"""The compiler page, as a person with a mouse and one with a keyboard use it."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import OpenPage
from workerd.origin import Origin

WORKER = "adblock-compiler"
SOURCES = "Addresses or rules, one per line"


@pytest.fixture(name="lists")
def _lists(origin: Origin) -> list[str]:
    """The addresses of two lists; each test has a name of its own for what it makes of them."""
    first = origin.serve("/ads.txt", "! Title: Ads\n||ads.example^\n||shared.example^\n||ads.example^\n")
    hosts = origin.serve("/hosts.txt", "# hosts\n0.0.0.0 tracker.example\n0.0.0.0 shared.example\n")
    return [first, hosts]


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.innerText"))


def test_compile_and_download(visit: OpenPage, lists: list[str], tmp_path: Path):
    """Two lists are compiled by stream, the pipeline is seen at work, and the result is searched and downloaded."""
    person = visit(WORKER)
    page = person.page
    person.look("compiler-begin")
    page.get_by_label(SOURCES).fill("\n".join(lists))
    page.get_by_label("Name of the list").fill("Both lists")
    page.get_by_label("Explain every dropped line").check()
    page.get_by_role("button", name="Compile", exact=True).click()
    expect(page.get_by_role("heading", name=re.compile("^Both lists: "))).to_be_visible()
    expect(page.get_by_role("list", name="Sources").get_by_text("read", exact=True)).to_have_count(2)
    expect(page.get_by_role("list", name="Transformations").get_by_text("Deduplicate")).to_be_visible()
    person.look("compiler-result")
    page.get_by_label("Search the list").fill("tracker")
    expect(page.get_by_role("region", name="The list")).to_have_text("||tracker.example^")
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download").click()
    file = tmp_path / "taken.txt"
    taken.value.save_as(file)
    assert taken.value.suggested_filename == "both-lists.txt"
    rules = [line for line in file.read_text().splitlines() if line.startswith("||")]
    assert sorted(rules) == ["||ads.example^", "||shared.example^", "||tracker.example^"]
    page.get_by_role("tab", name="Dropped").click()
    expect(page.get_by_role("region", name="Dropped lines").get_by_text("||ads.example^").first).to_be_visible()
    person.look("compiler-dropped")


def test_keyboard_alone(visit: OpenPage):
    """Tab reaches everything in order, Enter compiles, arrows change the part; focus is seen all the way."""
    page = visit(WORKER).page
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.get_by_label(SOURCES).focus()
    page.keyboard.type("||typed.example^")
    for _ in range(40):
        page.keyboard.press("Tab")
        seen = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert seen != "none", focused(page)
        if focused(page) == "Compile":
            break
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_label("Explain every dropped line")).to_be_checked()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="The list")).to_contain_text("||typed.example^")
    page.get_by_role("tab", name="Compile").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Jobs")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()


def test_mistakes(visit: OpenPage):
    """What is wrong with a configuration is said while it is typed; a source that fails is named."""
    page = visit(WORKER).page
    page.get_by_label("Edit the configuration as JSON").check()
    box = page.get_by_label("Configuration, in the format of HostlistCompiler")
    box.fill('{"name": "x", "sources": []')
    expect(page.get_by_text("This is not JSON")).to_be_visible()
    box.fill('{"name": "x", "sources": [], "transformations": ["Shuffle"]}')
    expect(page.get_by_text(re.compile(r"transformations\[0\]"))).to_be_visible()


def test_jobs(visit: OpenPage, lists: list[str]):
    """A job is handed in, waits, is done, and its list is shown."""
    person = visit(WORKER)
    page = person.page
    page.get_by_label(SOURCES).fill("\n".join(lists))
    page.get_by_label("Name of the list").fill("In the background")
    page.get_by_role("tab", name="Jobs").click()
    page.get_by_label("High priority").check()
    page.get_by_role("button", name="Submit").click()
    page.get_by_role("button", name="Show In the background").click()
    expect(page.get_by_role("region", name="The list")).to_contain_text("||tracker.example^")
    person.look("compiler-jobs")


def test_workflow(visit: OpenPage, lists: list[str]):
    """A workflow is started and followed to its end."""
    person = visit(WORKER)
    page = person.page
    page.get_by_label(SOURCES).fill("\n".join(lists))
    page.get_by_role("tab", name="Workflows").click()
    page.get_by_role("button", name="Compile the form's list").click()
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    person.look("compiler-workflows")


def test_sources(visit: OpenPage):
    """The sources are checked by a workflow; which one fails, and why, is seen afterwards."""
    person = visit(WORKER)
    page = person.page
    page.get_by_role("tab", name="Workflows").click()
    page.get_by_role("button", name="Check the sources").click()
    expect(page.get_by_text("done", exact=True)).to_be_visible()
    page.get_by_role("tab", name="Sources").click()
    expect(page.get_by_role("row", name=re.compile("^Well")).get_by_text("healthy", exact=True)).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^Gone")).get_by_text("unhealthy")).to_be_visible()
    person.look("compiler-sources")


def test_dead_service(visit: OpenPage):
    """When the service does not answer, the page says so where it was asked."""
    page = visit(WORKER, troubles=("ERR_FAILED",)).page
    page.route("**/compile/stream", lambda route: route.abort())
    page.get_by_label(SOURCES).fill("||a.example^")
    page.get_by_role("button", name="Compile", exact=True).click()
    expect(page.get_by_text("The service cannot be reached")).to_be_visible()
    expect(page.get_by_role("button", name="Compile", exact=True)).to_be_enabled()
