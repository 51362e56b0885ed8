"""Reads OPML, the format in which feed readers export their subscriptions."""

from collections.abc import Mapping
from typing import Final
from xml.parsers import expat

from sluice.core.errors import Invalid

MAX_BYTES: Final = 5 * 1024 * 1024
MAX_FEEDS: Final = 5_000
_MAX_DEPTH: Final = 100


class _OutlineReader:
    """Collects the address of every outline that has one, whatever its type or the spelling of its attributes."""

    def __init__(self) -> None:
        self.feeds: dict[str, None] = {}
        self._depth = 0
        self.is_opml = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Invalid(f"the OPML is nested more than {_MAX_DEPTH} levels deep")
        self.is_opml = self.is_opml or (self._depth == 1 and name.lower() == "opml")
        address = next((value.strip() for key, value in attributes.items() if key.lower() == "xmlurl"), "")
        if name.lower() == "outline" and address.startswith(("http://", "https://")):
            self.feeds.setdefault(address)

    def end(self, _name: str) -> None:
        self._depth -= 1


def parse_opml(content: bytes) -> list[str]:
    """Return the addresses of the feeds in the order of the file, each once. Lists that it names are not fetched.

    Raise Invalid for anything that is no OPML.
    """
    if len(content) > MAX_BYTES:
        raise Invalid(f"the OPML is larger than {MAX_BYTES} bytes")
    reader, parser = _OutlineReader(), expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = reader.start, reader.end
    parser.EntityDeclHandler = _refuse_entities
    try:
        parser.Parse(content, True)
    except expat.ExpatError as error:
        raise Invalid(f"the OPML cannot be read: {error}") from None
    if not reader.is_opml:
        raise Invalid("this is not OPML: its first element is not <opml>")
    if len(reader.feeds) > MAX_FEEDS:
        raise Invalid(f"the OPML has more than {MAX_FEEDS} feeds")
    return list(reader.feeds)


def _refuse_entities(*_declaration: object) -> None:
    raise Invalid("the OPML declares entities of its own, which no feed reader exports")
