"""Who reads the articles: Workers AI where it is bound, else an analyst of our own."""

from sluice.news.analyst.base import Analyst, Mismatch, Unreadable

__all__ = ["Analyst", "Mismatch", "Unreadable"]
