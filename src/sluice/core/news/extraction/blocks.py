"""Reads the tree as a sequence of text blocks, each with the share of its text that is links."""

from collections.abc import Collection
from dataclasses import dataclass, field
from html import unescape
from typing import Final

from sluice.core.news.extraction.html_tags import INLINE
from sluice.core.news.extraction.tree import Node
from sluice.core.news.sentences import measure_text

MAX_CHARS: Final = 300_000  # of text read from one page; an article takes about a thirtieth of it
_MIN_PROSE_CHARS: Final = 50  # shorter blocks may be anything; a sentence is longer
_MAX_PROSE_LINKS: Final = 0.35


@dataclass(frozen=True, slots=True)
class Block:
    """Consecutive text and the element that makes it a block; `links` is the share of linked characters."""

    text: str
    links: float
    node: Node

    @property
    def is_prose(self) -> bool:
        """Whether it looks like running text, by its length and the few links in it."""
        return self.size >= _MIN_PROSE_CHARS and self.links < _MAX_PROSE_LINKS

    @property
    def size(self) -> int:
        return measure_text(self.text)


@dataclass(slots=True)
class _Reader:
    without: Collection[Node]
    blocks: list[Block] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    linked_chars: int = 0
    left_chars: int = MAX_CHARS

    def read(self, node: Node, block: Node, *, linked: bool) -> None:
        """Recurse as deep as the tree, whose depth is bounded."""
        for child in node.children:
            if self.left_chars <= 0:
                return
            if isinstance(child, str):
                self.pieces.append(child)
                self.linked_chars += len(child.strip()) if linked else 0
            elif child.tag == "br":
                self.pieces.append("\n")
            elif child.tag in INLINE:
                if child not in self.without:
                    self.read(child, block, linked=linked or child.tag == "a")
            else:
                self.end(block)
                if child not in self.without:
                    self.read(child, child, linked=linked)
                    self.end(child)

    def end(self, block: Node) -> None:
        if not self.pieces:
            return
        source = "".join(self.pieces)[: self.left_chars]
        self.left_chars -= len(source)
        text = "" if source.isspace() else " ".join(unescape(source).split())
        if text:
            self.blocks.append(Block(text, min(1.0, self.linked_chars / len(text)), block))
        self.pieces.clear()
        self.linked_chars = 0


def blocks_of(root: Node, without: Collection[Node] = ()) -> list[Block]:
    """Return the blocks below an element without those in the elements of `without`."""
    reader = _Reader(without)
    reader.read(root, root, linked=False)
    reader.end(root)
    return reader.blocks
