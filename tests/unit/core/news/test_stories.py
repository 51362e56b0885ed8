"""Stories: which titles are near-duplicates, and how articles are grouped."""

import pytest

from sluice.core.news.article import Article
from sluice.core.news.near_duplicates import TitleWords, is_near_duplicate
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import group_into_stories

TITLE = "Bitcoin climbs above $100,000 as ETF inflows return"


def make_published(name: str, title: str, queued_at: int, published: str = "2026-11-16T08:00:00Z") -> PublishedArticle:
    members = {"title": title, "link": f"https://site.example/{name}", "pubDate": published, "queuedAt": queued_at}
    return PublishedArticle.from_article(Article({"id": name, **members}))


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("ETF inflows return as bitcoin climbs above $100,000", True),
        ("Bitcoin climbs as ETF inflows return", True),
        ("Bitcoin climbs above $90,000 as ETF inflows return", False),
        ("Bitcoin climbs above the clouds", False),
    ],
)
def test_near_duplicates(title: str, expected: bool):
    """Titles with enough common words and the same figures are near-duplicates; one may lack the figures."""
    assert is_near_duplicate(TitleWords.from_title(title), TitleWords.from_title(TITLE)) is expected


def test_short_titles_are_not_compared():
    """Two articles with the same short title are two stories."""
    stories = group_into_stories([make_published("a", "Bitcoin rises", 1), make_published("b", "Bitcoin rises", 2)])
    assert len(stories) == 2


def test_first_arrival_gives_the_id():
    """The story has the id of the article that arrived first, whatever the order of the input."""
    articles = [make_published("later", TITLE, 2), make_published("first", TITLE, 1)]
    [story] = group_into_stories(articles)
    assert (story.id, [each.id for each in story.alternates]) == ("first", ["later"])
    led = story.with_lead_from({"later"})
    assert led is not None
    assert (led.id, led.lead.id) == ("first", "later")
    assert story.with_lead_from({"other"}) is None


def test_time_apart():
    """The same title more than two days later is another story."""
    articles = [make_published("a", TITLE, 1), make_published("b", TITLE, 2, "2026-11-18T08:00:01Z")]
    assert len(group_into_stories(articles)) == 2
