"""Parses XML that is not well-formed, in time linear in its length: the second try after expat.

Entities of HTML are known, a bare & or < is text, attributes need no quotes, an end tag closes what was left open inside
it, a stray one is ignored, and a new item ends the one before.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

from sluice.core.news.reading.builder import FeedBuilder, FeedTooLarge
from sluice.core.news.reading.plain_text import REFERENCE, resolve_reference

_TAG: Final = re.compile(r"""<(/?)([A-Za-z_][\w.:-]{0,100}+)((?:[^<>"']++|"[^"<>]*+"|'[^'<>]*+'|["'])*+)>""")
_ATTRIBUTE: Final = re.compile(r"""([A-Za-z_][\w.:-]*+)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++))""")
_CUT_TAG: Final = re.compile(r"</?[A-Za-z]|<\Z")
_VOID: Final = frozenset({"area", "br", "col", "embed", "hr", "img", "input", "meta", "source", "wbr"})
_ITEMS: Final = frozenset({"item", "entry"})
# Fields of plain text: the next field ends one that was left open.
_LEAVES: Final = frozenset({"category", "guid", "id", "issued", "link", "pubdate", "published", "title", "updated"})
_FIELDS: Final = _LEAVES | {"author", "content", "description", "enclosure", "summary", "encoded", "creator", "date"}
_MAX_DEPTH: Final = 500
_MAX_BROKEN: Final = 100_000  # lone < characters


@dataclass(slots=True)
class _TolerantParser:
    builder: FeedBuilder
    open: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    last_end: int = 0
    broken: int = 0
    is_complete: bool = True

    def parse(self, text: str) -> None:
        at, end = 0, len(text)
        self.last_end = text.rfind(">")
        while at < end and not self.builder.root_closed:
            start = text.find("<", at)
            if start < 0:
                self._text(text[at:])
                break
            if start > at:
                self._text(text[at:start])
            at = self._markup(text, start)
        self.is_complete = self.is_complete and self.builder.root_closed

    def _markup(self, text: str, start: int) -> int:
        """Take the markup at `start`, and return where it ends."""
        if text.startswith("<![CDATA[", start):
            return self._until(text, start + 9, "]]>", is_text=True)
        if text.startswith("<!--", start):
            return self._until(text, start + 4, "-->")
        if text.startswith(("<!", "<?"), start):
            return self._until(text, start + 2, ">")
        tag = _TAG.match(text, start)
        if tag is None:
            return self._broken_markup(text, start)
        name = tag[2]
        if tag[1]:
            self._end(name.lower())
        else:
            self._start(name, tag[3])
        return tag.end()

    def _broken_markup(self, text: str, start: int) -> int:
        # A tag that is cut off by the end of the text is not text.
        if start > self.last_end and _CUT_TAG.match(text, start):
            self.is_complete = False
            return len(text)
        self.broken += 1
        if self.broken > _MAX_BROKEN:
            raise FeedTooLarge
        self.builder.text("<")
        return start + 1

    def _until(self, text: str, start: int, closing: str, *, is_text: bool = False) -> int:
        end = text.find(closing, start)
        if is_text and end >= 0:
            self.builder.text(text[start:end])
        if end < 0:
            self.is_complete = False
            return len(text)
        return end + len(closing)

    def _text(self, text: str) -> None:
        self.builder.text(REFERENCE.sub(resolve_reference, text) if "&" in text else text)

    def _start(self, name: str, source: str) -> None:
        lowered = name.lower()
        local = lowered.rpartition(":")[2]
        self._end_unclosed(local)
        if len(self.open) >= _MAX_DEPTH:
            return
        attributes = {
            key: REFERENCE.sub(resolve_reference, double or single or bare)
            for key, double, single, bare in reversed(_ATTRIBUTE.findall(source))
        }
        self.builder.start(name, attributes)
        self.open.append(lowered)
        self.counts[lowered] += 1
        if source.rstrip().endswith("/") or (local in _VOID and self._is_in_item()):
            self._close_last()

    def _end_unclosed(self, local: str) -> None:
        if local in _ITEMS and self._is_in_item():
            while self.open[-1].rpartition(":")[2] not in _ITEMS:
                self._close_last()
            self._close_last()
        elif local in _FIELDS and self.open and self.open[-1].rpartition(":")[2] in _LEAVES and self._is_in_item():
            self._close_last()

    def _is_in_item(self) -> bool:
        # An item is near the root, whatever is open inside it.
        return any(name.rpartition(":")[2] in _ITEMS for name in self.open[:6])

    def _end(self, name: str) -> None:
        if not self.counts[name]:
            return
        while self.open:
            last = self.open[-1]
            self._close_last()
            if last == name:
                return

    def _close_last(self) -> None:
        self.counts[self.open.pop()] -= 1
        self.builder.end()


def parse_tolerantly(text: str, builder: FeedBuilder) -> bool:
    """Feed the builder; return whether the document was complete, and not cut off."""
    parser = _TolerantParser(builder)
    parser.parse(text)
    return parser.is_complete
