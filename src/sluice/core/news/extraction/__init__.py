"""Extracts the text of an article from the HTML of its page, in pure Python and in bounded time."""

from sluice.core.news.extraction.article_text import ExtractedArticle, extract

__all__ = ["ExtractedArticle", "extract"]
