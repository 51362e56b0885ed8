"""The demo, as a new user walks through it: only what the terminal and the pages say leads from step to step."""

import contextlib
import re
import shlex
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from browser.person import Person
from ports import find_free_port
from resolvers import choose_environment, find_program
from runtime import PATIENCE_S, ROOT, Runtime, until

TOKEN: Final = "a-token-of-my-own"
NXDOMAIN: Final = 3

OpenDemo = Callable[[str], Person]


@pytest.fixture(name="demo", scope="module")
def _demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    options = ("--demo", "--port", str(find_free_port()), "--var", f"ADMIN_TOKEN={TOKEN}")
    runtime = Runtime(tmp_path_factory.mktemp("state"), *options).start()
    until(lambda: any(line.startswith("The demo is") for line in runtime.lines))
    yield runtime
    runtime.kill()


@pytest.fixture(name="open_page")
def _open_page(browser: Browser, demo: Runtime) -> Iterator[OpenDemo]:
    people: list[Person] = []

    def open_page(worker: str) -> Person:
        address = next(line for line in demo.lines if f"http://{worker}.localhost" in line)
        found = re.search(rf"http://{worker}\.localhost:\d+/", address)
        assert found
        person = Person.opening(browser, found[0], ())
        person.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        people.append(person)
        return person

    yield open_page
    complaints = [complaint for person in people for complaint in person.complaints]
    for person in people:
        person.page.context.close()
    assert complaints == []


