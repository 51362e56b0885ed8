"""Stories: which headlines report the same event, and how articles are grouped."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.news.article import Article
from sluice.core.news.published_article import PublishedArticle
from sluice.core.news.stories import StoryGrouper, comparisons, group_into_stories
from sluice.core.news.stories.numbers import find_numbers
from sluice.core.news.stories.same_story import ArticleFacts, is_same_story
from unit.core.news.labelled_sets import load_set

TITLE = "Bitcoin climbs above $100,000 as ETF inflows return"


def make_published(
    name: str, title: str, queued_at: int, published: str = "2026-11-16T08:00:00Z", **members: Any
) -> PublishedArticle:
    data = {
        "title": title,
        "link": f"https://site.example/{name}",
        "pubDate": published,
        "queuedAt": queued_at,
        **members,
    }
    return PublishedArticle.from_article(Article({"id": name, **data}))


def is_one_story(first: str, second: str, **members: Any) -> bool:
    return len(group_into_stories([make_published("a", first, 1), make_published("b", second, 2, **members)])) == 1


SAME, OTHER = (
    [(case["a"], case["b"]) for case in load_set("dev", "rules")["pairs"] if case["same"] is same]
    for same in (True, False)
)


@pytest.mark.parametrize(("first", "second"), SAME)
def test_same_event(first: str, second: str):
    """Other words, forms of numbers, nicknames and labels do not matter."""
    assert is_one_story(first, second)


@pytest.mark.parametrize(("first", "second"), OTHER)
def test_other_event(first: str, second: str):
    """One different fact makes another story, however many words are the same."""
    assert not is_one_story(first, second)
    assert not is_one_story(second, first)


def test_text_below_the_title_counts():
    """A name or amount in the description connects two titles that do not share it."""
    titles = ("Strategy buys 4,980 BTC", "Software maker spends $531 million on coins")
    assert not is_one_story(*titles)
    assert is_one_story(*titles, description="Strategy bought 4,980 BTC, a filing shows.")


def test_first_arrival_gives_the_id():
    """The story has the id of the article that arrived first, whatever the order of the input."""
    articles = [make_published("later", TITLE, 2), make_published("first", TITLE, 1)]
    [story] = group_into_stories(articles)
    assert (story.id, [each.id for each in story.alternates]) == ("first", ["later"])
    led = story.with_lead_from({"later"})
    assert led is not None
    assert (led.id, led.lead.id) == ("first", "later")
    assert story.with_lead_from({"other"}) is None


def test_best_member_leads():
    """An article with a summary leads; the story keeps its id."""
    articles = [make_published("first", TITLE, 1), make_published("later", TITLE, 2, aiSummary="It did.")]
    [story] = group_into_stories(articles)
    assert (story.id, story.lead.id, [each.id for each in story.alternates]) == ("first", "later", ["first"])


@pytest.mark.parametrize(
    ("published", "source", "stories"),
    [
        ("2026-11-16T20:00:00Z", "Other", 1),
        ("2026-11-17T04:00:00Z", "Paper", 2),
        ("2026-11-19T08:00:01Z", "Other", 2),
    ],
)
def test_time_apart(published: str, source: str, stories: int):
    """An equal title of the same source on another day is another edition, and after three days always another story."""
    articles = [
        make_published("a", TITLE, 1, source_name="Paper"),
        make_published("b", TITLE, 2, published, source_name=source),
    ]
    assert len(group_into_stories(articles)) == stories


def test_alike_titles_cost_no_more_and_more(monkeypatch: pytest.MonkeyPatch):
    """An article is compared with a bounded number of stories, however many have nearly the same title."""
    compared: list[int] = []

    def count(one: ArticleFacts, other: ArticleFacts) -> bool:
        compared.append(1)
        return is_same_story(one, other)

    monkeypatch.setattr(comparisons, "is_same_story", count)
    titles = [f"Bitcoin miner number {number} opens a plant" for number in range(200)]
    assert len(group_into_stories(make_published(str(n), title, n) for n, title in enumerate(titles))) == 200
    assert len(compared) <= 60 * len(titles)


def test_same_address_is_the_same_story():
    """Two items with one link are one story, whatever their titles."""
    one = make_published("a", "Bitcoin rises", 1)
    other = make_published("b", "Something else entirely", 2, link="https://site.example/a?utm_source=x")
    assert len(group_into_stories([one, other])) == 1


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        ("$126K", "$126,000", True),
        ("$101,200", "$101.2K", True),
        ("$2.5 trillion", "$2.5T", True),
        ("$120,000", "$126,000", False),
        ("3%", "3 percent", True),
        ("61,000 btc", "61k bitcoin", True),
        ("30 november", "nov. 30", True),
        ("third-quarter", "q3", True),
        ("$100", "100 btc", False),
        ("five-day streak", "five daily declines", True),
    ],
)
def test_numbers(one: str, other: str, equal: bool):
    """Numbers of one type are equal if the coarser rounding allows it."""
    found = [(a, b) for a in find_numbers(one.lower()) for b in find_numbers(other.lower())]
    assert any(a.equals(b) for a, b in found) is equal


@given(st.lists(st.text(max_size=60), max_size=6))
def test_any_titles(titles: list[str]):
    """Any titles can be grouped, and no article is lost."""
    stories = group_into_stories([make_published(str(at), title, at) for at, title in enumerate(titles)])
    assert sum(1 + len(story.alternates) for story in stories) == len(titles)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Evening mine ranking: Larch first at 120 BTC", "Evening mine ranking: Larch first at 121 BTC"),
        ("Orchid tops list of Bitcoin buyers", "Orchid again tops list of Bitcoin buyers"),
    ],
)
def test_next_edition(first: str, second: str):
    """A series goes on the next day, and what happens again is another event."""
    articles = [make_published("a", first, 1), make_published("b", second, 2, "2026-11-17T08:00:00Z")]
    assert len(group_into_stories(articles)) == 2


def test_moves_of_different_days():
    """The same rise on another day is another event, where nothing else is said."""
    first = make_published("a", "Bitcoin gains 5% on rate cut", 1, "2026-11-16T08:00:00Z")
    near = make_published("b", "Bitcoin gains 5% in Asian trading", 2, "2026-11-16T10:00:00Z")
    later = make_published("b", "Bitcoin gains 5% in Asian trading", 2, "2026-11-18T02:00:00Z")
    assert len(group_into_stories([first, near])) == 1
    assert len(group_into_stories([first, later])) == 2


@given(st.lists(st.lists(st.integers(0, 11), unique=True, max_size=8), max_size=5), st.data())
def test_groupings_one_after_another(rounds: list[list[int]], data: st.DataObject):
    """Whatever comes, goes or changes in between, a grouper that remembers finds the same stories as a new one."""
    acts = ("buys", "sells", "sued over", "denies buying")
    grouper = StoryGrouper()
    for numbers in rounds:
        titles = [f"Firm{each % 3} {data.draw(st.sampled_from(acts))} {each % 2 + 1},000 BTC" for each in numbers]
        articles = [make_published(str(each), title, each) for each, title in zip(numbers, titles, strict=True)]
        assert grouper.group(articles) == group_into_stories(articles)


def test_only_what_is_new_is_compared(monkeypatch: pytest.MonkeyPatch):
    """When one of many articles is new, it alone is compared with the others."""
    compared: list[str] = []

    def watch(one: ArticleFacts, other: ArticleFacts) -> bool:
        compared.append(one.headline)
        return is_same_story(one, other)

    monkeypatch.setattr(comparisons, "is_same_story", watch)
    articles = [make_published(str(number), f"Firm{number} buys {number},000 BTC", number) for number in range(1, 30)]
    grouper = StoryGrouper()
    for _ in range(2):
        grouper.group(articles)
    before = len(compared)
    grouper.group([*articles[1:], make_published("new", "Newcomer buys 77,000 BTC", 99)])
    assert before > 29
    assert set(compared[before:]) == {"Newcomer buys 77,000 BTC"}
