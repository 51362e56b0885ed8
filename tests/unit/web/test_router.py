"""The route table: which path and method reach which handler."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import Invalid
from sluice.web import Reply, Request, Route
from sluice.web.router import Router, split_path


async def nothing(_request: Request) -> Reply:
    return Reply.empty()


def routes(*rows: str) -> list[Route]:
    return [Route(method, pattern, nothing) for method, pattern in map(str.split, rows)]


TABLE = Router(
    routes(
        "GET /",
        "GET /queue/stats",
        "POST /queue/:verb",
        "GET /queue/results/:id",
        "DELETE /queue/results/:request_id",
        "GET /:kind/latest",
        "GET /a/:x/c",
        "GET /:y/b/d",
    )
)


def found(path: str) -> str | None:
    resource = TABLE.resolve(split_path(path))
    return next(iter(resource.routes.values())).pattern if resource else None


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("/", "/"),
        ("/queue/stats", "/queue/stats"),
        ("/queue/st%61ts", "/queue/stats"),
        ("/queue/other", "/queue/:verb"),
        ("/queue/latest", "/queue/:verb"),
        ("/news/latest", "/:kind/latest"),
        ("/queue/results/a%2Fb", "/queue/results/:id"),
        ("/a/b/c", "/a/:x/c"),
        ("/a/b/d", "/:y/b/d"),
        ("/Queue/Stats", None),
        ("/queue", None),
        ("/queue/", None),
        ("/queue/stats/", None),
        ("/queue/results/", None),
        ("/x/queue/stats", None),
        ("//queue/stats", None),
        ("//", None),
        ("/queue%2Fstats", None),
    ],
)
def test_a_path_finds_its_most_exact_pattern(path, pattern):
    """Whole decoded segments are compared; an exact one beats a parameter, and a trailing slash is another path."""
    assert found(path) == pattern


@pytest.mark.parametrize(
    ("sent", "value"), [("abc", "abc"), ("a%2Fb", "a/b"), ("%C3%A9", "é"), ("a+b", "a+b"), (":id", ":id")]
)
def test_params_are_decoded(sent, value):
    """A parameter is one decoded segment; an encoded slash does not split it."""
    segments = split_path(f"/queue/results/{sent}")
    resource = TABLE.resolve(segments)
    assert resource
    assert resource.routes["GET"].params(segments) == {"id": value}
    assert resource.routes["DELETE"].params(segments) == {"request_id": value}


@pytest.mark.parametrize("path", ["/%", "/a%2", "/%zz", "/%ff", "/%C3", "/ok/%u0041"])
def test_bad_encodings_are_the_callers_fault(path):
    """A path that is not percent-encoded UTF-8 is Invalid."""
    with pytest.raises(Invalid):
        split_path(path)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/", ("GET", "HEAD", "OPTIONS")),
        ("/queue/x", ("OPTIONS", "POST")),
        ("/queue/results/x", ("DELETE", "GET", "HEAD", "OPTIONS")),
    ],
)
def test_allowed_methods_include_the_implied_ones(path, allowed):
    """Allowed methods are sorted; GET implies HEAD, and OPTIONS is always there."""
    resource = TABLE.resolve(split_path(path))
    assert resource
    assert resource.allowed_methods == allowed


@pytest.mark.parametrize(
    ("method", "pattern"),
    [
        ("get", "/"),
        ("", "/"),
        ("GET", ""),
        ("GET", "a"),
        ("GET", "/a/"),
        ("GET", "//"),
        ("GET", "/:"),
        ("GET", "/:1"),
        ("GET", "/a b"),
        ("GET", "/a%20b"),
        ("GET", "/:x/:x"),
        ("GET", "/a\n"),
    ],
)
def test_a_bad_row_is_refused_at_start(method, pattern):
    """A table with a route that could never match, or is ambiguous, fails at construction."""
    with pytest.raises(ValueError):
        Router([Route(method, pattern, nothing)])


def test_two_rows_for_one_place_are_refused():
    """The same method on the same shape is a mistake, whatever its parameters are called."""
    with pytest.raises(ValueError, match="GET /a/:y"):
        Router(routes("GET /a/:x", "GET /a/:y"))


@given(st.text().map(lambda text: f"/{text}"))
def test_any_path_resolves_or_is_invalid(path):
    """No path makes the router raise anything but Invalid."""
    try:
        found(path)
    except Invalid as error:
        assert "path" in str(error)  # noqa: PT017 - not raising is fine too
