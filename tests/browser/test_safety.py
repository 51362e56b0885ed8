"""What holds for every page: its policy, its weight, and that nothing a source says becomes markup."""

import re

import pytest
from playwright.sync_api import expect

from browser.conftest import OpenPage
from runtime import ROOT, Runtime
from workerd.preload_site import TOKEN

PAGES = ("adblock-compiler", "edge-preload", "worker-api")
MAX_BYTES = 200_000
# What has the focus, known by its place among all elements; "" for nothing.
FOCUSED = """() => {
  const element = document.activeElement;
  if (element === document.body) return ["", ""];
  const place = [...document.querySelectorAll("*")].indexOf(element);
  return [`${place} ${element.tagName} ${element.ariaLabel ?? element.innerText ?? ""}`.slice(0, 60), getComputedStyle(element).outlineStyle];
}"""
# Every visible control that Tab should reach; of tabs and radio buttons only the chosen one.
REACHABLE = """() => {
  const all = [...document.querySelectorAll("*")];
  const controls = all.filter((element) => element.matches("a[href], button, input, select, textarea, summary") && element.checkVisibility() && !element.disabled && element.tabIndex >= 0);
  const chosen = controls.filter((element) => element.type !== "radio" || element.checked);
  return chosen.map((element) => `${all.indexOf(element)} ${element.tagName} ${element.ariaLabel ?? element.innerText ?? ""}`.slice(0, 60));
}"""
CONSOLE = ROOT / "src/sluice/console"


@pytest.mark.parametrize("worker", PAGES)
def test_policy(runtime: Runtime, worker: str):
    """Scripts and styles of the Worker itself alone, no frames around it, no form that leaves."""
    with runtime.client(worker) as client:
        policy = client.get("/").headers["Content-Security-Policy"]
    wanted = (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "frame-ancestors 'none'",
        "form-action 'none'",
    )
    assert all(part in policy for part in wanted)
    assert "unsafe" not in policy


@pytest.mark.parametrize("worker", PAGES)
def test_weight(visit: OpenPage, worker: str):
    """A page with all its parts is below 200 KB, before packing."""
    page = visit(worker).page
    page.wait_for_load_state("networkidle")
    entries = "[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]"
    loaded = page.evaluate(f"{entries}.map(({{ name, decodedBodySize }}) => [name, decodedBodySize])")
    sizes = [size for url, size in loaded if url.endswith(("/", ".js", ".css", ".svg"))]
    assert len(sizes) > 5
    assert 10_000 < sum(sizes) < MAX_BYTES


def test_no_markup_from_text():
    """No module writes markup, and no page has a script or a style in line."""
    own = [path for path in CONSOLE.rglob("*.js") if path.parent.name != "libraries"]
    assert len(own) > 30
    for path in own:
        text = path.read_text()
        words = ("innerHTML", "InnerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
        assert not [word for word in words if word in text], path
    for path in CONSOLE.glob("*.html"):
        text = path.read_text()
        assert "<style" not in text, path
        assert text.count("<script") == text.count('<script type="module" src='), path
        assert re.search(r"<h1>[^<]+</h1>", text), "a heading is there before the scripts"


def test_hostile_text_stays_text(visit: OpenPage):
    """Markup in what a person or a list says is shown as it stands."""
    page = visit("adblock-compiler").page
    page.get_by_label("Own rules").fill("||a.example^")
    page.get_by_label("Name of the list").fill("<img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Compile", exact=True).click()
    expect(page.get_by_role("region", name="The list")).to_contain_text("<img src=x onerror=alert(1)>")
    assert page.locator("main img").count() == 0


def test_hostile_news_stay_text(visit: OpenPage):
    """Markup of a source is shown as it stands, and what is no address of the web is no link."""
    page = visit("worker-api", "/?q=claims").page
    story = page.locator(".story")
    expect(story.get_by_role("heading")).to_have_text("<b>Bold</b> claims")
    expect(story).to_contain_text("<script>alert(1)</script>")
    expect(story.locator("a, b, i, script")).to_have_count(0)


def test_theme_is_kept(visit: OpenPage):
    """The choice of light or dark lasts, and beats the system's."""
    page = visit("worker-api").page
    theme = page.get_by_role("button", name="Theme: system")
    theme.click()
    page.get_by_role("button", name="Theme: light").click()
    page.reload()
    expect(page.get_by_role("button", name="Theme: dark")).to_be_visible()
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"


@pytest.mark.parametrize("worker", PAGES)
def test_zoom(visit: OpenPage, worker: str):
    """At 200 % on a small screen nothing is cut off and nothing scrolls sideways."""
    page = visit(worker).page
    page.set_viewport_size({"width": 320, "height": 640})
    expect(page.get_by_role("button").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") == 0
    assert page.evaluate("document.getAnimations().length") == 0, "nothing moves for whoever asked for no motion"


@pytest.mark.parametrize("worker", PAGES)
def test_keyboard_reaches_everything(visit: OpenPage, worker: str):
    """Tab goes through the whole page, stands on every visible control, is always seen, and is caught nowhere."""
    page = visit(worker).page
    if worker == "edge-preload":
        page.get_by_label("Operator token").focus()
        page.keyboard.type(TOKEN)
        page.keyboard.press("Enter")
        expect(page.get_by_label("Zone", exact=True)).to_be_visible()
        page.get_by_role("button", name="New zone").focus()
        page.keyboard.press("Enter")
    expect(page.get_by_role("button").nth(1)).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.evaluate("document.activeElement.blur()")
    seen: list[str] = []
    for _ in range(300):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(FOCUSED)
        if seen and name == seen[0]:
            break
        assert outline != "none", name
        if name and name not in seen:  # a date has several stops; behind the last control there is none
            seen.append(name)
    wanted = page.evaluate(REACHABLE)
    assert len(wanted) > 5
    assert sorted(set(wanted) - set(seen)) == []


@pytest.mark.parametrize("worker", PAGES)
def test_slow_network(visit: OpenPage, worker: str):
    """Before any script has come, the page has its name and its heading."""
    page = visit(worker, troubles=("ERR_FAILED",)).page
    page.route("**/*.js", lambda route: route.abort())
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_role("link", name="Sluice")).to_be_visible()
