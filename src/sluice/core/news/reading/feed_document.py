"""What a reader makes of a feed: its items, and what was wrong with it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

MAX_ITEMS: Final = 10_000
MAX_ELEMENTS: Final = 150_000  # of one feed; at 5 to 7 microseconds each they take less than a second
MAX_FIELD_CHARS: Final = 50_000


class Warn(StrEnum):
    """What was wrong with a feed that was read all the same."""

    CHARSET = "charset"  # decoded otherwise than declared, or bytes were replaced
    COMPRESSED = "compressed"  # compressed without a header that says so
    CUT = "cut"  # larger than what is read of one feed
    DATE = "date"  # unreadable or in the future
    DOCTYPE = "doctype"  # declares entities, which are not trusted
    LOST = "lost"  # has more items than could be read
    NOT_A_FEED = "not-a-feed"
    REPAIRED = "repaired"  # not well-formed
    TRUNCATED = "truncated"


@dataclass(slots=True, kw_only=True)
class FeedItem:
    """One item: plain title, absolute link or "", the id as written, the time as written, and text as HTML."""

    title: str = ""
    link: str = ""
    id: str = ""
    published: str = ""
    updated: str = ""
    summary: str = ""
    content: str = ""
    author: str = ""
    categories: list[str] = field(default_factory=list)
    image: str = ""

    @property
    def written_time(self) -> str:
        return self.published or self.updated


@dataclass(slots=True, kw_only=True)
class FeedDocument:
    """A feed; `error` says why a document is none. `discovered` are the feeds that a page names."""

    items: list[FeedItem] = field(default_factory=list)
    format: str = ""
    encoding: str = ""
    title: str = ""
    language: str = ""
    hub: str = ""
    self_link: str = ""
    discovered: list[str] = field(default_factory=list)
    warnings: list[Warn] = field(default_factory=list)
    error: str | None = None

    def warn(self, warning: Warn) -> None:
        if warning not in self.warnings:
            self.warnings.append(warning)
