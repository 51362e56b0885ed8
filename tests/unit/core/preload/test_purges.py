"""Which purge covers which copy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.preload.purges import Purge, PurgeScope

URL = "https://example.com/a"


def scope(*, tags: tuple[str, ...] = (), urls: tuple[str, ...] = (), everything: bool = False) -> PurgeScope:
    return PurgeScope(frozenset(tags), frozenset(urls), everything=everything)


@pytest.mark.parametrize(
    ("purge", "is_covered"),
    [
        (scope(everything=True), True),
        (scope(urls=(URL,)), True),
        (scope(urls=(f"{URL}/",)), False),
        (scope(tags=("post:1", "post:9")), True),
        (scope(tags=("post:9",)), False),
        (scope(tags=("post:9",), urls=(URL,)), True),
        (scope(), False),
    ],
)
def test_coverage(purge: PurgeScope, is_covered: bool):
    """A purge covers a copy by its URL, by one of its tags, or because it is a purge of everything."""
    assert purge.covers(URL, ["post:1", "term:2"]) == is_covered


@given(st.lists(st.text(), max_size=3), st.lists(st.text(), max_size=3), st.booleans())
def test_as_json(tags: list[str], urls: list[str], everything: bool):
    """A purge that is stored and loaded again is the same."""
    purge = Purge(
        purge_id="purge-1",
        idempotency_key="key",
        nonce="0" * 16,
        tags=tuple(tags),
        urls=tuple(urls),
        everything=everything,
        created_at=1.5,
    )
    assert Purge.from_json(purge.as_json()) == purge
    assert purge.scope == scope(tags=purge.tags, urls=purge.urls, everything=everything)
