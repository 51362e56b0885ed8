"""Errors as problem+json: one shape for all of them."""

import inspect

import pytest

from sluice.core import errors
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests, Unauthorized
from sluice.web import build_error_reply, build_problem
from unit.web.calls import parsed

PLAIN = [
    kind
    for _, kind in inspect.getmembers(errors, inspect.isclass)
    if issubclass(kind, SluiceError) and kind is not TooManyRequests
]


@pytest.mark.parametrize("kind", PLAIN, ids=lambda kind: kind.__name__)
def test_every_error_has_its_problem(kind):
    """Each class of the tree has its own status and title, with the older fields."""
    reply = build_error_reply(kind("because"), instance="/here")
    assert reply.status == kind.status
    assert reply.header("content-type") == "application/problem+json"
    assert parsed(reply) == {
        "type": "about:blank",
        "title": kind.title,
        "status": kind.status,
        "detail": "because",
        "instance": "/here",
        "success": False,
        "error": "because",
    }


def test_an_error_without_words_says_its_title():
    """A problem always has a detail."""
    assert parsed(build_error_reply(Unauthorized(), instance="/"))["error"] == "Unauthorized"


def test_invalid_names_each_field():
    """Each bad field stands in `errors` with its path and reason."""
    error = Invalid("two do not fit", [BadField("a", "is required"), BadField("b[0].c", "is too long")])
    assert parsed(build_error_reply(error, instance="/"))["errors"] == [
        {"path": "a", "reason": "is required"},
        {"path": "b[0].c", "reason": "is too long"},
    ]


@pytest.mark.parametrize(
    ("error", "name", "value"),
    [(TooManyRequests("slow", 30), "retry-after", "30"), (Unauthorized("who?"), "www-authenticate", "Bearer")],
)
def test_some_errors_need_a_header(error, name, value):
    """429 has Retry-After, and 401 has WWW-Authenticate."""
    assert build_error_reply(error, instance="/").header(name) == value


def test_a_problem_may_carry_headers_of_its_own():
    """A status outside the tree has the same form."""
    reply = build_problem(405, "Method not allowed", "no", instance="/", headers={"Allow": "GET"})
    assert (reply.status, reply.header("allow"), parsed(reply)["success"]) == (405, "GET", False)
