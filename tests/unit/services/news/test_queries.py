"""The queries of the news: values converted, and every bad parameter named."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from sluice.core.errors import Invalid
from sluice.services.news.http.processor import ARTICLE, FORCE, PROCESS_ARTICLE
from sluice.services.news.serve.query import ArticleFilters, BucketQuery, ListQuery, TrendQuery
from unit.web.calls import get

TEXT = "sentiment=positive,neutral&source=A&source=b,c&language=en&status=pending&from=2026-11-15&to=2026-11-16&q=mine"
FILTERS = ArticleFilters(
    sentiment=("positive", "neutral"),
    source=("A", "b", "c"),
    language=("en",),
    status="pending",
    since=datetime(2026, 11, 15, tzinfo=UTC),
    until=datetime(2026, 11, 16, 23, 59, 59, tzinfo=UTC),
    q="mine",
)


def test_pages():
    """All parameters of the list have a default."""
    assert ListQuery.read(get("/")) == ListQuery(filters=ArticleFilters(), limit=20, cursor=None, duplicates=False)
    further = "limit=7&cursor=abc&duplicates=yes&sort=newest&min_importance=0.5&changed_after=5&tag=etf&entity=Mt.+Gox"
    assert ListQuery.read(get(f"/?{further}")) == ListQuery(
        filters=ArticleFilters(changed_after=5, tag=("etf",), entity=("Mt. Gox",)),
        limit=7,
        cursor="abc",
        duplicates=True,
        sort="newest",
        min_importance=0.5,
    )


def test_buckets():
    """The filters are those of the list."""
    assert BucketQuery.read(get("/")) == BucketQuery(filters=ArticleFilters(), bucket="day")
    assert BucketQuery.read(get(f"/?{TEXT}&bucket=week")) == BucketQuery(filters=FILTERS, bucket="week")


def test_trends():
    """A time has a zone, or is in UTC; the older names of its limits are understood."""
    query = "since=2026-11-16T08:00:00 01:00&until=2026-11-17T09:00&hours=1_0&limit=%2B5"
    zone = timezone(timedelta(hours=1))
    filters = ArticleFilters(since=datetime(2026, 11, 16, 8, tzinfo=zone), until=datetime(2026, 11, 17, 9, tzinfo=UTC))
    assert TrendQuery.read(get(f"/?{query}")) == TrendQuery(filters=filters, hours=10, limit=5)


def test_every_mistake_is_named():
    """In the order of the parameters, and then what is not known."""
    query = "limit=0&sentiment=great&from=yesterday&min_importance=2&bucket=day&tag=etf,cats"
    with pytest.raises(Invalid) as caught:
        ListQuery.read(get(f"/?{query}"))
    assert [each.field for each in caught.value.fields] == [
        "sentiment[0]",
        "from",
        "tag",
        "limit",
        "min_importance",
        "bucket",
    ]


@pytest.mark.parametrize(
    ("query", "is_forced"),
    [
        ("", False),
        ("&force", True),
        ("&force=yes", True),
        ("&force=1", True),
        ("&force=0", False),
        ("&force=no", False),
    ],
)
def test_force_needs_no_value(query: str, is_forced: bool):
    """A switch without a value is on."""
    given = PROCESS_ARTICLE.read(get(f"/?article_id=a{query}"))
    assert (given[ARTICLE], given[FORCE] or False) == ("a", is_forced)


@pytest.mark.parametrize("query", ["", "articleId=", f"articleId={'x' * 201}", "articleId=a&force=maybe"])
def test_one_article_is_named(query: str):
    """A request without an id of a possible length is refused."""
    with pytest.raises(Invalid):
        PROCESS_ARTICLE.read(get(f"/?{query}"))
