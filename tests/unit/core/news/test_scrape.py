"""What a page may be, and what becomes of one that is not an article."""

import pytest

from fakes.transport import FakeTransport, Scripted
from sluice.core.errors import Oversized, Refused, SluiceError, Unavailable
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.news.scrape import MAX_BYTES, Scraper, TooLittle

URL = "https://news.example/a"
SENTENCE = "Bitcoin rose on Monday as buyers came back to the market after a quiet weekend."
PAGE = f"<article>{''.join(f'<p>{SENTENCE} Paragraph {n}.</p>' for n in range(9))}</article>".encode()
HTML = (("content-type", "text/html; charset=utf-8"),)


async def scraped(answer: Scripted, max_chars: int = 10_240) -> str:
    web = FakeTransport({URL: answer}, chunk_bytes=1 << 20)
    return await Scraper(Fetcher(web, AllowedHosts()).fetch, "agent", max_chars)(URL)


async def test_article():
    """The text, cut at a sentence within the limit."""
    assert (await scraped(Scripted(200, HTML, PAGE))).startswith(SENTENCE)
    cut = await scraped(Scripted(200, HTML, PAGE), 300)
    assert len(cut) <= 300
    assert cut.endswith(".")


@pytest.mark.parametrize(
    ("answer", "kind", "retryable"),
    [
        (Scripted(404, HTML), Unavailable, True),
        (Scripted(503, HTML), Unavailable, True),
        (Scripted(410, HTML), Refused, False),
        (Scripted(402, HTML), Refused, False),
        (Scripted(200, (("content-type", "application/pdf"),), b"%PDF"), Refused, False),
        (Scripted(200, HTML, b"<p>Subscribe to read on.</p>"), TooLittle, True),
        (Scripted(200, HTML, b" " * (MAX_BYTES + 1)), Oversized, False),
    ],
)
async def test_no_article(answer: Scripted, kind: type[SluiceError], retryable: bool):
    """Each failure says whether another attempt could help."""
    with pytest.raises(kind) as caught:
        await scraped(answer)
    assert caught.value.retryable is retryable
