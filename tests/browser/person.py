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
        """In both themes and all widths: a picture, no sideways scrolling, no violation that axe finds."""
        OUT.mkdir(exist_ok=True)
        for theme in THEMES:
            self.page.emulate_media(color_scheme=theme)
            for width in WIDTHS:
                self.page.set_viewport_size({"width": width, "height": 900})
                self.page.evaluate(PAINTED)
                self.page.screenshot(path=OUT / f"{name}-{theme}-{width}.png", full_page=True)
                wide = self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert wide == 0, f"{name} is {wide} px too wide at {width}"
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
