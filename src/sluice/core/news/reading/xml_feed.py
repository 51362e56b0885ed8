"""Reads RSS and Atom: with expat if the document is well-formed, else tolerantly, else with feedparser."""

import re
from typing import Final
from xml.parsers import expat

from sluice.core.news.reading.builder import FeedBuilder, FeedTooLarge
from sluice.core.news.reading.feed_document import FeedDocument, FeedItem, Warn
from sluice.core.news.reading.prolog import FeedBody
from sluice.core.news.reading.tolerant import parse_tolerantly

MAX_LOOSE_CHARS: Final = 250_000  # the third reader takes more than linear time for hostile texts
_FORMATS: Final = {"rss": "rss", "rdf": "rss", "feed": "atom"}
_ITEM_START: Final = re.compile(r"<(?:[\w.-]{1,40}:)?(?:item|entry)[\s>/]", re.IGNORECASE)
_HIDDEN: Final = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_CONTROLS: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def read_xml_feed(body: FeedBody, url: str, feed: FeedDocument) -> None:
    """Fill in the feed."""
    feed.format = _FORMATS[body.root]
    for warning in body.warnings:
        feed.warn(warning)
    try:
        strict = _read_strictly(body.text, url)
    except expat.ExpatError:
        _read_broken(body.text, url, feed)
        return
    _take(strict, feed)


def _read_strictly(text: str, url: str) -> FeedDocument:
    builder = FeedBuilder(FeedDocument(), url)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = lambda _name: builder.end()
    parser.CharacterDataHandler = builder.text
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except FeedTooLarge:
        builder.feed.warn(Warn.CUT)
    return builder.finish()


def _read_broken(text: str, url: str, feed: FeedDocument) -> None:
    clean, controls = _CONTROLS.subn(lambda found: " " if found[0].isspace() else "", text)
    builder = FeedBuilder(FeedDocument(), url)
    try:
        is_complete = parse_tolerantly(clean, builder)
    except FeedTooLarge:
        builder.feed.warn(Warn.CUT)
        is_complete = True
    found = builder.finish()
    found.warn(Warn.REPAIRED if is_complete or controls else Warn.TRUNCATED)
    if not is_complete:
        found.warn(Warn.TRUNCATED)
    # The last item of a text that breaks off may be unusable.
    expected = len(_ITEM_START.findall(_HIDDEN.sub("", clean))) - (not is_complete)
    if len(found.items) < expected and Warn.CUT not in found.warnings:
        found.items = max(_read_loosely(clean, url), found.items, key=len)
        if len(found.items) < expected:
            found.warn(Warn.LOST)
    _take(found, feed)


def _read_loosely(text: str, url: str) -> list[FeedItem]:
    if len(text) > MAX_LOOSE_CHARS:
        return []
    # Loading it takes a third of a second, and few feeds need it.
    from sluice.core.news.reading.loose_feed import read_loosely  # noqa: PLC0415 - rare

    return read_loosely(text, url)


def _take(found: FeedDocument, feed: FeedDocument) -> None:
    feed.items = found.items
    feed.title, feed.language = found.title, found.language
    feed.hub, feed.self_link = found.hub, found.self_link
    for warning in found.warnings:
        feed.warn(warning)
