"""Summaries that can be published: whole sentences of the article that stand on their own."""

from sluice.core.news.summaries.extractive import summarise

__all__ = ["summarise"]
