"""The compiler page, as a person with a mouse and one with a keyboard use it."""

import json
import re
import threading
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, expect

from browser.conftest import OpenPage
from runtime import until
from workerd.origin import Answer, Origin
from workerd.preload_site import TOKEN

WORKER = "adblock-compiler"


@pytest.fixture(name="lists")
def _lists(origin: Origin) -> list[str]:
    """The addresses of two lists; each test has a name of its own for what it makes of them."""
    first = origin.serve("/ads.txt", "! Title: Ads\n||ads.example^\n||shared.example^\n||ads.example^\n")
    hosts = origin.serve("/hosts.txt", "# hosts\n0.0.0.0 tracker.example\n0.0.0.0 shared.example\n")
    return [first, hosts]


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.innerText"))


def fill_addresses(page: Page, addresses: list[str]) -> None:
    for at, address in enumerate(addresses, start=1):
        if at > 1:
            page.get_by_role("button", name="Add an address").click()
        page.get_by_label(f"Address {at}", exact=True).fill(address)


def compile_list(page: Page) -> None:
    page.get_by_role("button", name="Compile", exact=True).click()


def shown_list(page: Page) -> str:
    return page.get_by_role("region", name="The list").inner_text()


def attach(page: Page, label: str, name: str, text: str) -> None:
    payload: FilePayload = {"name": name, "mimeType": "text/plain", "buffer": text.encode()}
    page.locator(f"input[aria-label='{label}']").set_input_files(payload)


def test_compile_and_download(visit: OpenPage, lists: list[str], tmp_path: Path):
    """Two lists are compiled, the result gets the focus, and it is searched, explained and downloaded."""
    person = visit(WORKER)
    page = person.page
    person.look("compiler-begin")
    fill_addresses(page, lists)
    page.get_by_label("Name of the list").fill("Both lists")
    compile_list(page)
    heading = page.get_by_role("heading", name="Both lists: 3 rules")
    expect(heading).to_be_focused()
    expect(page.get_by_text("read", exact=True)).to_have_count(2)
    expect(page.get_by_text("3 rules in 4 lines")).to_be_visible()
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
    first = page.locator("details", has=page.get_by_role("region", name=re.compile("^Dropped lines"))).first
    expect(first).not_to_contain_text("RemoveComments")
    expect(first).to_contain_text("duplicate of another rule")
    expect(first.get_by_role("row")).to_have_count(3)
    person.look("compiler-dropped")
    page.get_by_label("Search the dropped lines").fill("||ads.example^")
    expect(page.get_by_role("region", name=re.compile("^Dropped lines"))).to_have_count(1)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download").click()
    taken.value.save_as(file)
    assert taken.value.suggested_filename == "both-lists-dropped.tsv"
    assert file.read_text().splitlines()[1].endswith("||ads.example^")
    page.get_by_role("tab", name="Timing").click()
    expect(page.get_by_role("list", name="Transformations").get_by_text("Deduplicate")).to_be_visible()


# Each value of the browser's database comes late.
SLOW_STORAGE = """
const open = IDBFactory.prototype.open;
IDBFactory.prototype.open = function (...names) {
  const [request, late] = [open.apply(this, names), {}];
  request.onupgradeneeded = () => { late.result = request.result; late.onupgradeneeded(); };
  request.onsuccess = () => setTimeout(() => { late.result = request.result; late.onsuccess(); }, 300);
  return late;
};
"""


def test_changes(visit: OpenPage, origin: Origin):
    """A list compiled again, also after a reload at once, shows in green what came and in red what went."""
    page = visit(WORKER).page
    page.add_init_script(SLOW_STORAGE)
    page.reload()
    fill_addresses(page, [origin.serve("/changing.txt", "||stays.example^\n||goes.example^\n")])
    compile_list(page)
    expect(page.get_by_role("heading", name="My list: 2 rules")).to_be_visible()
    expect(page.get_by_role("tab", name="Changes")).to_have_count(0)
    page.reload()
    origin.serve("/changing.txt", "||stays.example^\n||comes.example^\n||too.example^\n")
    compile_list(page)
    expect(page.get_by_role("heading", name="My list: 3 rules")).to_be_visible()
    page.get_by_role("tab", name="Changes").click()
    changes = page.get_by_role("region", name="Changed rules")
    expect(changes.locator(".added")).to_have_count(2)
    expect(changes.locator(".removed")).to_have_text(re.compile("goes.example"))
    green, red = (
        changes.locator(kind).first.evaluate("(line) => getComputedStyle(line).color")
        for kind in (".added", ".removed")
    )
    assert green != red


