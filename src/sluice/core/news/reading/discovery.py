"""Looks at a page that came instead of a feed: the feeds that it names, and whether it is a challenge to browsers."""

import re
from html import unescape
from typing import Final

from sluice.core.news.reading.plain_text import resolve_link

_MAX_FEEDS: Final = 10
_HEAD_CHARS: Final = 200_000
_LINK: Final = re.compile(r"<link\b([^<>]{1,1000})>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"""([a-zA-Z-]+)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s>"']++))""")
_FEED_TYPES: Final = frozenset(
    {"application/rss+xml", "application/atom+xml", "application/feed+json", "application/rdf+xml", "application/json"}
)
_HTML: Final = re.compile(r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE)
_CHALLENGE: Final = re.compile(
    r"just a moment|checking (?:if the site connection|your browser)|enable javascript and cookies|attention required|"
    r"cf-chl|challenge-platform|are you a robot|verify(?:ing)? (?:that )?you are (?:a )?human|captcha|ddos protection|"
    r"access denied|request unsuccessful|incapsula|perimeterx|datadome|unusual traffic",
    re.IGNORECASE,
)


def is_page(text: str) -> bool:
    return _HTML.search(text, 0, 2_000) is not None


def is_challenge(text: str) -> bool:
    """Return whether the page asks its reader to prove that it is a browser or a person."""
    return is_page(text) and _CHALLENGE.search(text, 0, 20_000) is not None


def discover_feeds(text: str, url: str) -> list[str]:
    """Return the absolute addresses of the feeds that a page names, in its order."""
    found: list[str] = []
    for link in _LINK.finditer(text, 0, _HEAD_CHARS):
        attributes = {name.lower(): unescape(a or b or c) for name, a, b, c in _ATTRIBUTE.findall(link[1])}
        is_feed = attributes.get("type", "").partition(";")[0].strip().lower() in _FEED_TYPES
        relations = attributes.get("rel", "").lower().split()
        address = resolve_link(url, attributes.get("href", ""))
        if is_feed and ("alternate" in relations or "feed" in relations) and address and address not in found:
            found.append(address)
    return found[:_MAX_FEEDS]
