"""The names of elements in feeds: namespaces under any prefix become one short prefix."""

from dataclasses import dataclass, field
from typing import Final

_ATOM: Final = "atom"
# RSS itself, in all its dialects, has no prefix.
_PREFIXES: Final = {
    "http://www.w3.org/2005/atom": _ATOM,
    "http://purl.org/atom/ns#": _ATOM,
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://purl.org/dc/elements/1.0/": "dc",
    "http://purl.org/dc/terms/": "dcterms",
    "http://purl.org/rss/1.0/modules/content/": "content",
    "http://search.yahoo.com/mrss/": "media",
    "http://search.yahoo.com/mrss": "media",
    "http://www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "http://rssnamespace.org/feedburner/ext/1.0": "feedburner",
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
    "http://www.w3.org/1999/xhtml": "xhtml",
    "http://www.w3.org/xml/1998/namespace": "xml",
}
_MAX_PREFIXES: Final = 100
_ROOTS_OF_ATOM: Final = frozenset({"feed", "entry"})


@dataclass(slots=True)
class NamespaceResolver:
    """Resolves prefixes by the declarations that are in force; `has_undeclared` tells of a prefix without one."""

    has_undeclared: bool = False
    _scopes: list[dict[str, str]] = field(default_factory=lambda: [{}])
    _opened: list[bool] = field(default_factory=list)

    def open(self, qualified: str, attributes: dict[str, str]) -> str:
        """Enter an element, and return its name: `title`, `atom:link`, `dc:date`."""
        declared = {
            name.partition(":")[2].lower(): _shorten(uri)
            for name, uri in attributes.items()
            if name == "xmlns" or name.startswith("xmlns:")
        }
        is_scope = bool(declared) and len(self._scopes[-1]) < _MAX_PREFIXES
        self._opened.append(is_scope)
        if is_scope:
            self._scopes.append({**self._scopes[-1], **declared})
        return self._resolve(qualified.lower(), self._scopes[-1])

    def close(self) -> None:
        if self._opened and self._opened.pop():
            self._scopes.pop()

    def _resolve(self, name: str, scope: dict[str, str]) -> str:
        prefix, colon, local = name.rpartition(":")
        if prefix in scope:
            short = scope[prefix]
        else:
            self.has_undeclared = self.has_undeclared or bool(colon)
            short = prefix
        # A feed without a namespace is Atom by the name of its root.
        if not short and local in _ROOTS_OF_ATOM:
            return f"{_ATOM}:{local}"
        return f"{short}:{local}" if short else local


def _shorten(uri: str) -> str:
    """Return the short prefix of a namespace; an unknown one keeps its address, so that its elements are not taken for those of the feed."""
    known = _PREFIXES.get(uri.strip().lower())
    if known is not None:
        return known
    return "" if "rss" in uri.lower() or "netscape.com" in uri or "userland.com" in uri else uri
