"""Cross-origin access: origins are compared exactly, and caches vary by origin."""

import pytest

from sluice.web import Cors, Reply
from unit.web.calls import call, get

LISTED = Cors(origins=("https://page.test", "http://localhost:8080"), expose_headers=("X-Cache", "Retry-After"))
OPEN = Cors(origins=("*",))


@pytest.mark.parametrize("origin", ["https://page.test", "http://localhost:8080"])
def test_a_listed_origin_may_read(origin):
    """A listed origin is echoed, with the headers it may read."""
    reply = LISTED.apply(Reply.text("x"), get(headers={"Origin": origin}))
    assert reply.header("access-control-allow-origin") == origin
    assert reply.header("access-control-expose-headers") == "X-Cache, Retry-After"
    assert reply.header("vary") == "Origin"


@pytest.mark.parametrize(
    "origin",
    [
        "https://page.test.evil.test",
        "https://evilpage.test",
        "https://sub.page.test",
        "http://page.test",
        "https://page.test:444",
        "https://PAGE.test",
        "https://page.test/",
        "null",
        "*",
        "",
        None,
    ],
)
def test_any_other_origin_gets_nothing_but_vary(origin):
    """Only exact equality counts; the refusal still varies by Origin, for shared caches."""
    reply = LISTED.apply(Reply.empty(), get(headers={} if origin is None else {"Origin": origin}))
    assert reply.headers == (("Vary", "Origin"),)


def test_a_star_needs_no_vary():
    """With all origins allowed, the reply does not vary."""
    reply = OPEN.apply(Reply.empty(), get(headers={"Origin": "https://any.test"}))
    assert reply.headers == (("Access-Control-Allow-Origin", "*"),)


def test_a_star_is_told_to_everybody():
    """A cache may give the reply to a request without Origin to a page, so it allows all pages too."""
    assert OPEN.apply(Reply.empty(), get()).headers == (("Access-Control-Allow-Origin", "*"),)


def test_a_preflight_tells_what_may_be_sent():
    """An allowed page learns methods, headers and how long to remember them."""
    asking = call("OPTIONS", headers={"Origin": "https://page.test", "Access-Control-Request-Method": "POST"})
    reply = LISTED.preflight(Reply.empty(), asking, ("GET", "POST"))
    assert dict(reply.headers) == {
        "Access-Control-Allow-Methods": "GET, POST",
        "Access-Control-Allow-Headers": "Authorization, Content-Type",
        "Access-Control-Max-Age": "7200",
    }


def test_a_preflight_from_elsewhere_learns_nothing():
    """A page that is not listed gets no permission."""
    asking = call("OPTIONS", headers={"Origin": "https://evil.test", "Access-Control-Request-Method": "POST"})
    assert LISTED.preflight(Reply.empty(), asking, ("GET",)).headers == ()


@pytest.mark.parametrize(
    "origins",
    [
        ("https://a.test/",),
        ("https://a.test/path",),
        ("a.test",),
        ("null",),
        ("https://*.a.test",),
        ("*", "https://a.test"),
        ("https://a.test, https://b.test",),
        ("https://a.test\r\nX: y",),
    ],
)
def test_an_origin_that_can_never_match_is_refused_at_start(origins):
    """An invalid allowlist fails at construction."""
    with pytest.raises(ValueError):
        Cors(origins=origins)
