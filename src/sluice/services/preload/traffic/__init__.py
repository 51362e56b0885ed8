"""Visits: counted while pages are served, and what they say about the cache."""
