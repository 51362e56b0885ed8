"""Reads feeds as they are in the wild: RSS, Atom and JSON Feed in any charset, mended where they are broken."""

from sluice.core.news.reading.feed_document import FeedDocument, FeedItem
from sluice.core.news.reading.feed_reader import read_feed

__all__ = ["FeedDocument", "FeedItem", "read_feed"]
