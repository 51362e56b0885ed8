"""Content negotiation: the caller's preference, then our order."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.web.negotiate import choose_media_type

OFFERED = ("application/json", "text/plain; charset=utf-8")
JSON, TEXT = OFFERED


@pytest.mark.parametrize(
    ("accept", "best"),
    [
        (None, JSON),
        (" ", JSON),
        ("*/*", JSON),
        ("text/plain", TEXT),
        ("TEXT/PLAIN", TEXT),
        ("text/*", TEXT),
        ("text/plain, application/json", JSON),
        ("text/plain, application/json;q=0.9", TEXT),
        ("application/json;q=0.3, text/plain;q=0.31", TEXT),
        ("*/*;q=0.1, text/plain ; q=0.2", TEXT),
        ("*/*, application/json;q=0", TEXT),
        ("text/*;q=0.9, text/plain;q=0.1, application/json;q=0.5", JSON),
        ("text/html, */*;q=0.8", JSON),
        ("nonsense, text/plain", TEXT),
        ("text/plain;format=flowed;q=0.5, application/json;q=0.4", TEXT),
        ("text/html", None),
        ("text/plain;q=0", None),
        ("nonsense", None),
    ],
)
def test_the_best_offer_is_chosen(accept, best):
    """The most exact range decides a type's quality; the highest quality wins, and our order breaks ties."""
    assert choose_media_type(accept, OFFERED) == best


@given(st.text() | st.text(st.sampled_from("text/plain*;q=0.1,")))
def test_any_accept_header_is_answered(accept):
    """No Accept header makes the choice raise."""
    assert choose_media_type(accept, OFFERED) in {*OFFERED, None}