def test_keyboard_alone(visit: OpenPage):
    """Tab reaches everything in order, Ctrl+Enter compiles, arrows change the part; focus is seen all the way."""
    page = visit(WORKER).page
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.get_by_label("Own rules").focus()
    page.keyboard.type("||typed.example^")
    for _ in range(40):
        page.keyboard.press("Tab")
        seen = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert seen != "none", focused(page)
        if focused(page) == "Compile":
            break
    page.get_by_label("Own rules").focus()
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("region", name="The list")).to_contain_text("||typed.example^")
    page.get_by_role("tab", name="Compile").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="Lists")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.get_by_role("heading", name="Sources")).to_be_visible()


def test_tabs_and_back(visit: OpenPage):
    """Back returns to the part before; a link to a part opens it."""
    page = visit(WORKER).page
    page.get_by_role("tab", name="Jobs").click()
    page.get_by_role("tab", name="Sources").click()
    page.go_back()
    expect(page.get_by_role("tab", name="Jobs")).to_have_attribute("aria-selected", "true")
    page.go_back()
    expect(page.get_by_role("tab", name="Compile")).to_have_attribute("aria-selected", "true")
    assert "#" not in page.url
    expect(visit(WORKER, "/#jobs").page.get_by_role("tab", name="Jobs")).to_have_attribute("aria-selected", "true")


def test_a_list_for_a_browser(visit: OpenPage, origin: Origin):
    """A list for uBlock Origin loses nearly everything to DNS rules: that is said in amber, and a choice mends it."""
    rules = "".join(f"shop{at}.example##.ad\n" for at in range(60)) + "||ads.example^\n"
    person = visit(WORKER)
    page = person.page
    fill_addresses(page, [origin.serve("/browser.txt", rules)])
    compile_list(page)
    banner = page.locator(".banner.warn")
    expect(banner).to_contain_text("61 lines in, 1 rule out.")
    expect(banner).to_contain_text("dropped 60")
    expect(banner).to_contain_text("a cosmetic rule, which DNS cannot apply")
    person.look("compiler-loss")
    page.get_by_label(re.compile("^A browser extension")).check()
    compile_list(page)
    expect(page.get_by_role("heading", name="My list: 61 rules")).to_be_visible()
    expect(banner).to_have_count(0)


def test_rules_stay_rules(visit: OpenPage):
    """A rule that begins with http is a rule: it is not fetched."""
    page = visit(WORKER).page
    page.get_by_label(re.compile("^A browser extension")).check()
    page.get_by_label("Own rules").fill("http://ads.example/banner\n||b.example^")
    compile_list(page)
    expect(page.get_by_role("heading", name="My list: 2 rules")).to_be_visible()
    assert "http://ads.example/banner" in shown_list(page)


def test_a_long_paste_is_attached(visit: OpenPage):
    """A paste over 200 KB becomes a file with a name and a count; the box stays empty, and a reload keeps the file."""
    page = visit(WORKER).page
    box = page.get_by_label("Own rules")
    box.focus()
    rules = "".join(f"||host{at}.example^\n" for at in range(12_000))
    page.evaluate(
        """(text) => {
          const data = new DataTransfer();
          data.setData("text", text);
          document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
        }""",
        rules,
    )
    attached = page.get_by_role("list", name="Attached files")
    expect(attached).to_contain_text("pasted text")
    expect(attached).to_contain_text("12,000 lines")
    expect(box).to_have_value("")
    page.wait_for_function("indexedDB.databases().then((all) => all.length > 0)")
    page.reload()
    expect(attached).to_contain_text("12,000 lines")
    page.get_by_role("button", name="Remove pasted text").click()
    expect(attached).to_have_count(0)


