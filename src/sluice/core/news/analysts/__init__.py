"""Who reads the articles: Workers AI where it is bound, else an analyst of our own."""

from sluice.core.news.analysts.analyst import Analyst, Mismatch, Unreadable

__all__ = ["Analyst", "Mismatch", "Unreadable"]
