"""Takes off what stands before the root element: white space, the XML declaration, the document type, and junk."""

import re
from dataclasses import dataclass
from html.entities import html5
from typing import Final

from sluice.core.news.reading.feed_document import Warn

_DECLARATION: Final = re.compile(r"<\?xml\b[^>]{0,300}\?>", re.IGNORECASE)
_DOCTYPE: Final = re.compile(r"<!DOCTYPE\b", re.IGNORECASE)
_DOCTYPE_PART: Final = re.compile(r"""[^\[\]<>"']++|"[^"]*+"|'[^']*+'|<!--.*?-->|[\[\]<>"']""", re.DOTALL)
_EXTERNAL: Final = re.compile(r"(?:PUBLIC|SYSTEM)\s", re.IGNORECASE)
_ROOT: Final = re.compile(r"<(?:[a-z][\w.-]{0,40}:)?(rss|rdf|feed)(?=[\s>/])", re.IGNORECASE)
_NAMED: Final = re.compile(r"&([a-zA-Z][a-zA-Z0-9]{1,30};)")
_XML_NAMES: Final = frozenset({"amp;", "lt;", "gt;", "quot;", "apos;"})
_ROOT_WITHIN: Final = 20_000  # characters; the root of a feed does not stand further down


@dataclass(frozen=True, slots=True)
class FeedBody:
    """The text from its root element on, the local name of the root or "", and what was wrong before it."""

    text: str
    root: str
    warnings: tuple[Warn, ...] = ()


def strip_prolog(text: str) -> FeedBody:
    """Return the text from its root element on. This never fails: without a root element of a feed the text stays as it is."""
    root = _ROOT.search(text, 0, _ROOT_WITHIN)
    doctype = _DOCTYPE.search(text, 0, root.start() if root else _ROOT_WITHIN)
    warnings: list[Warn] = []
    declares = ""
    if doctype:
        end = _end_of_doctype(text, doctype.end())
        declares = text[doctype.start() : end]
        # Entities may contain tags, so the root is searched for after their declarations.
        root = _ROOT.search(text, end, end + _ROOT_WITHIN)
        if "<!ENTITY" in declares.upper():
            warnings.append(Warn.DOCTYPE)
    if root is None:
        return FeedBody(text, "")
    before = _DECLARATION.sub("", text[: root.start()].replace(declares, "", 1), count=1)
    if text[:1].isspace() or (_without_comments(before).strip() and Warn.DOCTYPE not in warnings):
        warnings.append(Warn.REPAIRED)
    rest = text[root.start() :]
    if _EXTERNAL.search(declares) and Warn.DOCTYPE not in warnings:
        rest = _NAMED.sub(_resolve_name, rest)
    return FeedBody(rest, root[1].lower(), tuple(warnings))


def _end_of_doctype(text: str, start: int) -> int:
    """Return the position after the > that ends the declaration, which may contain others in brackets."""
    depth = 0
    for part in _DOCTYPE_PART.finditer(text, start):
        match part[0]:
            case "[":
                depth += 1
            case "]":
                depth -= 1
            case ">" if depth <= 0:
                return part.end()
    return len(text)


def _without_comments(text: str) -> str:
    return re.sub(r"<!--.*?-->|<\?.*?\?>", "", text, flags=re.DOTALL)


def _resolve_name(found: "re.Match[str]") -> str:
    """Return the character of an entity by its name: the document type of RSS 0.91 declares HTML's names."""
    return found[0] if found[1] in _XML_NAMES else html5.get(found[1], found[0])
