"""Tags, entities and importance."""

import pytest

from sluice.core.news.article import Article
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import Story
from sluice.core.news.topics.describe import describe_topics, weigh_article
from sluice.core.news.topics.entities import find_entities
from sluice.core.news.topics.tags import TAGS, find_tags
from sluice.core.news.vocabulary.topics import PATTERNS


@pytest.mark.parametrize(
    ("title", "tags"),
    [
        ("SEC approves options on Bitcoin ETFs", {"etf", "regulation", "derivatives"}),
        ("Hackers drain hot wallet of Alder Exchange", {"security", "exchange"}),
        ("Mining difficulty to adjust on Sunday", {"mining"}),
        ("Lightning capacity reaches record", {"lightning"}),
        ("比特币挖矿难度上升", {"mining"}),
        ("Minerals and second thoughts", set()),
    ],
)
def test_tags(title: str, tags: set[str]):
    """Whole words of the title and the text."""
    assert set(find_tags(title, "")) == tags
    assert set(find_tags("A title", title)) == tags
    assert tags <= set(TAGS)


@pytest.mark.parametrize(
    ("title", "entities"),
    [
        ("Prosecutors charge founder of Northbeam Custody with fraud", ["Northbeam Custody"]),
        ("Dogecoin jumps 22% on Musk post", ["Musk", "Dogecoin"]),
        ("Grayscale defeats SEC in court over fund conversion", ["Grayscale", "SEC"]),
        ("El Salvador adds 21 Bitcoin to its reserve", ["El Salvador", "Bitcoin"]),
        ("Who is Hal Finney? The man behind the first transaction", ["Hal Finney"]),
        ("Fears of a Mt. Gox sell-off prove unfounded", ["Mt. Gox"]),
        ("Death cross forms on the chart", []),
        ("Die Börse Halden stoppt am Montag alle Auszahlungen an ihre Kunden", []),
    ],
)
def test_entities(title: str, entities: list[str]):
    """As they are written, a person not as his company, and no capitals of another language."""
    assert find_entities(title, "") == entities


def test_every_tag_has_patterns():
    """The tags of the table are those that requests may ask for, in one order."""
    assert tuple(PATTERNS) == TAGS


def test_importance():
    """An event with a large amount matters more than an explainer; more sources make a story more important."""
    theft = weigh_article("Hackers steal $410 million of Bitcoin from exchange", ["security"], -0.9)
    guide = weigh_article("What is a seed phrase?", [], 0.0)
    assert 0 < guide < 0.3 < theft <= 1
    members = [
        PublishedArticle.from_article(Article({"id": name, "title": "t", "importance": 0.4, "source_name": name}))
        for name in "abc"
    ]
    alone, told_often = Story("a", members[0], []), Story("a", members[0], members[1:])
    assert alone.importance == 0.4 < told_often.importance <= 1


def test_any_article():
    """An article with nothing but an id has topics too."""
    assert describe_topics(Article({"id": "a"})) == {"tags": [], "entities": [], "importance": 0.3}
