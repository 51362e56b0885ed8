"""Parses HTML into a tree, as forgiving as browsers, in time linear in the length of any page."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from sluice.core.news.extraction.html_tags import IMPLIED_END, IN_TABLES, RAW, SCOPES, VOID

MAX_CHARS: Final = 1_500_000  # of one page; the rest is ignored
MAX_DEPTH: Final = 100  # deeper elements become children of this level; real text is not nested deeper
MAX_NODES: Final = 12_000  # elements of one page; the largest of 330 real pages has 9,700
MAX_STEPS: Final = 100_000  # of those 330 pages none takes more than 27,000
# A tag whose quotes do not close is read to the next >. After this many, all tags are: the search for the end costs time.
_MAX_BROKEN_TAGS: Final = 8
_MAX_ATTRIBUTE_CHARS: Final = 8_000

_TAG: Final = re.compile(r"""(/?)([a-zA-Z][^\s/>]*+)((?:[^>"']++|"[^"]*+"|'[^']*+')*+)>""")
_LOOSE_TAG: Final = re.compile(r"(/?)([a-zA-Z][^\s/>]*+)([^>]*+)>")
_TAG_START: Final = re.compile(r"/?[a-zA-Z]")
_ATTRIBUTE: Final = re.compile(r"""(?<![^\s"'/])([^\s=/>"']++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++))""")


@dataclass(slots=True, eq=False)
class Node:
    """An element; children are elements and texts with undecoded entities."""

    tag: str
    source: str = ""
    parent: "Node | None" = None
    children: "list[Node | str]" = field(default_factory=list)

    def attributes(self) -> dict[str, str]:
        """Return the attributes with lower-case names; the first of a name counts."""
        if not self.source:
            return {}
        matches = _ATTRIBUTE.findall(self.source)
        return {name.lower(): double or single or bare for name, double, single, bare in reversed(matches)}

    def elements(self) -> "Iterator[Node]":
        return (child for child in self.children if isinstance(child, Node))


@dataclass(slots=True)
class ParsedPage:
    """The tree, the title, the JSON-LD scripts, and the number of steps that parsing took."""

    root: Node
    title: str = ""
    structured: list[str] = field(default_factory=list)
    steps: int = 0


def parse(html: str) -> ParsedPage:
    """Parse the first MAX_CHARS characters of a page."""
    return _Builder(html[:MAX_CHARS]).build()


class _Builder:
    def __init__(self, html: str) -> None:
        self.html = html
        self.page = ParsedPage(Node("html"))
        self.stack = [self.page.root]
        self.open: Counter[str] = Counter()
        # Opened below MAX_DEPTH, so not on the stack.
        self.too_deep: Counter[str] = Counter()
        self.nodes = 0
        self.broken = 0
        # A closing text that a search did not find is not searched for again.
        self.missing: set[str] = set()

    def build(self) -> ParsedPage:
        html, at = self.html, 0
        while (start := html.find("<", at)) >= 0 and self.nodes < MAX_NODES and self.page.steps < MAX_STEPS:
            self.page.steps += 1
            at = self.read_markup(at, start)
        self.text(html[at:] if start < 0 else "")
        return self.page

    def read_markup(self, at: int, start: int) -> int:
        """Take the text up to `start` and the markup that begins there; return where to go on."""
        tag = self.match_tag(start + 1)
        if tag is None and not self.html.startswith(("!", "?", "/"), start + 1):
            self.text(self.html[at : start + 1])
            return start + 1
        self.text(self.html[at:start])
        if tag is None:
            return self.find_after("-->" if self.html.startswith("!--", start + 1) else ">", start + 2)
        slash, name, source = tag[1], tag[2].lower(), tag[3]
        if slash:
            self.close(name)
        elif name in RAW:
            return self.read_raw_text(name, source, tag.end())
        else:
            self.open_element(name, source)
        return tag.end()

    def match_tag(self, position: int) -> "re.Match[str] | None":
        if not _TAG_START.match(self.html, position) or "tag" in self.missing:
            return None
        if self.broken < _MAX_BROKEN_TAGS:
            if (tag := _TAG.match(self.html, position)) is not None:
                return tag
            self.broken += 1
        tag = _LOOSE_TAG.match(self.html, position)
        if tag is None:
            self.missing.add("tag")
        return tag

    def text(self, text: str) -> None:
        if text:
            self.stack[-1].children.append(text)

    def find_after(self, closing: str, position: int) -> int:
        """Return the position after the next `closing`; the same position if there is none."""
        end = -1 if closing in self.missing else self.html.find(closing, position)
        if end < 0:
            self.missing.add(closing)
            return position
        return end + len(closing)

    def read_raw_text(self, name: str, source: str, position: int) -> int:
        end = -1 if name in self.missing or source.endswith("/") else self.find_raw_end(name, position)
        if end < 0:
            return position
        if name == "title":
            self.page.title = self.page.title or self.html[position:end]
        elif name == "script" and "ld+json" in source:
            self.page.structured.append(self.html[position:end])
        return self.find_after(">", end)

    def find_raw_end(self, name: str, position: int) -> int:
        while (end := self.html.find("</", position)) >= 0 and self.page.steps < MAX_STEPS:
            self.page.steps += 1
            position = end + 2
            if self.html[position : position + len(name)].lower() == name:
                return end
        self.missing.add(name)
        return -1

    def open_element(self, name: str, source: str) -> None:
        if name in IMPLIED_END:
            self.end_implied(*IMPLIED_END[name])
        parent = self.stack[-1]
        node = Node(name, source[:_MAX_ATTRIBUTE_CHARS], parent)
        parent.children.append(node)
        self.nodes += 1
        if name in VOID:
            return
        if len(self.stack) < MAX_DEPTH:
            self.stack.append(node)
            self.open[name] += 1
        else:
            self.too_deep[name] += 1

    def end_implied(self, ended: frozenset[str], boundary: frozenset[str]) -> None:
        if any(self.open[name] for name in ended):
            self.pop_innermost(ended, boundary)

    def close(self, name: str) -> None:
        if self.too_deep[name]:
            self.too_deep[name] -= 1
        elif self.open[name] and name not in {"html", "body"}:
            self.pop_innermost(frozenset({name}), frozenset() if name in IN_TABLES else SCOPES)

    def pop_innermost(self, ended: frozenset[str], boundary: frozenset[str]) -> None:
        for depth in range(len(self.stack) - 1, 0, -1):
            self.page.steps += 1
            tag = self.stack[depth].tag
            if tag in ended:
                for node in self.stack[depth:]:
                    self.open[node.tag] -= 1
                del self.stack[depth:]
                return
            if tag in boundary:
                return
