"""Queries: values converted, every bad parameter named, and the same verdict as the documented model."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from sluice.core.errors import BadField, Invalid
from sluice.services.compiler.http.docs.published_replies import DifferenceQuery, PutQuery, WhyQuery
from sluice.services.compiler.http.docs.queries import EventsQuery, ResultQuery
from sluice.services.compiler.http.jobs import read_item
from sluice.services.compiler.http.lists import read_domain, read_dry_run, read_versions
from sluice.services.compiler.http.workflows import read_since
from sluice.services.news.http.docs import queries as news
from sluice.services.news.http.processor import read_process_one_query
from sluice.services.news.serve.query import read_bucket_query, read_list_query, read_trend_query
from sluice.services.preload.http.docs.endpoints import Listing
from sluice.services.preload.http.requests import read_limit
from sluice.services.tail.http.api import read_limit as read_logs_limit
from sluice.services.tail.http.docs.endpoints import LogsQuery
from sluice.web import QueryReader, Request
from unit.web.calls import get
from unit.web.documented_query import read_documented_query

READERS: list[tuple[Callable[[Request], Any], type[BaseModel]]] = [
    (read_item, ResultQuery),
    (read_since, EventsQuery),
    (read_versions, DifferenceQuery),
    (read_domain, WhyQuery),
    (read_dry_run, PutQuery),
    (read_list_query, news.ListQuery),
    (read_bucket_query, news.BucketQuery),
    (read_trend_query, news.TrendQuery),
    (read_process_one_query, news.ProcessOneQuery),
    (read_limit, Listing),
    (read_logs_limit, LogsQuery),
]
NAMES = (
    *(
        "articleId",
        "domain",
        "dryRun",
        "from",
        "to",
        "article_id",
        "bucket",
        "cursor",
        "duplicates",
        "force",
        "from",
        "hours",
        "item",
        "language",
        "limit",
    ),
    *("q", "sentiment", "since", "source", "status", "to", "until", "odd name", ""),
)
VALUES = st.one_of(
    st.sampled_from(["", "1", "20", "100", "101", "720", "721", "1000", "1001", "-1", "0", "true", "No", "x" * 401]),
    st.sampled_from(
        ["hour", "week", "complete", "pending", "positive,neutral", "good, negative ,,", "en,de", "x" * 101]
    ),
    st.sampled_from(["2026-11-16", " 2026-11-16T08:00:00Z", "2026-11-16T08:00:00 01:00", "2026-13-01", "9" * 4301]),
    st.sampled_from([",".join("abc" for _ in range(count)) for count in (20, 21)]),
    st.text("0123456789+-._ ", max_size=6),
    st.text(max_size=12),
)


def find_mistakes(read: Callable[[], Any]) -> list[tuple[str, str]]:
    try:
        read()
    except Invalid as error:
        return [(field.field, field.reason) for field in error.fields]
    return []


@pytest.mark.parametrize(("read", "model"), READERS, ids=lambda value: value.__name__)
def test_readers_agree_with_the_documentation(read: Callable[[Request], Any], model: type[BaseModel]):
    """A reader takes and refuses what the documented model does, and names the same parameters with the same reasons."""

    @given(st.lists(st.tuples(st.sampled_from(NAMES), VALUES), max_size=5))
    def compare(pairs: list[tuple[str, str]]) -> None:
        request = get(f"/?{urlencode(pairs, errors='replace')}")
        documented = find_mistakes(lambda: read_documented_query(request, model))
        assert find_mistakes(lambda: read(request)) == documented

    compare()


FILTERS = (
    "sentiment=positive,neutral&source=A&source=b,c&language=en&status=pending&from=2026-11-15&to=2026-11-16&q=mine"
)


@pytest.mark.parametrize(
    ("read", "model", "query"),
    [
        (read_list_query, news.ListQuery, ""),
        (read_list_query, news.ListQuery, f"{FILTERS}&limit=7&cursor=abc&duplicates=yes"),
        (read_bucket_query, news.BucketQuery, f"{FILTERS}&bucket=week"),
        (
            read_trend_query,
            news.TrendQuery,
            "since=2026-11-16T08:00:00 01:00&until=2026-11-17T09:00&hours=1_0&limit=%2B5",
        ),
    ],
)
def test_readers_find_the_same_values(read: Callable[[Request], Any], model: type[BaseModel], query: str):
    """A reader converts values as the documented model does, with the same defaults."""
    request = get(f"/?{query}")
    found, documented = read(request), read_documented_query(request, model)
    for name in model.model_fields:
        value = getattr(found, name) if hasattr(found, name) else getattr(found.filters, name)
        assert (list(value) if isinstance(value, tuple) else value) == getattr(documented, name), name


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
    assert read_process_one_query(get(f"/?articleId=a{query}")).force is is_forced


def read_page(query: str) -> tuple[int, bool, tuple[str, ...]]:
    reader = QueryReader(get(f"/?{query}"))
    found = (reader.integer("limit", 10, minimum=1, maximum=100), reader.flag("fresh"))
    tags = reader.items("tag", str, max_items=2)
    reader.check()
    return *found, tags


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("", (10, False, ())),
        ("limit=5&fresh=true", (5, True, ())),
        ("tag=a&tag=b", (10, False, ("a", "b"))),
        ("tag=a,%20b,", (10, False, ("a", "b"))),
    ],
)
def test_values_are_converted(query: str, page: tuple[int, bool, tuple[str, ...]]):
    """Values are converted; a list takes one value or several."""
    assert read_page(query) == page


@pytest.mark.parametrize(
    ("query", "fields"),
    [
        ("limit=0", [("limit", "should be greater than or equal to 1")]),
        ("limit=", [("limit", "should be a valid integer, unable to parse string as an integer")]),
        (
            "limit=1&limit=2&fresh=1&fresh=0",
            [("limit", "is given more than once"), ("fresh", "is given more than once")],
        ),
        (
            "utm=1&fresh=maybe&limit=101&tag=a,b,c",
            [
                ("limit", "should be less than or equal to 100"),
                ("fresh", "should be a valid boolean, unable to interpret input"),
                ("tag", "takes at most 2"),
                ("utm", "is not a known field"),
            ],
        ),
    ],
)
def test_every_bad_parameter_is_named(query: str, fields: list[tuple[str, str]]):
    """One error names every bad parameter and its reason."""
    with pytest.raises(Invalid) as caught:
        read_page(query)
    assert caught.value.fields == tuple(BadField(*field) for field in fields)
