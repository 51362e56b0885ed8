"""How the preloader knows its own requests and replies again."""

import pytest

from sluice.core.errors import Invalid
from sluice.core.ports import HeaderPairs
from sluice.core.preload.caching.cache_keys import normalise_address
from sluice.core.preload.caching.proxy_headers import (
    change_request_headers,
    is_by_ourselves,
    pack_reply_headers,
    unpack_reply_headers,
)
from sluice.core.preload.request_signing import (
    PROXY_HEADER,
    WARMING_HEADER,
    is_recent_warming,
    proves_warming,
    sign_warming,
)

KEY, OTHER, NOW = "the-key-of-the-zone", "another-key", 1_700_000_000.7
PLACE = "www.example.com/a?b=1"


@pytest.mark.parametrize(
    ("headers", "is_own"),
    [
        ((), False),
        ((("via", "1.1 sluice"),), True),
        ((("Via", "1.0 fred, 1.1 sluice (a comment)"),), True),
        ((("via", "1.1 varnish"), ("via", "1.1 sluice")), True),
        ((("via", "1.1 sluiceway, 2 sluice.example.com, 1.1 a (sluice)"),), False),
        ((("cache-status", "sluice; hit; ttl=30"),), True),
        ((("cache-status", 'cdn; hit, "sluice"; fwd=miss'),), True),
        ((("cache-status", "sluice"),), True),
        ((("cache-status", 'cdn; detail="a, sluice; b", other; hit'),), False),
        ((("cache-status", "sluiceway; hit"), ("x-cache", "HIT")), False),
    ],
)
def test_reply_that_names_us(headers: HeaderPairs, is_own: bool):
    """A reply is our own if a hop in Via or a member of Cache-Status has exactly our name."""
    assert is_by_ourselves(headers) == is_own


def test_proof():
    """A proof holds for its key, method and place, while it is at most 60 s old and 30 s ahead."""
    name, value = sign_warming(KEY, method="GET", place=PLACE, now=NOW)
    assert name == WARMING_HEADER
    for keys in ([KEY], [OTHER, KEY]):
        assert proves_warming(value, keys, method="GET", place=PLACE)
    for keys, method, place in (([OTHER], "GET", PLACE), ([], "GET", PLACE), ([""], "GET", PLACE)):
        assert not proves_warming(value, keys, method=method, place=place)
    assert not proves_warming(value, [KEY], method="HEAD", place=PLACE)
    assert not proves_warming(value, [KEY], method="GET", place=PLACE + "2")
    assert not proves_warming("nonsense", [KEY], method="GET", place=PLACE)
    ages = {age: is_recent_warming(value, int(NOW) + age) for age in (-31, -30, 0, 60, 61)}
    assert ages == {-31: False, -30: True, 0: True, 60: True, 61: False}
    assert not is_recent_warming(value + ",x=1", NOW)


def test_place():
    """A place is the same in every spelling that a proxy may make of a URL; one without a host is none."""
    spellings = ("https://WWW.example.com/%7ea//b?c=%c3%a4", "http://www.example.com/~a/b?c=%C3%A4#top")
    assert {normalise_address(url) for url in spellings} == {"www.example.com/~a/b?c=%C3%A4"}
    with pytest.raises(Invalid):
        normalise_address("://")


def test_headers_behind_the_door():
    """What the front door keeps for itself arrives all the same; an origin cannot set other headers by it."""
    sent = (("Cache-Tag", "a,b"), ("content-type", "text/html"), ("set-cookie", "a=1"), ("set-cookie", "b=2"))
    packed = pack_reply_headers((*sent, ("connection", "close")))
    behind = tuple(pair for pair in packed if pair[0] != "cache-tag")
    assert sorted(unpack_reply_headers(behind)) == sorted((name.lower(), value) for name, value in sent)
    assert sorted(unpack_reply_headers(packed)) == sorted(unpack_reply_headers(behind))
    assert unpack_reply_headers((("x-sluice-origin-set-cookie", "a=1"), ("etag", '"1"'))) == (("etag", '"1"'),)


def test_proofs_of_visitors():
    """What a visitor brings as a proof does not reach the origin."""
    headers = {WARMING_HEADER: "t=1,v=2", PROXY_HEADER: "t=1,v=2", "accept": "*/*"}
    changes = change_request_headers(headers, host="www.example.com", scheme="https", drop_analytics=False)
    assert (changes[WARMING_HEADER], changes[PROXY_HEADER]) == (None, None)
