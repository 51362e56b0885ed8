"""Summarises a page, or the feed's own text when the page has no article that can be quoted."""

from dataclasses import dataclass
from typing import Final

from sluice.core.news.analysts.analyst import Mismatch
from sluice.core.news.analysts.matching import check_match
from sluice.core.news.charset_detection import decode_text
from sluice.core.news.extraction import ExtractedArticle, extract
from sluice.core.news.language import detect_language
from sluice.core.news.scrape import TEASER, is_teaser
from sluice.core.news.summaries.extractive import summarise
from sluice.core.news.summaries.feed_text import summarise_feed_text

_HTML: Final = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True, slots=True)
class PageSummary:
    """The summary of a page. `by` is page or feed; `reason` says why there is no summary of the page."""

    summary: str
    by: str
    language: str
    reason: str = ""


def summarise_page(body: bytes, *, content_type: str, status: int, title: str, description: str) -> PageSummary:
    """Return the summary of a page. This never raises: without a page or a text that can be published the summary is ""."""
    reason = _find_refusal(content_type, status)
    if not reason:
        article = extract(decode_text(body, content_type).text)
        summary, reason = _summarise_article(article, title)
        if summary:
            return PageSummary(summary, "page", detect_language(article.free_text))
    return PageSummary(summarise_feed_text(title, description), "feed", detect_language(description or title), reason)


def _find_refusal(content_type: str, status: int) -> str:
    if status != 200:
        return f"the page answered {status}"
    media_type = content_type.partition(";")[0].strip().lower()
    return f"the page is {media_type}, not HTML" if media_type and media_type not in _HTML else ""


def _summarise_article(article: ExtractedArticle, title: str) -> tuple[str, str]:
    """Return the summary, or "" and the reason why there is none."""
    if is_teaser(article):
        return "", TEASER
    try:
        check_match(title, article.titles, article.free_text)
    except Mismatch as error:
        return "", str(error)
    summary = summarise(title, article.free_text)
    return summary, "" if summary else "the page has no sentence to quote"
