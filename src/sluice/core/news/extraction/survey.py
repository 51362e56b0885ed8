"""Surveys a page: how much prose each element holds, and which elements do not belong to the article."""

from dataclasses import dataclass, field
from typing import Final

from sluice.core.news.extraction.blocks import Block, blocks_of
from sluice.core.news.extraction.element_names import element_name_words, is_body, is_boilerplate, is_comments
from sluice.core.news.extraction.html_tags import NON_CONTENT, UNSEEN
from sluice.core.news.extraction.tree import Node

# A name is only a hint: an element with this share of all prose is kept whatever its name.
_MAX_SHARE: Final = 0.5
_MAX_SHARE_OF_BODY: Final = 0.1
# Comments of any length are left out if this many characters of prose remain.
_ENOUGH_PROSE: Final = 500
_NEVER_LEFT_OUT: Final = frozenset({"html", "body", "main", "article"})


@dataclass(slots=True)
class Survey:
    """All elements in document order with their names, and two sets of elements to leave out."""

    nodes: list[Node] = field(default_factory=list)
    # The part of `nodes` that holds an element's descendants.
    below: dict[Node, slice] = field(default_factory=dict)
    names: dict[Node, str] = field(default_factory=dict)
    # Left out because of the tag, or because it is invisible.
    non_content: set[Node] = field(default_factory=set)
    # Left out because of the name as well.
    boilerplate: set[Node] = field(default_factory=set)

    @property
    def hidden_without_scripts(self) -> set[Node]:
        """The elements to leave out for a reader without scripts, regardless of names."""
        return {node for node in self.non_content if node.tag not in UNSEEN}


def survey_page(root: Node) -> Survey:
    """Visit every element once."""
    survey = Survey()
    _visit(root, survey)
    prose = prose_by_node(survey.nodes, blocks_of(root, survey.non_content))
    total = prose.get(root, 0)
    survey.boilerplate = survey.non_content | {
        node
        for node, words in survey.names.items()
        if node.tag not in _NEVER_LEFT_OUT and is_boilerplate(words) and _is_minor(words, prose.get(node, 0), total)
    }
    return survey


def prose_by_node(nodes: list[Node], blocks: list[Block]) -> dict[Node, int]:
    """Return the characters of prose in each element and below it."""
    prose: dict[Node, int] = {}
    for block in blocks:
        if block.is_prose:
            prose[block.node] = prose.get(block.node, 0) + block.size
    # In reverse order every element comes after its descendants.
    for node in reversed(nodes):
        if node in prose and node.parent is not None:
            prose[node.parent] = prose.get(node.parent, 0) + prose[node]
    return prose


def _visit(node: Node, survey: Survey) -> None:
    survey.nodes.append(node)
    place = len(survey.nodes)
    for child in node.elements():
        if child.tag in NON_CONTENT:
            survey.non_content.add(child)
        elif child.source:
            attributes = child.attributes()
            if "display:none" in attributes.get("style", "").replace(" ", "").lower():
                survey.non_content.add(child)
            elif words := element_name_words(attributes):
                survey.names[child] = words
        # Below furniture too: the second extraction may need it.
        _visit(child, survey)
    survey.below[node] = slice(place, len(survey.nodes))


def _is_minor(words: str, prose: int, total: int) -> bool:
    if is_comments(words):
        return prose < _MAX_SHARE * total or total - prose >= _ENOUGH_PROSE
    return prose < (_MAX_SHARE_OF_BODY if is_body(words) else _MAX_SHARE) * total
