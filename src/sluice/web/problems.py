"""Errors as `application/problem+json` (RFC 9457), with `success` and `error` for older clients."""

from collections.abc import Sequence
from typing import Annotated, Literal, NotRequired, TypedDict

from sluice.core.doc import Doc
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests, Unauthorized
from sluice.core.headers import HeadersLike, to_pairs
from sluice.core.ports import HeaderPairs
from sluice.web.messages import Reply

PROBLEM_TYPE = "application/problem+json"


class FieldProblem(TypedDict):
    """One invalid value: the field (`sources[2].url`) and the reason."""

    path: str
    reason: str


class Problem(TypedDict):
    """An error (RFC 9457), with `success` and `error` for older clients."""

    type: Literal["about:blank"]
    title: str
    status: Annotated[int, Doc(minimum=400, maximum=599)]
    detail: Annotated[str, Doc("One sentence for a person.")]
    instance: Annotated[str, Doc("The path of the request.")]
    success: Literal[False]
    error: Annotated[str, Doc("The same as `detail`.")]
    errors: NotRequired[Annotated[list[FieldProblem], Doc("Every invalid field.")]]


def build_problem(
    status: int,
    title: str,
    detail: str,
    *,
    instance: str,
    fields: Sequence[BadField] = (),
    headers: HeadersLike = (),
) -> Reply:
    """Return a problem reply; `fields` become its `errors`."""
    body: Problem = {
        "type": "about:blank",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": instance,
        "success": False,
        "error": detail,
    }
    if fields:
        body["errors"] = [{"path": field.field, "reason": field.reason} for field in fields]
    return Reply.json(body, status, (("Content-Type", PROBLEM_TYPE), *to_pairs(headers)))


def build_error_reply(error: SluiceError, *, instance: str) -> Reply:
    """Return the problem reply for an expected error."""
    return build_problem(
        error.status,
        error.title,
        str(error) or error.title,
        instance=instance,
        fields=error.fields if isinstance(error, Invalid) else (),
        headers=_build_headers(error),
    )


def build_internal_error_reply(*, instance: str) -> Reply:
    """Return the problem reply for a defect of ours; it reveals no details."""
    return build_problem(500, "Internal error", "the request could not be handled", instance=instance)


def _build_headers(error: SluiceError) -> HeaderPairs:
    if isinstance(error, TooManyRequests):
        return (("Retry-After", str(error.retry_after_s)),)
    if isinstance(error, Unauthorized):
        return (("WWW-Authenticate", "Bearer"),)
    return ()
