"""Request and Reply as values."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.web import Headers, Native, Passthrough, Reply, Request
from unit.web.calls import content, get


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("https://a.test", "/"),
        ("https://a.test?x=/y", "/"),
        ("https://a.test/", "/"),
        ("https://a.test/x/y?z=1#f", "/x/y"),
        ("https://a.test/x%2Fy", "/x%2Fy"),
        ("https://a.test/x//y/", "/x//y/"),
        ("https://a.test/to/https://b.test/", "/to/https://b.test/"),
        ("https://[/x", "/x"),
    ],
)
def test_path_is_the_raw_path(url, path):
    """The path is the text between host and query, not decoded."""
    assert Request("GET", url).path == path


@pytest.mark.parametrize(
    ("query", "values"),
    [
        ("", {}),
        ("a=1&b=2&a=3", {"a": ("1", "3"), "b": ("2",)}),
        ("a=&b", {"a": ("",), "b": ("",)}),
        ("q=a+b%26c%3D", {"q": ("a b&c=",)}),
        ("q=100%", {"q": ("100%",)}),
        ("q=%ff", {"q": ("\ufffd",)}),
        ("a=1#b=2", {"a": ("1",)}),
    ],
)
def test_query_keeps_every_value(query, values):
    """A query parameter may repeat, be empty or be oddly encoded."""
    assert get(f"/?{query}").query == values


@given(st.text())
def test_any_url_has_a_path_and_a_query(url):
    """Path and query can be read from any URL."""
    request = Request("GET", url)
    assert request.path.startswith("/")
    assert isinstance(dict(request.query), dict)


def test_headers_ignore_case_and_join_repeats():
    """Header names compare without case; repeated fields join with a comma, cookies with a semicolon."""
    headers = Headers([("Accept", "a"), ("COOKIE", "x=1"), ("accept", "b"), ("cookie", "y=2")])
    assert dict(headers) == {"accept": "a, b", "cookie": "x=1; y=2"}
    assert headers["ACCEPT"] == "a, b"
    assert "Accept" in headers
    assert headers.get("missing") is None


def test_headers_do_not_show_their_values():
    """A repr of the headers names them and keeps tokens out of logs."""
    assert repr(Headers({"Authorization": "Bearer hush"})) == "Headers(authorization)"


@pytest.mark.parametrize(("headers", "ip"), [({}, None), ({"CF-Connecting-IP": "192.0.2.7"}, "192.0.2.7")])
def test_client_ip_is_what_cloudflare_saw(headers, ip):
    """Only CF-Connecting-IP says who calls."""
    assert get(headers={**headers, "X-Forwarded-For": "198.51.100.1"}).client_ip == ip


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "a\r\nSet-Cookie: b"),
        ("X-A", "a\nb"),
        ("X-A", "a\0b"),
        ("X-A\r\nX-B", "a"),
        ("X A", "a"),
        ("X-A:", "a"),
        ("", "a"),
    ],
)
def test_a_header_cannot_forge_another(name, value):
    """A header that would inject another line is refused at construction."""
    with pytest.raises(ValueError):
        Reply(headers=((name, value),))
    with pytest.raises(ValueError):
        Reply().with_added_header(name, value)


@pytest.mark.parametrize("status", [0, 100, 199, 600])
def test_a_reply_has_a_final_status(status):
    """A status that the platform refuses is refused at once."""
    with pytest.raises(ValueError):
        Reply(status)


@pytest.mark.parametrize("status", [204, 205, 304])
def test_some_statuses_have_no_body(status):
    """A status without content cannot carry any, unless the platform made the whole response."""
    with pytest.raises(ValueError):
        Reply.text("", status)
    assert Reply.passthrough(object(), status).status == status


@pytest.mark.parametrize(
    ("reply", "content_type", "body"),
    [
        (Reply.json({"a": [1, "é"]}), "application/json", '{"a":[1,"é"]}'),
        (Reply.json("\ud800"), "application/json", '"\\ud800"'),
        (Reply.json(1, headers={"content-type": "application/feed+json"}), "application/feed+json", "1"),
        (Reply.text("é"), "text/plain; charset=utf-8", "é"),
        (Reply.html("<p>é"), "text/html; charset=utf-8", "<p>é"),
    ],
)
def test_constructors_name_the_type_and_encode(reply, content_type, body):
    """Each constructor sets its content type once and encodes in UTF-8."""
    assert [value for name, value in reply.headers if name.lower() == "content-type"] == [content_type]
    assert content(reply) == body.encode()


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_json_never_holds_nan(value):
    """NaN is not JSON, so it is refused rather than sent."""
    with pytest.raises(ValueError):
        Reply.json(value)


def test_platform_bodies_are_carried_unopened():
    """A native body and a whole response pass through as the objects they are."""
    thing = object()
    assert Reply.native(thing, content_type="text/plain").body == Native(thing)
    assert Reply.passthrough(thing).body == Passthrough(thing)


def test_repeated_set_cookie_survives():
    """Adding a header keeps others of the same name; setting replaces them."""
    reply = Reply.empty(headers=[("Set-Cookie", "a=1")]).with_added_header("Set-Cookie", "b=2")
    assert reply.headers == (("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
    assert reply.with_header("set-cookie", "c=3").headers == (("set-cookie", "c=3"),)
    assert reply.header("SET-COOKIE") == "a=1"


@pytest.mark.parametrize(
    ("before", "after"),
    [((), "Origin"), (("Accept",), "Accept, Origin"), (("accept, ORIGIN",), "accept, ORIGIN"), (("*",), "*, Origin")],
)
def test_vary_grows_without_repeating(before, after):
    """A header is added to Vary once, beside those already there."""
    reply = Reply.empty(headers=[("Vary", value) for value in before])
    assert reply.with_vary("Origin").header("vary") == after
