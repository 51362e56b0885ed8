"""The article of a page: the element that holds it, then the blocks of it that are text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

from sluice.core.news.extraction.asides import is_aside
from sluice.core.news.extraction.blocks import Block, blocks_of
from sluice.core.news.extraction.element_names import is_article_body, is_body
from sluice.core.news.extraction.json_ld import article_body
from sluice.core.news.extraction.survey import Survey, prose_by_node, survey
from sluice.core.news.extraction.tags import HEADINGS
from sluice.core.news.extraction.tree import Node, parse

_TOO_SHORT: Final = (
    200  # characters; then the names of elements may have misled, or the text is for browsers without scripts
)
_MIN_STRUCTURED: Final = 250
_MIN_CANDIDATE: Final = 150
_SENTENCE_END: Final = re.compile(r"""[.!?…\u3002\uff01\uff1f:»”"')]$""")
_TEXT_TAGS: Final = frozenset({"blockquote", "dd", "dt", "li", "p", "pre", "td"})


@dataclass(frozen=True, slots=True)
class Extracted:
    """What was found: paragraphs, one on each line, and the page's own title."""

    text: str
    title: str


def extract(html: str) -> Extracted:
    """The article of a page, "" where it has none."""
    page = parse(html)
    seen = survey(page.root)
    text = _article(page.root, seen, seen.boilerplate)
    if len(text) < _TOO_SHORT:
        second = _article(page.root, seen, seen.visible_without_scripts)
        text = second if len(second) > 1.5 * len(text) else text
    structured = article_body(page.structured)
    if len(structured) >= max(_MIN_STRUCTURED, 2 * len(text)):
        text = structured
    return Extracted(text, " ".join(unescape(page.title).split()))


def _article(root: Node, seen: Survey, without: set[Node]) -> str:
    prose = prose_by_node(seen.nodes, blocks_of(root, without))
    holder = _holder(root, seen, prose)
    return "\n".join(block.text for block in _kept(blocks_of(holder, without)))


def _holder(root: Node, seen: Survey, prose: dict[Node, int]) -> Node:
    """The innermost element that still holds the whole article."""

    def best(inside: Node, share: float, fits: Callable[[Node], bool]) -> Node | None:
        least = max(_MIN_CANDIDATE, share * prose.get(inside, 0))
        inner = seen.nodes[seen.below[inside]]
        fitting = [node for node in inner if prose.get(node, 0) >= least and fits(node)]
        return max(fitting, key=lambda node: prose[node], default=None)

    if named := best(root, 0.3, lambda node: is_article_body(seen.names.get(node, ""))):
        return named
    holder = (
        best(root, 0.4, lambda node: node.tag == "article")
        or best(root, 0.5, lambda node: node.tag == "main" or "main" in seen.names.get(node, "").split())
        or root
    )
    holder = best(holder, 0.75, lambda node: is_body(seen.names.get(node, ""))) or holder
    return _narrowed(holder, prose)


def _narrowed(holder: Node, prose: dict[Node, int]) -> Node:
    while True:
        least = 0.98 * prose.get(holder, 1)
        inner = [node for node in holder.elements() if prose.get(node, 0) >= least]
        if len(inner) != 1 or inner[0].tag in {"p", "td"}:
            return holder
        holder = inner[0]


def _kept(blocks: list[Block]) -> Iterator[Block]:
    """Prose, and what stands between prose; before and after it only what looks like text."""
    prose = [place for place, block in enumerate(blocks) if block.is_prose]
    if not prose:
        yield from (block for block in blocks if block.links < 0.5 and not is_aside(block.text))
        return
    first, last = prose[0], prose[-1]
    for place, block in enumerate(blocks):
        if is_aside(block.text):
            continue
        if block.node.tag in HEADINGS:
            wanted = place < last and block.links < 0.9
        else:
            inside = first < place < last or (place > first and block.node.tag in _TEXT_TAGS)
            wanted = block.is_prose or _is_sentence(block) or (inside and block.links < 0.34)
        if wanted:
            yield block


def _is_sentence(block: Block) -> bool:
    return len(block.text) >= 50 and block.links < 0.5 and _SENTENCE_END.search(block.text) is not None
