"""The text of an article out of the HTML of its page, in pure Python and in bounded time."""

from sluice.core.news.extraction.article_text import Extracted, extract
from sluice.core.news.extraction.charset import decode

__all__ = ["Extracted", "decode", "extract"]
