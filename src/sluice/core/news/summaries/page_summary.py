"""Summarises a page, or the feed's own text when the page has no article that can be quoted."""

import re
from dataclasses import dataclass
from typing import Final

from sluice.core.news.analysts.analyst import Mismatch
from sluice.core.news.analysts.matching import check_match
from sluice.core.news.charsets import decode_text
from sluice.core.news.extraction import extract
from sluice.core.news.language import detect_language
from sluice.core.news.summaries.extractive import summarise
from sluice.core.news.summaries.feed_text import summarise_feed_text

_HTML: Final = ("text/html", "application/xhtml+xml")
_NOT_FREE: Final = re.compile(r'"isAccessibleForFree"\s*:\s*(?:false|"\s*(?:false|no)\s*")', re.IGNORECASE)
_LOCKED: Final = re.compile(r'<meta[^>]+article:content_tier["\'][^>]+content=["\'](?:locked|metered)', re.IGNORECASE)
_TEASER_CHARS: Final = 800  # less text of a page that is not free is only its beginning


@dataclass(frozen=True, slots=True)
class PageSummary:
    """`by` is page or feed; `reason` says why there is no summary of the page."""

    summary: str
    by: str
    language: str
    reason: str = ""


def summarise_page(body: bytes, *, content_type: str, status: int, title: str, description: str) -> PageSummary:
    """Never raises; without a page or a text that can be published the summary is ""."""
    html = decode_text(body, content_type).text
    reason = _find_refusal(content_type, status)
    text = "" if reason else extract(html).text
    summary, language = "", detect_language(text or description or title)
    if not reason:
        summary, reason = _summarise_text(html, text, title, description)
    if summary:
        return PageSummary(summary, "page", language)
    return PageSummary(summarise_feed_text(title, description), "feed", detect_language(description or title), reason)


def _find_refusal(content_type: str, status: int) -> str:
    if status != 200:
        return f"the page answered {status}"
    media_type = content_type.partition(";")[0].strip().lower()
    return f"the page is {media_type}, not HTML" if media_type and media_type not in _HTML else ""


def _summarise_text(html: str, text: str, title: str, description: str) -> tuple[str, str]:
    """Returns the summary, or "" and the reason why there is none."""
    try:
        check_match(title, text)
    except Mismatch:
        return "", "the page is about something other than its title"
    is_locked = _NOT_FREE.search(html) is not None or _LOCKED.search(html) is not None
    if is_locked and len(text) < _TEASER_CHARS and summarise_feed_text(title, description):
        return "", "the page shows only the beginning of its article"
    summary = summarise(title, text)
    return summary, "" if summary else "the page has no sentence to quote"
