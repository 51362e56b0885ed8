"""Which listed items are the same article."""

from typing import Any

import pytest

from sluice.core.news.article import Article
from sluice.core.news.feeds.same_article import SAME_TITLE_MS, Fingerprint, KnownArticles, list_fingerprints

NOW = 1_800_000_000_000


def item(name: str, link: str = "https://site.example/a", title: str = "Bitcoin climbs", **more: Any) -> Article:
    return Article({"id": name, "link": link, "title": title, "source_name": "Site", "queuedAt": NOW, **more})


def is_same(known: Article, new: Article) -> bool:
    marks = [Fingerprint.of(known)]
    return KnownArticles(marks, now_ms=NOW).find(Fingerprint.of(new)) is not None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://site.example/a?utm_source=x&utm_id=9", "https://site.example/a", True),
        ("https://site.example/a?fbclid=1", "http://www.site.example/a/?gclid=2#part", True),
        ("https://site.example/a?msclkid=1&_ga=2&mc_cid=3", "https://site.example/a?ref=rss&spm=4", True),
        ("https://site.example/a?id=7&utm_x=1", "https://site.example/a?utm_y=2&id=7", True),
        ("https://site.example/a?x=1&y=2", "https://site.example/a?y=2&x=1", True),
        ("https://site.example/?p=123", "https://site.example/?p=124", False),
        ("https://site.example/story?id=1", "https://site.example/story?id=2", False),
        ("https://site.example/story?sid=1", "https://site.example/story?sid=2", False),
        ("https://site.example/a", "https://site.example/b", False),
        ("https://site.example/a", "https://other.example/a", False),
        ("https://site.example:8080/a", "https://site.example/a", False),
        ("https://site.example/a?page=2", "https://site.example/a", False),
    ],
)
def test_links(one: str, other: str, *, same: bool):
    """Tracking parameters, scheme, www and order of parameters do not matter; everything else does."""
    assert is_same(item("1", one, "One title"), item("2", other, "Another title")) is same


@pytest.mark.parametrize(
    ("changes", "same"),
    [
        ({}, True),
        ({"title": "BITCOIN  climbs!"}, True),
        ({"title": "Bitcoin falls"}, False),
        ({"source_name": "Other"}, False),
        ({"link": "https://other.example/b"}, False),
        ({"pubDate": "2027-01-17T07:59:00Z"}, True),
        ({"pubDate": "2027-01-17T08:01:00Z"}, False),
        ({"pubDate": "2027-01-13T08:01:00Z"}, True),
        ({"pubDate": "2027-01-13T07:59:00Z"}, False),
    ],
)
def test_titles(changes: dict[str, Any], *, same: bool):
    """The same title from the same outlet within 48 hours is the same article."""
    known = item("1", "https://site.example/a?session=1", pubDate="2027-01-15T08:00:00Z")
    new = item("2", "https://site.example/b?session=2", pubDate="2027-01-15T09:00:00Z")
    assert is_same(known, new.with_members(**changes)) is same


def test_titles_without_words():
    """Titles of other characters are compared as they are."""
    assert is_same(item("1", "https://site.example/a", "₿₿"), item("2", "https://site.example/b", "₿₿"))
    assert not is_same(item("1", "https://site.example/a", "₿₿"), item("2", "https://site.example/b", "₿!"))


def test_link_that_all_items_share():
    """Items that all lead to the site's front page are told apart by their titles."""
    items = [item(str(n), "https://site.example/", f"Title {n}") for n in range(3)]
    known = KnownArticles(list_fingerprints(items[:2], NOW), now_ms=NOW)
    assert known.find(list_fingerprints(items, NOW)[2]) is None
    assert known.find(list_fingerprints(items, NOW)[1]) is not None


def test_moved_link():
    """An item whose link is replaced by another with the same path and title is the same as long as it is listed."""
    later = NOW + 10 * SAME_TITLE_MS
    before = Fingerprint.of(item("1", "https://site.example/a?n=1"), seen_ms=later)
    [after] = list_fingerprints([item("2", "https://site.example/a?n=2", queuedAt=later)], later)
    assert KnownArticles([before], listed=[after], now_ms=later).find(after) == NOW
    # Both are listed, so they are two.
    both = list_fingerprints([item("1", "https://site.example/a?n=1"), item("2", "https://site.example/a?n=2")], later)
    fresh = Fingerprint.of(item("2", "https://site.example/a?n=2", queuedAt=later), seen_ms=later)
    assert KnownArticles([before], listed=both, now_ms=later).find(fresh) is None


def test_stored_form():
    """A fingerprint is read as it was stored."""
    mark = Fingerprint.of(item("1"), seen_ms=5)
    assert Fingerprint.from_json(mark.as_json()) == mark


@pytest.mark.parametrize("link", ["", "http://[", "https://site.example:99999/"])
def test_odd_links(link: str):
    """A link that is no address tells nothing."""
    assert Fingerprint.of(item("1", link)).link == ""
