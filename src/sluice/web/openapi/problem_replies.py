"""The problems in an OpenAPI document: one schema for all, one reply for each status, listed where it can occur."""

from collections.abc import Collection
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from sluice.web.openapi.docs import Absent, Doc, ReplyModel
from sluice.web.problems import PROBLEM_TYPE
from sluice.web.router import Route


class FieldProblem(ReplyModel):
    """One value that does not fit: where it stands (`sources[2].url`) and why."""

    path: str
    reason: str


class Problem(ReplyModel):
    """An error (RFC 9457), with `success` and `error` beside for older clients."""

    type: Literal["about:blank"]
    title: str
    status: Annotated[int, Field(ge=400, le=599)]
    detail: Annotated[str, Field(description="One sentence for a person.")]
    instance: Annotated[str, Field(description="The path that was asked for.")]
    success: Literal[False]
    error: Annotated[str, Field(description="The same as `detail`.")]
    errors: Annotated[list[FieldProblem], Field(description="Every field that does not fit.")] | Absent = None


# What the document calls each reply, and what it says of it; None is any other status.
_REPLIES: Final[dict[int | None, tuple[str, str]]] = {
    400: ("BadRequest", "Something in the request does not fit; `errors` names each field."),
    401: ("Unauthorized", "The token or the signature is missing or wrong."),
    403: ("Forbidden", "This is switched off, or not for this caller."),
    404: ("NotFound", "There is no such thing."),
    409: ("Conflict", "It does not go with how things stand."),
    412: ("PreconditionFailed", "The caller's copy is not the current one."),
    413: ("TooLarge", "The body is larger than is taken."),
    415: ("UnsupportedMediaType", "The body is not sent as application/json."),
    426: ("UpgradeRequired", "Another protocol is spoken here."),
    429: ("TooManyRequests", "The limit is reached; Retry-After tells when to come again."),
    502: ("UpstreamFailed", "A service that is needed for this failed."),
    503: ("Unavailable", "This cannot be served now."),
    504: ("UpstreamTimedOut", "A service that is needed for this did not answer in time."),
    None: ("Failure", "Anything else that went wrong."),
}
_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}


def response_name(status: int | None) -> str:
    """What the shared reply of a status is called."""
    return _REPLIES[status][0]


def list_problem_statuses(route: Route, doc: Doc) -> list[int]:
    """The statuses of all problems that an operation may answer with."""
    found = set(doc.problems)
    if doc.body:
        found |= {400, 413, 415}
    if doc.query or None in route.shape:
        found.add(400)
    if doc.security:
        found.add(401)
    if "admin" in doc.security:
        found.add(403)
    return sorted(found)


def build_problem_responses(schema: dict[str, Any], statuses: Collection[int]) -> dict[str, Any]:
    """The shared replies, by name."""
    told: dict[str, Any] = {}
    for status in (*sorted(statuses), None):
        name, about = _REPLIES[status]
        told[name] = {"description": about, "content": {PROBLEM_TYPE: {"schema": schema}}}
    if 429 in statuses:
        told[response_name(429)]["headers"] = _RETRY_AFTER
    return told
