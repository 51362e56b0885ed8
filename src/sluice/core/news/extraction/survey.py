"""A first look at a page: how much prose each element holds, and which elements are not the article's."""

from dataclasses import dataclass, field
from typing import Final

from sluice.core.news.extraction.blocks import Block, blocks_of
from sluice.core.news.extraction.element_names import is_body, is_boilerplate, is_comments, naming
from sluice.core.news.extraction.tags import FURNITURE, UNSEEN
from sluice.core.news.extraction.tree import Node

# A name is only a hint: an element that holds this share of all prose is kept whatever it is called.
_MAX_SHARE: Final = 0.5
_MAX_SHARE_OF_BODY: Final = 0.1
# Comments go, however long they are, as long as this many characters of prose are left.
_ENOUGH_PROSE: Final = 500
_NEVER_LEFT_OUT: Final = frozenset({"html", "body", "main", "article"})


@dataclass(slots=True)
class Survey:
    """All elements in document order, with their names, and the two sets of what to leave out."""

    nodes: list[Node] = field(default_factory=list)
    # Where in `nodes` an element's descendants are.
    below: dict[Node, slice] = field(default_factory=dict)
    names: dict[Node, str] = field(default_factory=dict)
    # By the tag or because nobody sees it.
    furniture: set[Node] = field(default_factory=set)
    # By the name as well.
    boilerplate: set[Node] = field(default_factory=set)

    @property
    def visible_without_scripts(self) -> set[Node]:
        """What to leave out for a reader without scripts, taking no hint from names."""
        return {node for node in self.furniture if node.tag not in UNSEEN}


def survey(root: Node) -> Survey:
    """Look at every element once."""
    found = Survey()
    _look(root, found)
    prose = prose_by_node(found.nodes, blocks_of(root, found.furniture))
    total = prose.get(root, 0)
    found.boilerplate = found.furniture | {
        node
        for node, words in found.names.items()
        if node.tag not in _NEVER_LEFT_OUT and is_boilerplate(words) and _is_minor(words, prose.get(node, 0), total)
    }
    return found


def prose_by_node(nodes: list[Node], blocks: list[Block]) -> dict[Node, int]:
    """Characters of prose in each element and all below it."""
    prose: dict[Node, int] = {}
    for block in blocks:
        if block.is_prose:
            prose[block.node] = prose.get(block.node, 0) + len(block.text)
    # Backwards, every element comes after all that it contains.
    for node in reversed(nodes):
        if node in prose and node.parent is not None:
            prose[node.parent] = prose.get(node.parent, 0) + prose[node]
    return prose


def _look(node: Node, found: Survey) -> None:
    found.nodes.append(node)
    place = len(found.nodes)
    for child in node.elements():
        if child.tag in FURNITURE:
            found.furniture.add(child)
        elif child.source:
            attributes = child.attributes()
            if "display:none" in attributes.get("style", "").replace(" ", "").lower():
                found.furniture.add(child)
            elif words := naming(attributes):
                found.names[child] = words
        # Below furniture too: a second look may want what stands in it.
        _look(child, found)
    found.below[node] = slice(place, len(found.nodes))


def _is_minor(words: str, prose: int, total: int) -> bool:
    if is_comments(words):
        return prose < _MAX_SHARE * total or total - prose >= _ENOUGH_PROSE
    return prose < (_MAX_SHARE_OF_BODY if is_body(words) else _MAX_SHARE) * total
