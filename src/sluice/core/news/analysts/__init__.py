"""Analysts read articles: Workers AI where it is bound, otherwise the embedded analyst."""

from sluice.core.news.analysts.analyst import Analyst, Mismatch, UnusableAnswer

__all__ = ["Analyst", "Mismatch", "UnusableAnswer"]
