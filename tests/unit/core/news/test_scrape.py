"""Scraping a page, and the errors for pages that are not articles."""

import pytest

from fakes.transport import FakeTransport, Scripted
from sluice.core.errors import Oversized, Refused, SluiceError, Unavailable
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.news.scrape import MAX_BYTES, Scraper, TooLittleText

URL = "https://news.example/a"
SENTENCE = "Bitcoin rose on Monday as buyers came back to the market after a quiet weekend."
PAGE = f"<article>{''.join(f'<p>{SENTENCE} Paragraph {n}.</p>' for n in range(9))}</article>".encode()
HTML = (("content-type", "text/html; charset=utf-8"),)


LOCKED = b'<script type="application/ld+json">{"@type": "NewsArticle", "isAccessibleForFree": %s}</script>'


def page_for_subscribers(paragraphs: int, free: bytes = b"false") -> bytes:
    text = "".join(f"<p>{SENTENCE} Number {n} of the paragraphs.</p>" for n in range(paragraphs))
    return LOCKED % free + f"<article>{text}</article>".encode()


async def scrape(response: Scripted, max_chars: int = 10_240) -> str:
    web = FakeTransport({URL: response}, chunk_bytes=1 << 20)
    return (await Scraper(Fetcher(web, AllowedHosts()).fetch, "agent", max_chars)(URL)).text


async def test_article():
    """The text is cut after a sentence within the limit."""
    assert (await scrape(Scripted(200, HTML, PAGE))).startswith(SENTENCE)
    cut = await scrape(Scripted(200, HTML, PAGE), 300)
    assert len(cut) <= 300
    assert cut.endswith(".")


@pytest.mark.parametrize(
    ("response", "error", "retryable"),
    [
        (Scripted(404, HTML), Unavailable, True),
        (Scripted(503, HTML), Unavailable, True),
        (Scripted(410, HTML), Refused, False),
        (Scripted(402, HTML), Refused, False),
        (Scripted(200, (("content-type", "application/pdf"),), b"%PDF"), Refused, False),
        (Scripted(200, HTML, b"<p>Subscribe to read on.</p>"), TooLittleText, True),
        (Scripted(200, HTML, b" " * (MAX_BYTES + 1)), Oversized, False),
        (Scripted(200, HTML, page_for_subscribers(2)), Refused, False),
    ],
)
async def test_no_article(response: Scripted, error: type[SluiceError], retryable: bool):
    """Each error says whether a retry may help."""
    with pytest.raises(error) as caught:
        await scrape(response)
    assert caught.value.retryable is retryable


@pytest.mark.parametrize("free", [b"false", b'"False"', b'"no"'])
async def test_teaser_is_not_the_article(free: bytes):
    """A page that says that it is for subscribers shows its beginning; a long text of one is the article all the same."""
    with pytest.raises(Refused, match="only the beginning"):
        await scrape(Scripted(200, HTML, page_for_subscribers(3, free)))
    assert await scrape(Scripted(200, HTML, page_for_subscribers(3, b"true")))
    assert await scrape(Scripted(200, HTML, page_for_subscribers(12, free)))


async def test_chinese_page_needs_fewer_characters():
    """An ideograph says as much as several letters."""
    text = "比特币周二突破十万五千美元，创下三周以来的新高，数据显示美国现货基金当天流入六亿四千万美元。" * 2
    assert await scrape(Scripted(200, HTML, f"<article><p>{text}</p></article>".encode()))
