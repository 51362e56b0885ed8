"""Reads a feed from the bytes of a response. Never raises: what is wrong stands in the document.

XML is read by expat first, then by a tolerant parser (`tolerant.py`), and by feedparser where these two lose items.
"""

import zlib
from datetime import datetime, timedelta
from typing import Final

from sluice.core.news.charset_detection import decode_text
from sluice.core.news.dates import parse_time
from sluice.core.news.reading.discovery import discover_feeds, is_challenge, is_page
from sluice.core.news.reading.feed_document import FeedDocument, Warn
from sluice.core.news.reading.json_feed import read_json_feed
from sluice.core.news.reading.prolog import FeedBody, strip_prolog
from sluice.core.news.reading.xml_feed import read_xml_feed

MAX_BYTES: Final = 5 * 1024 * 1024
_COMPRESSED: Final = (b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda")
_GZIP_OR_ZLIB: Final = 32 + zlib.MAX_WBITS
_MAX_FUTURE: Final = timedelta(days=1)  # a clock may be wrong, and a day has begun elsewhere


def read_feed(body: bytes, *, content_type: str, url: str, now: datetime) -> FeedDocument:
    """Read RSS, Atom or JSON Feed; links are made absolute by `url`."""
    feed = FeedDocument()
    decoded = decode_text(_decompress(body, feed)[:MAX_BYTES], content_type)
    feed.encoding = decoded.charset
    if len(body) > MAX_BYTES:
        feed.warn(Warn.CUT)
    _read_text(decoded.text, url, feed)
    if feed.error is not None:
        feed.warn(Warn.NOT_A_FEED)
    elif not decoded.is_as_declared:
        feed.warn(Warn.CHARSET)
    if any(_is_odd_time(item.written_time, now) for item in feed.items):
        feed.warn(Warn.DATE)
    return feed


def _read_text(text: str, url: str, feed: FeedDocument) -> None:
    begin = text[:200].lstrip("\ufeff \t\r\n")
    if begin.startswith("{"):
        read_json_feed(text.lstrip("\ufeff"), url, feed)
        return
    body = strip_prolog(text)
    if body.root:
        read_xml_feed(body, url, feed)
    if not body.root or (is_page(text) and not feed.items):
        feed.format, feed.error = "", _explain(text, body)
        feed.discovered = discover_feeds(text, url) if is_page(text) else []


def _explain(text: str, body: FeedBody) -> str:
    if not text.strip():
        return "the answer is empty"
    if is_challenge(text):
        return "the answer is a page that asks for a browser or a person, not a feed"
    if is_page(text) or body.root:
        return "the answer is a page, not a feed"
    return "the answer is neither RSS, Atom nor JSON Feed"


def _decompress(body: bytes, feed: FeedDocument) -> bytes:
    """Undo a compression that no header told of; the size of the result is limited."""
    if not body.startswith(_COMPRESSED):
        return body
    try:
        plain = zlib.decompressobj(_GZIP_OR_ZLIB).decompress(body, MAX_BYTES)
    except zlib.error:
        return body
    feed.warn(Warn.COMPRESSED)
    if len(plain) >= MAX_BYTES:
        feed.warn(Warn.CUT)
    return plain


def _is_odd_time(written: str, now: datetime) -> bool:
    if not written:
        return False
    time = parse_time(written)
    return time is None or time > now + _MAX_FUTURE