def sign_in(page: Page) -> None:
    page.get_by_label("Operator token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()


def copy(page: Page, what: str, at: int = 0) -> str:
    button = page.get_by_role("button", name=re.compile(f"^(Copy|Copied) {what}$")).nth(at)
    button.click()
    expect(button).to_have_accessible_name(f"Copied {what}")
    return str(page.evaluate("navigator.clipboard.readText()"))


def ask_dns(port: int, name: str) -> int | None:
    """Return the response code for a name; None while nobody answers."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    question = b"\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00" + labels + b"\x00\x00\x01\x00\x01"
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client, contextlib.suppress(OSError):
        client.settimeout(1)
        client.connect(("127.0.0.1", port))
        client.send(question)
        return client.recv(512)[3] & 0x0F
    return None


def test_the_demo_is_filled(demo: Runtime):
    """With the person's own token too, the site is warm, every story is read, sources were checked, and the tour is printed."""
    text = "\n".join(demo.lines)
    assert "The demo is filled" in text
    assert f'the operator token is "{TOKEN}"' in text
    address = next(line.split("paste ")[1].split(",")[0] for line in demo.lines if "paste " in line)
    configuration = {
        "name": "Demo",
        "sources": [{"source": address}],
        "transformations": ["RemoveComments", "Validate"],
    }
    port = demo.url.rpartition(":")[2]

    def ask(host: str, path: str) -> httpx.Response:
        return httpx.get(f"{demo.url}{path}", headers={"Host": f"{host}:{port}"}, timeout=PATIENCE_S)

    compiled = httpx.post(f"{demo.url}/compile", json={"configuration": configuration}, timeout=PATIENCE_S).json()
    assert compiled["ruleCount"] == 2500
    assert until(lambda: ask("shop.localhost", "/blog/post-1/").headers.get("X-Cache-Layer") in {"EDGE", "R2"})
    stories = ask("worker-api.localhost", "/api/v1/articles").json()["articles"]
    assert len(stories) == 6
    assert all(story["aiSummary"] for story in stories)
    outlets = [{each["source_name"] for each in (story, *story["alternates"])} for story in stories]
    assert sorted(map(len, outlets)) == [1, 1, 1, 1, 2, 3], "each story once, and some of them by several sources"
    assert until(lambda: ask("adblock-compiler.localhost", "/health/latest").json()["data"])["summary"]["total"] == 3


def read_proofs(section: str) -> dict[str, list[str]]:
    """Return the commands that ask the local Workers for something in a part of README, with what README says that each prints."""
    text = (ROOT / "README.md").read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    proofs = {}
    for line in text.splitlines():
        spans = re.findall(r"`([^`]+)`", line)
        command = next((each for each in spans if each.startswith("curl ")), line.strip())
        # Not those with a name to fill in, with a body, or for a site of one's own.
        if re.match(r"curl [^|]*:8787/", command) and not re.search(r"NAME|-d |-X |blog\.localhost", command):
            proofs[command] = spans[spans.index(command) + 1 :] if command in spans else []
    return proofs


@pytest.mark.parametrize("section", ["A tour in three minutes", "Everyday use"])
def test_readme_tells_the_truth(demo: Runtime, section: str):
    """Each request of README, run as it stands there against the demo, answers, and prints what README says."""
    port = demo.url.rpartition(":")[2]
    proofs = read_proofs(section)
    assert proofs
    for command, printed in proofs.items():

        def run(command: str = command) -> str:
            here = command.replace(":8787", f":{port}")
            done = subprocess.run(["sh", "-c", here], capture_output=True, text=True, timeout=PATIENCE_S, check=True)
            assert done.stdout.strip(), command
            return done.stdout

        assert until(lambda: all(each in run() for each in printed)), command  # noqa: B023 - it is called here


def test_the_commands_of_the_demo(demo: Runtime):
    """What the demo prints to be tried is run as it stands: a page is warmed, and all pages with a tag are purged."""
    commands = [line.strip() for line in demo.lines if re.match(r" +(export SLUICE_|\./scripts/sluice )", line)]
    assert [command.split()[1] for command in commands[1:]] == ["preload", "purge"]
    done = subprocess.run(
        ["sh", "-ec", "\n".join(commands)], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=True
    )
    assert "1 done" in done.stderr + done.stdout
    assert "18 pages removed" in done.stderr + done.stdout


def test_the_crons_run(demo: Runtime):
    """Nobody has to run them by hand: the processor looks for articles in the next minute."""
    filled = next(at for at, line in enumerate(demo.lines) if line.startswith("The demo is"))
    assert until(lambda: any('"processor.run"' in line for line in demo.lines[filled:]))


def test_from_a_known_list_to_a_name_that_dnsmasq_blocks(open_page: OpenDemo, demo: Runtime, tmp_path: Path):
    """A known list is chosen, compiled and published; the lines that its page offers make dnsmasq block its names."""
    until(lambda: httpx.get(f"{demo.url}/health/latest", timeout=PATIENCE_S).json()["data"])
    page = open_page("adblock-compiler").page
    known = page.get_by_label("Add a known list")
    expect(known.locator("option", has_text="missing.txt")).to_have_count(0)
    known.select_option(label="ads.txt (2,502 rules)")
    page.get_by_role("button", name="Compile", exact=True).click()
    expect(page.get_by_role("heading", name="My list: 2,500 rules")).to_be_focused()
    page.get_by_role("button", name="Publish …").click()
    sign_in(page)
    page.get_by_role("button", name="Publish", exact=True).click()
    expect(page.get_by_text("fresh", exact=True)).to_be_visible()
    assert copy(page, "the address").endswith("/lists/my-list.txt")
    page.get_by_role("tab", name="Add to dnsmasq").click()
    panel = page.get_by_role("tabpanel", name="Add to dnsmasq")
    expect(panel).to_contain_text("ads0.example0.com")
    download, start = map(shlex.split, copy(page, "the command").splitlines())
    blocked = copy(page, "the command", 1).split()[-1]
    assert (download[0], start[0]) == ("curl", "dnsmasq")
    curl, program = find_program("curl"), find_program("dnsmasq")
    subprocess.run([curl, *download[1:]], cwd=tmp_path, env=choose_environment(curl), check=True)
    port = find_free_port()  # the one on the page may be taken here
    words = [f"--port={port}" if word.startswith("--port=") else word for word in start[1:]]
    environment = choose_environment(program)
    with subprocess.Popen([program, *words], cwd=tmp_path, env=environment, stderr=subprocess.DEVNULL) as dnsmasq:
        try:
            assert until(lambda: ask_dns(port, blocked) or dnsmasq.poll()) == NXDOMAIN
            assert ask_dns(port, f"deep.{blocked}") == NXDOMAIN
            assert ask_dns(port, "example.org") != NXDOMAIN, "what is not in the list is not blocked"
        finally:
            dnsmasq.terminate()


def test_a_warmed_page(open_page: OpenDemo):
    """The overview says how warm the shop is; a warm page is opened, and its copy answers; the guide has the command for it."""
    page = open_page("edge-preload").page
    sign_in(page)
    expect(page.get_by_label("Zone", exact=True)).to_have_value("demo")
    expect(page.locator(".figure", has_text="Warm pages")).to_contain_text("20 of 20")
    expect(page.get_by_role("region", name="Failing pages")).to_contain_text("/broken/")
    page.get_by_role("tab", name="Batches").click()
    expect(page.get_by_role("region", name="Batches")).to_contain_text("1 gone")
    page.get_by_role("tab", name="Pages").click()
    page.get_by_label("Search the pages").fill("post-3")
    link = page.locator("a[aria-label^='Open'][aria-label$='/blog/post-3/']")
    address = link.get_attribute("href") or ""
    with (
        page.expect_popup() as opened,
        page.context.expect_event("response", lambda response: response.url == address) as answered,
    ):
        link.click()
    assert answered.value.headers["x-cache-layer"] in {"EDGE", "R2"}
    expect(opened.value.get_by_role("heading", name="Post 3")).to_be_visible()
    page.get_by_role("tab", name="Set up").click()
    assert copy(page, "the command") == f"curl -sI {address.removesuffix('blog/post-3/')} | grep -i cache"


def test_a_story(open_page: OpenDemo):
    """A story has its sentiment with a score, a summary, and a link to where it was told."""
    page = open_page("worker-api").page
    story = page.locator(".story").first
    expect(story.get_by_text(re.compile(r"^(positive|negative|neutral) ?[+-]?\d?\.?\d*$"))).to_be_visible()
    expect(story.locator("p").first).not_to_be_empty()
    expect(story.get_by_role("link").first).to_have_attribute("href", re.compile("/news/"))
    story.get_by_text("2 more sources report this").click()
    expect(story.locator("details a")).to_have_count(2)
