"""What a page says of itself besides its text: its titles, and whether all of its article is shown."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from sluice.core.news.extraction.blocks import blocks_of
from sluice.core.news.extraction.json_ld import StructuredArticle
from sluice.core.news.extraction.survey import Survey
from sluice.core.news.extraction.tree import Node, ParsedPage

_TITLES: Final = frozenset({"og:title", "twitter:title", "parsely-title", "dc.title"})
_TIER: Final = "article:content_tier"
_LOCKED_TIERS: Final = frozenset({"locked", "metered"})
_MAX_HEADINGS: Final = 3


def find_titles(page: ParsedPage, survey: Survey, structured: StructuredArticle) -> tuple[str, ...]:
    """Return the titles that the page gives itself, each once."""
    metas = [content for name, content in _read_metas(survey) if name in _TITLES]
    headings = [node for node in survey.nodes if node.tag == "h1"][:_MAX_HEADINGS]
    texts = [" ".join(block.text for block in blocks_of(node)) for node in headings]
    found = (" ".join(unescape(each).split()) for each in (page.title, structured.headline, *metas, *texts))
    return tuple({each: None for each in found if each})


def is_paywalled(survey: Survey, structured: StructuredArticle) -> bool:
    """Return whether the page says that only subscribers may read its article."""
    if not structured.is_free or any(
        name == _TIER and content.lower() in _LOCKED_TIERS for name, content in _read_metas(survey)
    ):
        return True
    return any(_is_locked_property(node) for node in survey.nodes if node.tag in {"meta", "link", "span", "div"})


def find_hidden_parts(survey: Survey, structured: StructuredArticle) -> set[Node]:
    """Return the elements that only subscribers may read, where the page names them."""
    if not structured.hidden_classes:
        return set()
    return {
        node
        for node in survey.nodes
        if "class" in node.source and structured.hidden_classes & set(node.attributes().get("class", "").split())
    }


def _read_metas(survey: Survey) -> Iterator[tuple[str, str]]:
    for node in survey.nodes:
        if node.tag == "meta":
            attributes = node.attributes()
            yield (attributes.get("property") or attributes.get("name") or "").lower(), attributes.get("content", "")


def _is_locked_property(node: Node) -> bool:
    """Return whether a property of microdata says that the article is not free."""
    if "isAccessibleForFree" not in node.source:
        return False
    attributes = node.attributes()
    value = attributes.get("content") or attributes.get("href") or ""
    return re.search(r"(?:^|/)(?:false|no)$", value.strip(), re.IGNORECASE) is not None
