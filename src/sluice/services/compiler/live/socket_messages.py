"""The messages of the compiler's WebSocket: JSON objects with a `type`, in both directions."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.errors import Invalid, SluiceError, TooManyRequests
from sluice.core.json_text import JsonObject, encode_utf8, parse_json
from sluice.core.models import parse_model
from sluice.services.compiler.cache.compile_order import CallerOptions
from sluice.web.problems import FieldProblem

MAX_MESSAGE_BYTES: Final = 1024 * 1024
MAX_SESSION_CHARS: Final = 128

Code = Literal[
    "MESSAGE_TOO_LARGE",
    "INVALID_MESSAGE",
    "DUPLICATE_SESSION",
    "TOO_MANY_COMPILATIONS",
    "SESSION_NOT_FOUND",
    "INVALID_SESSION_STATE",
    "NOT_IMPLEMENTED",
    "UNKNOWN_MESSAGE_TYPE",
]
SessionId = Annotated[str, Field(min_length=1, max_length=MAX_SESSION_CHARS, alias="sessionId")]


class BadMessage(Exception):
    """A message that cannot be handled; the connection stays open."""

    def __init__(self, code: Code, text: str, session_id: str | None = None) -> None:
        super().__init__(text)
        self.code: Code = code
        self.session_id = session_id


class SocketMessage(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    type: str
    timestamp: Any = None  # clients may send their time; it is ignored


class PingMessage(SocketMessage):
    pass


class SessionMessage(SocketMessage):
    session_id: SessionId


class CancelMessage(SessionMessage):
    pass


class UnsupportedMessage(SessionMessage):
    """A message of the protocol that this service does not support."""


class SocketCompileMessage(CallerOptions, SessionMessage):
    configuration: dict[str, Any]
    # Checked by the guard.
    turnstile_token: Any = Field(default=None, alias="turnstileToken")


KINDS: Final[Mapping[str, type[SocketMessage]]] = {
    "ping": PingMessage,
    "compile": SocketCompileMessage,
    "cancel": CancelMessage,
    "pause": UnsupportedMessage,
    "resume": UnsupportedMessage,
}


def parse_message(text: str) -> tuple[SocketMessage, JsonObject]:
    """Return the message and its plain members; raise BadMessage with what is wrong."""
    content = encode_utf8(text)
    if len(content) > MAX_MESSAGE_BYTES:
        raise BadMessage(
            "MESSAGE_TOO_LARGE", f"a message has at most {MAX_MESSAGE_BYTES} bytes; this one has {len(content)}"
        )
    try:
        value = parse_json(content)
    except Invalid as error:
        raise BadMessage("INVALID_MESSAGE", str(error).replace("the body", "the message", 1)) from None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise BadMessage("INVALID_MESSAGE", "a message must be a JSON object with a type")
    kind = KINDS.get(value["type"])
    if kind is None:
        known = ", ".join(KINDS)
        raise BadMessage(
            "UNKNOWN_MESSAGE_TYPE", f"the type {value['type'][:40]!r} is unknown; known types are: {known}"
        )
    try:
        return parse_model(kind, value), value
    except Invalid as error:
        raise BadMessage("INVALID_MESSAGE", str(error), _find_session_id(value)) from None


class ErrorDetails(TypedDict):
    """The members of an error message besides its text."""

    title: str
    status: int
    retryable: bool
    retryAfter: NotRequired[int]
    errors: NotRequired[list[FieldProblem]]


def error_details(error: SluiceError) -> ErrorDetails:
    details: ErrorDetails = {"title": error.title, "status": error.status, "retryable": error.retryable}
    if isinstance(error, TooManyRequests):
        details["retryAfter"] = error.retry_after_s
    if isinstance(error, Invalid) and error.fields:
        details["errors"] = [{"path": field.field, "reason": field.reason} for field in error.fields]
    return details


def _find_session_id(value: JsonObject) -> str | None:
    session_id = value.get("sessionId")
    return session_id[:MAX_SESSION_CHARS] if isinstance(session_id, str) else None
