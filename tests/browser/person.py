"""Somebody at a page: looks at it in every light and width, and hears what the browser has to complain about."""

import os
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect

from runtime import PATIENCE_S, ROOT

OUT = ROOT / "tests/browser/out"
# What the README shows, made anew when the variable SLUICE_PICTURES is set.
PICTURES = {"compiler-result": "compiler", "preload-overview": "preload", "news-stories": "news"}
PICTURE: ViewportSize = {"width": 1120, "height": 800}
AXE = ROOT / "node_modules/axe-core/axe.min.js"
WIDTHS = (360, 768, 1440)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
# Two frames, after which what was changed has been drawn.
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
# A value that nobody meant to show, such as the 0 of `count && …`, between the parts of a page.
STRAYS = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (texts.nextNode()) {
    const { data, parentElement: parent } = texts.currentNode;
    const isBox = parent.matches("main, section, header, div, ul, ol, dl, form, fieldset, details, dialog") && parent.childElementCount > 0;
    if (isBox && /^(0|NaN|undefined|null|true|false|\\[object .*\\])$/.test(data.trim())) found.push(`${data.trim()} in <${parent.tagName} class="${parent.className}">`);
  }
  return found;
}"""
# A button inside a sentence is one block to the browser: on two lines it tears the sentence apart.
TORN = """() => [...document.querySelectorAll("p button, li button.link, .banner button")]
  .filter((button) => button.checkVisibility() && button.getBoundingClientRect().height > 1.9 * parseFloat(getComputedStyle(button).fontSize) && button.matches(".link"))
  .map((button) => button.innerText)"""
WAIT_MS = PATIENCE_S * 1000
RULES = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    # Nothing but the colours differs.
    "dark": ["color-contrast"],
}

expect.set_options(timeout=WAIT_MS)


@dataclass
class Person:
    page: Page
    troubles: tuple[str, ...]  # what may be complained about, because the test causes it
    complaints: list[str] = field(default_factory=list)

    @classmethod
    def opening(cls, browser: Browser, url: str, troubles: tuple[str, ...]) -> Self:
        context = browser.new_context(reduced_motion="reduce", viewport={"width": 1440, "height": 900}, locale="en-US")
        context.set_default_timeout(WAIT_MS)
        person = cls(context.new_page(), troubles)
        person.page.on("console", person._heard)
        person.page.on("pageerror", lambda error: person.complaints.append(str(error)))
        person.page.goto(url)
        return person

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not any(each in message.text for each in self.troubles):
            self.complaints.append(f"{message.text} ({message.location.get('url')})")

    def look(self, name: str) -> None:
        """In both themes and all widths: a picture, no sideways scrolling, no stray value or torn sentence, no violation that axe finds."""
        OUT.mkdir(exist_ok=True)
        for theme in THEMES:
            self.page.emulate_media(color_scheme=theme)
            for width in WIDTHS:
                self.page.set_viewport_size({"width": width, "height": 900})
                self.page.evaluate(PAINTED)
                self.page.screenshot(path=OUT / f"{name}-{theme}-{width}.png", full_page=True)
                wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide == 0, f"{name} is {wide} px too wide at {width}"
                torn = self.page.evaluate(TORN)
                assert not torn, f"{name}, {width} px: {torn}"
            strays = self.page.evaluate(STRAYS)
            assert not strays, f"{name}: {strays}"
            found = self._violations(RULES[theme])
            assert not found, "\n".join([f"{name}, {theme}", *found])

        if os.environ.get("SLUICE_PICTURES") and name in PICTURES:
            self.page.emulate_media(color_scheme="light")
            self.page.set_viewport_size(PICTURE)
            self.page.evaluate("scrollTo(0, 0)")
            self.page.screenshot(path=ROOT / f"tests/browser/pictures/{PICTURES[name]}.png")

    def _violations(self, rules: list[str]) -> list[str]:
        # As text, since the page's policy admits no script of others.
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        found: dict[str, Any] = self.page.evaluate(
            "rules => axe.run({ runOnly: rules, resultTypes: ['violations'] })", rules
        )
        return [
            f"{each['id']}: {each['help']}: {node['html'][:160]} {node.get('failureSummary', '')[:200]}"
            for each in found["violations"]
            for node in each["nodes"]
        ]
