"""The problem replies of an OpenAPI document: one schema for all, and one reply for each status."""

from collections.abc import Collection
from typing import Any, Final

from sluice.web.operations import Operation
from sluice.web.problems import PROBLEM_TYPE

# The name and the description of each reply; None is any other status.
_REPLIES: Final[dict[int | None, tuple[str, str]]] = {
    400: ("BadRequest", "Something in the request is invalid; `errors` names each field."),
    401: ("Unauthorized", "The token or the signature is missing or wrong."),
    403: ("Forbidden", "This is disabled, or the caller is not allowed to use it."),
    404: ("NotFound", "There is nothing with this name or id."),
    408: ("RequestTimeout", "The body did not arrive in time; send it again."),
    409: ("Conflict", "The request conflicts with the current state; `detail` says how."),
    412: ("PreconditionFailed", "The caller's copy is out of date; read it again."),
    413: ("TooLarge", "The body, or what it asks for, is larger than a limit; `detail` names the limit."),
    415: ("UnsupportedMediaType", "The body must be sent as application/json."),
    426: ("UpgradeRequired", "This path requires another protocol."),
    429: ("TooManyRequests", "Too many requests; Retry-After says how long to wait."),
    502: ("UpstreamFailed", "An upstream service failed."),
    503: (
        "Unavailable",
        "The service is unavailable, or its operator has not finished the set-up; `detail` says which.",
    ),
    504: ("UpstreamTimedOut", "An upstream service did not answer in time."),
    None: ("Failure", "Any other error."),
}
_RETRY_AFTER: Final = {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}}


def response_name(status: int | None) -> str:
    """Return the name of the shared reply of a status."""
    return _REPLIES[status][0]


def list_problem_statuses(operation: Operation) -> list[int]:
    """Return the statuses of all problems that an operation may reply with."""
    statuses = set(operation.problems)
    if operation.body:
        statuses |= {400, 408, 413, 415}
    if operation.query or operation.path:
        statuses.add(400)
    if operation.security:
        statuses.add(401)
    if operation.is_repeatable:
        statuses |= {400, 409}
    if "admin" in operation.security:
        statuses |= {403, 503}
    return sorted(statuses)


def build_problem_responses(schema: dict[str, Any], statuses: Collection[int]) -> dict[str, Any]:
    """Return the shared replies by name."""
    responses: dict[str, Any] = {}
    for status in (*sorted(statuses), None):
        name, about = _REPLIES[status]
        responses[name] = {"description": about, "content": {PROBLEM_TYPE: {"schema": schema}}}
    if 429 in statuses:
        responses[response_name(429)]["headers"] = _RETRY_AFTER
    return responses
