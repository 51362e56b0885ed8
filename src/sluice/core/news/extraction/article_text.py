"""Finds the element that holds the article, then the blocks in it that are text."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import unescape
from typing import Final

from sluice.core.news.extraction.asides import is_aside
from sluice.core.news.extraction.blocks import Block, blocks_of
from sluice.core.news.extraction.element_names import is_article_body, is_body, is_intro
from sluice.core.news.extraction.html_tags import HEADINGS
from sluice.core.news.extraction.json_ld import read_structured
from sluice.core.news.extraction.page_facts import find_hidden_parts, find_titles, is_paywalled
from sluice.core.news.extraction.survey import Survey, prose_by_node, survey_page
from sluice.core.news.extraction.tree import Node, parse
from sluice.core.news.sentences import measure_text

# Characters. With less text the names of elements may have misled, or the text is for browsers without scripts.
_TOO_SHORT: Final = 200
_MIN_STRUCTURED: Final = 250
_MIN_CANDIDATE: Final = 150
_TOO_SHORT_TO_REPEAT: Final = 40
_INTRO_LEVELS: Final = 4  # the intro stands at most this far outside of the body
_SENTENCE_END: Final = re.compile(r"""[.!?…\u3002\uff01\uff1f:»”"')]$""")
_TEXT_TAGS: Final = frozenset({"blockquote", "dd", "dt", "li", "p", "pre", "td"})


@dataclass(frozen=True, slots=True)
class ExtractedArticle:
    """The paragraphs, one on each line, and the title of the page.

    `titles` are all that the page gives itself. `is_paywalled` says that only subscribers may read the whole article, and
    `free_text` is what everybody may read of it.
    """

    text: str
    title: str
    titles: tuple[str, ...] = ()
    free_text: str = ""
    is_paywalled: bool = False


def extract(html: str) -> ExtractedArticle:
    """Return the article of a page; its text is "" if there is none."""
    page = parse(html)
    survey = survey_page(page.root)
    structured = read_structured(page.structured)
    text = shown = _extract_twice(page.root, survey)
    if len(structured.body) >= max(_MIN_STRUCTURED, 1.3 * len(text)):
        text = structured.body
    locked = is_paywalled(survey, structured)
    if locked and (hidden := find_hidden_parts(survey, structured)):
        survey.non_content |= hidden
        survey.boilerplate |= hidden
        shown = _extract_twice(page.root, survey)
    title = " ".join(unescape(page.title).split())
    return ExtractedArticle(
        text, title, find_titles(page, survey, structured), free_text=shown if locked else text, is_paywalled=locked
    )


def _extract_twice(root: Node, survey: Survey) -> str:
    """Try again regardless of names, and for a reader without scripts, if there is too little text."""
    text = _extract_text(root, survey, survey.boilerplate)
    if measure_text(text) < _TOO_SHORT:
        second = _extract_text(root, survey, survey.hidden_without_scripts)
        text = second if len(second) > 1.5 * len(text) else text
    return text


def _extract_text(root: Node, survey: Survey, without: set[Node]) -> str:
    prose = prose_by_node(survey.nodes, blocks_of(root, without))
    holder = _find_holder(root, survey, prose)
    texts = [block.text for block in _select_text_blocks(blocks_of(holder, without))]
    return "\n".join([*_find_intro(holder, survey, texts), *texts])


def _find_intro(holder: Node, survey: Survey, texts: list[str]) -> list[str]:
    """Return the paragraph between title and body if it stands in an element of its own, near the body."""
    ancestors = [holder]
    while ancestors[-1].parent is not None and len(ancestors) <= _INTRO_LEVELS:
        ancestors.append(ancestors[-1].parent)
    inside = survey.below[ancestors[-1]]
    end = survey.nodes.index(holder) if holder.parent is not None else 0
    named = [node for node in survey.nodes[inside.start : end] if is_intro(survey.names.get(node, ""))]
    found = {block.text: None for node in named if node not in ancestors for block in _prose_blocks(node, survey)}
    # Several are teasers of other articles.
    if len(found) != 1:
        return []
    intro = next(iter(found))
    return [] if any(intro in text or text in intro for text in texts if len(text) >= _TOO_SHORT_TO_REPEAT) else [intro]


def _prose_blocks(node: Node, survey: Survey) -> list[Block]:
    return [block for block in blocks_of(node, survey.non_content) if block.is_prose and not is_aside(block.text)]


def _find_holder(root: Node, survey: Survey, prose: dict[Node, int]) -> Node:
    """Return the innermost element that holds the whole article."""

    def best(inside: Node, share: float, fits: Callable[[Node], bool]) -> Node | None:
        least = max(_MIN_CANDIDATE, share * prose.get(inside, 0))
        inner = survey.nodes[survey.below[inside]]
        fitting = [node for node in inner if prose.get(node, 0) >= least and fits(node)]
        return max(fitting, key=lambda node: prose[node], default=None)

    if named := best(root, 0.3, lambda node: is_article_body(survey.names.get(node, ""))):
        return named
    holder = (
        best(root, 0.4, lambda node: node.tag == "article")
        or best(root, 0.5, lambda node: node.tag == "main" or "main" in survey.names.get(node, "").split())
        or root
    )
    holder = best(holder, 0.75, lambda node: is_body(survey.names.get(node, ""))) or holder
    return _narrow(holder, prose)


def _narrow(holder: Node, prose: dict[Node, int]) -> Node:
    while True:
        least = 0.98 * prose.get(holder, 1)
        inner = [node for node in holder.elements() if prose.get(node, 0) >= least]
        if len(inner) != 1 or inner[0].tag in {"p", "td"}:
            return holder
        holder = inner[0]


def _select_text_blocks(blocks: list[Block]) -> Iterator[Block]:
    """Yield prose and the blocks between prose; before and after it only blocks that look like text."""
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
    return block.size >= 50 and block.links < 0.5 and _SENTENCE_END.search(block.text) is not None
