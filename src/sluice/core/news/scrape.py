"""Fetches the page behind an article's link and returns its text and its own title."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sluice.core.errors import Refused, SluiceError, Unavailable
from sluice.core.news.sentences import cut_at_sentence, measure_text
from sluice.core.ports import Fetch, FetchResponse

if TYPE_CHECKING:
    from sluice.core.news.extraction import ExtractedArticle

TIMEOUT_S: Final = 10.0
MAX_BYTES: Final = 5 * 1024 * 1024
TEASER: Final = "the page shows only the beginning of its article"
_TEASER_CHARS: Final = 800  # of a page that only subscribers may read whole
_MAX_TITLE_CHARS: Final = 600
MIN_CHARS: Final = 200  # less text is not an article: a notice, the first line before a paywall, an error page
_HTML: Final = ("text/html", "application/xhtml+xml")
_ACCEPT: Final = (("Accept", "text/html, application/xhtml+xml"), ("Accept-Language", "en"))
# A retry does not change these.
_PERMANENT_STATUSES: Final = frozenset({401, 402, 410, 451})


@dataclass(frozen=True, slots=True)
class ScrapedPage:
    """The text of the article on a page, and the title that the page gives it; "" if it gives none."""

    text: str
    title: str = ""


class TooLittleText(SluiceError):
    """The page has too little text, perhaps because of a paywall; later it may have more."""

    retryable = True


@dataclass(frozen=True, slots=True)
class Scraper:
    """Fetches the page of an article and extracts its text. `user_agent` identifies the service, so that a site can refuse it."""

    fetch: Fetch
    user_agent: str
    max_chars: int

    async def __call__(self, url: str) -> ScrapedPage:
        headers = (*_ACCEPT, ("User-Agent", self.user_agent))
        response = await self.fetch(url, max_bytes=MAX_BYTES, timeout_s=TIMEOUT_S, headers=headers)
        page = extract_page(response)
        return ScrapedPage(cut_at_sentence(page.text, self.max_chars), page.title)


def extract_page(response: FetchResponse) -> ScrapedPage:
    """Raise a SluiceError for a response without an article; its `retryable` says whether to try again."""
    if response.status in _PERMANENT_STATUSES:
        raise Refused(f"the page answered {response.status}")
    if response.status != 200:
        raise Unavailable(f"the page answered {response.status}")
    content_type = response.header("content-type") or "text/html"
    media_type = content_type.partition(";")[0]
    if media_type.strip().lower() not in _HTML:
        raise Refused(f"the page is {media_type[:60]}, not HTML")
    # Only one of the three stages reads a page.
    from sluice.core.news.charset_detection import decode_text  # noqa: PLC0415 - rare
    from sluice.core.news.extraction import extract  # noqa: PLC0415 - rare

    article = extract(decode_text(response.body, content_type).text)
    if is_teaser(article):
        raise Refused(TEASER)
    if measure_text(article.free_text) < MIN_CHARS:
        raise TooLittleText(f"the page has only {len(article.free_text)} characters of text")
    return ScrapedPage(article.free_text, "\n".join(article.titles)[:_MAX_TITLE_CHARS])


def is_teaser(article: "ExtractedArticle") -> bool:
    """Return whether only subscribers may read the article, so that the text is just its beginning."""
    return article.is_paywalled and measure_text(article.free_text) < _TEASER_CHARS
