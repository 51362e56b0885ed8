"""Conditional requests: when a copy is current, and when a change is refused."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import PreconditionFailed
from sluice.web import ETag, Reply, Validators, apply_conditions, check_preconditions, parse_etags
from unit.web.calls import call, get

TAGS = st.builds(ETag, st.text(st.sampled_from("!#$,/Wa1~")), st.booleans())
MODIFIED = "Sun, 06 Nov 1994 08:49:37 GMT"
BEFORE = "Sun, 06 Nov 1994 08:49:36 GMT"
AFTER = "Sun, 06 Nov 1994 08:49:38 GMT"
CURRENT = Validators(etag=ETag("v1"), modified_at=datetime(1994, 11, 6, 8, 49, 37, 999, tzinfo=UTC))


def page() -> Reply:
    return Reply.text("hello", headers={"ETag": '"v1"', "Last-Modified": MODIFIED, "Cache-Control": "max-age=60"})


def test_equal_bytes_have_equal_tags():
    """A tag depends only on the content and is quoted in a header."""
    assert ETag.of(b"a") == ETag.of(b"a") != ETag.of(b"b")
    assert str(ETag.of(b"")) == '"e3b0c44298fc1c149afbf4c8996fb924"'
    assert str(ETag.of(b"", weak=True)) == 'W/"e3b0c44298fc1c149afbf4c8996fb924"'


@pytest.mark.parametrize("tag", ['a"b', "a b", "a\n", "☃"])
def test_a_tag_cannot_break_its_quotes(tag):
    """A tag with characters that a header does not allow is refused."""
    with pytest.raises(ValueError):
        ETag(tag)


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ('"a"', [ETag("a")]),
        ('W/"a" ,, "b,c",', [ETag("a", weak=True), ETag("b,c")]),
        ('""', [ETag("")]),
        ("", []),
        ("a", []),
        ('"a" "b"', []),
        ('"a", b', []),
        ('"a', []),
        ('w/"a"', []),
    ],
)
def test_a_list_of_tags_is_read_whole_or_not_at_all(text, tags):
    """Tags may hold commas and be weak; an unreadable list names nothing."""
    assert parse_etags(text) == tuple(tags)


@given(st.lists(TAGS, min_size=1))
def test_tags_are_read_as_written(tags):
    """Any list of tags survives being written and read."""
    assert parse_etags(", ".join(map(str, tags))) == tuple(tags)
    assert ETag.parse(str(tags[0])) == tags[0]


@given(st.text() | st.text(st.sampled_from('W/", a*')))
def test_any_text_is_a_list_or_nothing(text):
    """No header makes the tag reader raise."""
    assert isinstance(parse_etags(text), tuple)
    assert ETag.parse(text) in {None, *parse_etags(text)}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"If-None-Match": '"v1"'}, 304),
        ({"If-None-Match": 'W/"v1"'}, 304),
        ({"If-None-Match": '"v0", "v1"'}, 304),
        ({"If-None-Match": "*"}, 304),
        ({"If-None-Match": '"v0"'}, 200),
        ({"If-None-Match": "v1"}, 200),
        ({"If-Modified-Since": MODIFIED}, 304),
        ({"If-Modified-Since": AFTER}, 304),
        ({"If-Modified-Since": BEFORE}, 200),
        ({"If-Modified-Since": "yesterday"}, 200),
        ({"If-None-Match": '"v0"', "If-Modified-Since": MODIFIED}, 200),
        ({"If-Match": '"v1"'}, 200),
        ({"If-Match": "*", "If-None-Match": '"v1"'}, 304),
    ],
)
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_a_current_copy_is_answered_with_304(method, headers, status):
    """If-None-Match compares weakly and rules out If-Modified-Since."""
    assert apply_conditions(call(method, headers=headers), page()).status == status


def test_304_keeps_what_caches_need():
    """A 304 repeats the validators and cache rules, and nothing that describes a body."""
    full = page().with_added_header("Vary", "Accept").with_added_header("X-Cache", "HIT")
    reply = apply_conditions(get(headers={"If-None-Match": '"v1"'}), full)
    assert reply.body is None
    assert dict(reply.headers) == {
        "ETag": '"v1"',
        "Last-Modified": MODIFIED,
        "Cache-Control": "max-age=60",
        "Vary": "Accept",
    }


@pytest.mark.parametrize("reply", [Reply.text("no", 404, {"ETag": '"v1"'}), Reply.text("no validators")])
def test_other_replies_stay_as_they_are(reply):
    """Only a 200 with validators can become a 304."""
    request = get(headers={"If-None-Match": '"v1"', "If-Modified-Since": AFTER})
    assert apply_conditions(request, reply) is reply


def test_a_post_is_never_spared():
    """Only GET and HEAD may be answered with 304."""
    assert apply_conditions(call("POST", headers={"If-None-Match": '"v1"'}), page()).status == 200


@pytest.mark.parametrize(
    ("headers", "current"),
    [
        ({"If-Match": '"v0"'}, CURRENT),
        ({"If-Match": 'W/"v1"'}, CURRENT),
        ({"If-Match": "nonsense"}, CURRENT),
        ({"If-Match": 'W/"v1"'}, Validators(etag=ETag("v1", weak=True))),
        ({"If-Match": "*"}, None),
        ({"If-Match": '"v1"'}, None),
        ({"If-Unmodified-Since": BEFORE}, CURRENT),
        ({"If-None-Match": "*"}, CURRENT),
        ({"If-None-Match": 'W/"v1"'}, CURRENT),
    ],
)
def test_a_change_based_on_another_version_is_refused(headers, current):
    """If-Match compares strongly; a failed condition is PreconditionFailed."""
    with pytest.raises(PreconditionFailed):
        check_preconditions(call("PUT", headers=headers), current)


@pytest.mark.parametrize(
    ("headers", "current"),
    [
        ({}, CURRENT),
        ({"If-Match": '"v0", "v1"'}, CURRENT),
        ({"If-Match": "*"}, Validators()),
        ({"If-Match": '"v1"', "If-Unmodified-Since": BEFORE}, CURRENT),
        ({"If-Unmodified-Since": MODIFIED}, CURRENT),
        ({"If-Unmodified-Since": "yesterday"}, CURRENT),
        ({"If-Unmodified-Since": BEFORE}, None),
        ({"If-None-Match": "*"}, None),
        ({"If-None-Match": '"v0"'}, CURRENT),
    ],
)
def test_a_change_that_fits_goes_on(headers, current):
    """A condition that holds or cannot be read changes nothing; beside one that fails it does not help."""
    check_preconditions(call("PUT", headers=headers), current)
    with pytest.raises(PreconditionFailed):
        check_preconditions(call("PUT", headers={**headers, "If-Match": '"other"'}), current)


def test_a_get_of_another_version_is_refused_too():
    """If-Match on a GET guards against mixing parts of two versions."""
    with pytest.raises(PreconditionFailed):
        apply_conditions(get(headers={"If-Match": '"v0"'}), page())
