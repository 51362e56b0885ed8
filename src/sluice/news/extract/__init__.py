"""The text of an article out of the HTML of its page, in pure Python and in bounded time."""

from sluice.news.extract.article import Extracted, extract
from sluice.news.extract.charset import decode

__all__ = ["Extracted", "decode", "extract"]
