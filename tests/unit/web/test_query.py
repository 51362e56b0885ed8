"""Queries: values converted, and every bad parameter named."""

import pytest

from sluice.core.errors import BadField, Invalid
from sluice.web import QueryReader
from unit.web.calls import get


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