def test_files(visit: OpenPage):
    """Files that are chosen and files that are dropped are compiled with the rest."""
    page = visit(WORKER).page
    attach(page, "Files with rules", "mine.txt", "||mine.example^\n")
    expect(page.get_by_role("list", name="Attached files")).to_contain_text("1 line")
    dropped = page.evaluate_handle(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(["||first.example^\\n||second.example^\\n"], "dropped.txt", { type: "text/plain" }));
          return data;
        }"""
    )
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": dropped})
    expect(page.get_by_role("list", name="Attached files")).to_contain_text("dropped.txt2 lines")
    compile_list(page)
    expect(page.get_by_role("region", name="The list")).to_contain_text("||mine.example^")
    expect(page.get_by_role("region", name="The list")).to_contain_text("||second.example^")


def test_the_form_survives_a_reload(visit: OpenPage, lists: list[str]):
    """Addresses, their order, rules, name and steps are there again."""
    page = visit(WORKER).page
    fill_addresses(page, lists)
    page.get_by_role("button", name="Add an address").click()
    page.get_by_role("button", name="Remove address 3").click()
    page.get_by_role("button", name="Move address 2 up").click()
    page.get_by_label("Own rules").fill("||own.example^")
    page.get_by_label("Name of the list").fill("Kept")
    page.reload()
    expect(page.get_by_label("Address 1", exact=True)).to_have_value(lists[1])
    expect(page.get_by_label("Address 2", exact=True)).to_have_value(lists[0])
    expect(page.get_by_label("Own rules")).to_have_value("||own.example^")
    expect(page.get_by_label("Name of the list")).to_have_value("Kept")


def test_nothing_is_lost_in_a_configuration(visit: OpenPage, lists: list[str], tmp_path: Path):
    """What the form does not show is used, and stands in the export again."""
    configuration = {
        "name": "Imported",
        "license": "MIT",
        "sources": [{"source": lists[0], "name": "Ads", "exclusions": ["ads.example"]}],
        "transformations": ["Compress", "ValidateAllowIp"],
        "exclusions": ["shared.example"],
    }
    page = visit(WORKER).page
    page.locator("summary", has_text="Configuration").click()
    attach(page, "Configuration file", "list.json", json.dumps(configuration))
    expect(page.get_by_label("Name of the list")).to_have_value("Imported")
    expect(page.get_by_text("The configuration also has")).to_contain_text(
        "license, exclusions and settings of one source"
    )
    page.locator("summary", has_text="Steps").click()
    expect(page.get_by_label(re.compile("^… and IP addresses"))).to_be_checked()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Export JSON").click()
    taken.value.save_as(tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == configuration


def test_mistakes(visit: OpenPage):
    """What is wrong with a configuration is said at once, with the way out; a file that is none is refused by name."""
    page = visit(WORKER).page
    page.locator("summary", has_text="Configuration").click()
    attach(page, "Configuration file", "broken.json", '{"name": "x"')
    expect(page.get_by_role("alert")).to_contain_text("broken.json: this is not JSON")
    wrong = {"name": "x", "sources": [{"source": "https://list.example/a.txt"}], "exclusions": ["/(/"]}
    attach(page, "Configuration file", "wrong.json", json.dumps(wrong))
    expect(page.get_by_text(re.compile(r"exclusions\[0\]"))).to_be_visible()


def test_a_failed_source(visit: OpenPage, origin: Origin, lists: list[str]):
    """A source that fails says why; the others say whether they were read."""
    person = visit(WORKER)
    page = person.page
    fill_addresses(page, [lists[0], origin.url("/nowhere.txt")])
    compile_list(page)
    expect(page.get_by_role("heading", name="Not compiled")).to_be_focused()
    sources = page.get_by_role("list", name="Sources")
    expect(sources.get_by_text("failed", exact=True)).to_have_count(1)
    expect(sources.get_by_text("404")).to_be_visible()
    expect(sources.get_by_text(re.compile("^(read|not read)$"))).to_have_count(1)
    person.look("compiler-failed")


def test_stop(visit: OpenPage, origin: Origin):
    """Stop says that it was stopped, and compiling again works."""
    page = visit(WORKER).page
    gate = threading.Event()
    fill_addresses(page, [origin.serve("/slow.txt", Answer(b"||slow.example^\n", gate=gate))])
    compile_list(page)
    until(lambda: origin.count("/slow.txt"))
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("heading", name="Stopped")).to_be_visible()
    gate.set()
    page.get_by_label("Address 1", exact=True).fill("")
    page.get_by_label("Own rules").fill("||after.example^")
    compile_list(page)
    expect(page.get_by_role("region", name="The list")).to_contain_text("||after.example^")


def test_jobs(visit: OpenPage, lists: list[str]):
    """A job is handed in and followed to its end; its list is there after a reload too."""
    person = visit(WORKER)
    page = person.page
    fill_addresses(page, lists)
    page.get_by_label("Name of the list").fill("In the background")
    page.get_by_role("tab", name="Jobs").click()
    page.get_by_label("High priority").check()
    page.get_by_role("button", name="Submit as a job").click()
    expect(page.get_by_role("button", name="View In the background")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="View In the background").click()
    expect(page.get_by_role("region", name="The list")).to_contain_text("||tracker.example^")
    expect(page.locator("#job-list")).to_be_focused()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download In the background").click()
    assert taken.value.suggested_filename == "in-the-background.txt"
    person.look("compiler-jobs")
    gone = {"success": False, "status": "cache_miss", "error": "The result is no longer in the cache; compile it again"}
    page.route("**/queue/results/**", lambda route: route.fulfill(json=gone))
    page.get_by_role("button", name="View In the background").click()
    expect(page.get_by_role("alert")).to_contain_text("no longer in the cache; compile it again")


def test_workflow(visit: OpenPage, lists: list[str]):
    """A workflow is started and followed to its end, and started again."""
    person = visit(WORKER)
    page = person.page
    fill_addresses(page, lists)
    page.get_by_label("Name of the list").fill("By a workflow")
    page.get_by_role("tab", name="Jobs").click()
    page.get_by_role("button", name="Run as a workflow").click()
    expect(page.locator(".job", has_text="By a workflow").get_by_text("done", exact=True)).to_be_visible()
    page.get_by_role("button", name="View By a workflow").click()
    expect(page.get_by_role("region", name="The list")).to_contain_text("||tracker.example^")
    page.get_by_role("button", name="Run again: By a workflow").click()
    expect(page.locator(".job", has_text="By a workflow")).to_have_count(2)


def test_sources(visit: OpenPage):
    """The operator signs in under Jobs, sees all jobs and has the sources checked; which one fails is then seen by all."""
    person = visit(WORKER, "/#jobs", troubles=("status of 401",))
    page = person.page
    page.locator("summary", has_text="Everybody's jobs").click()
    page.get_by_label("Operator token").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("The service refuses this token.")).to_be_visible()
    page.get_by_label("Operator token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="All jobs")).to_be_visible()
    page.get_by_role("group", name="Time window").get_by_role("button", name="24 h").click()
    expect(page.get_by_role("button", name="24 h")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Check the sources").click()
    expect(page.get_by_text("done", exact=True).first).to_be_visible()
    page.get_by_role("tab", name="Sources").click()
    expect(page.get_by_role("row", name=re.compile("^Well")).get_by_text("healthy", exact=True)).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^Gone")).get_by_text("unhealthy")).to_be_visible()
    checked = page.locator("time").first
    assert re.fullmatch(r"just now|\d+ \w+ ago", checked.inner_text())
    assert re.search(r"\d{4}, .*:\d\d:\d\d", checked.get_attribute("title") or ""), "the exact time is there on hover"
    person.look("compiler-sources")


def test_dead_service(visit: OpenPage):
    """When the service does not answer, the page says so where it was asked."""
    page = visit(WORKER, troubles=("ERR_FAILED",)).page
    page.route("**/compile/stream", lambda route: route.abort())
    page.get_by_label("Own rules").fill("||a.example^")
    compile_list(page)
    expect(page.get_by_text("The service cannot be reached")).to_be_visible()
    expect(page.get_by_role("button", name="Compile", exact=True)).to_be_enabled()
