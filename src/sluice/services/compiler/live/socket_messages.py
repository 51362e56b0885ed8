"""What is said over the compiler's WebSocket, each way one JSON object with a `type`."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.errors import Invalid, SluiceError, TooManyRequests
from sluice.core.json_text import encode_utf8
from sluice.core.strict_json import parse_json
from sluice.services.compiler.requests import Content
from sluice.web import parse_model

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


class Misuse(Exception):
    """A message that cannot be followed; the connection goes on."""

    def __init__(self, code: Code, text: str, session_id: str | None = None) -> None:
        super().__init__(text)
        self.code: Code = code
        self.session_id = session_id


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    type: str
    timestamp: Any = None  # clients may tell their time; nobody needs it


class Ping(Message):
    pass


class OfSession(Message):
    session_id: SessionId


class CompileRequest(OfSession):
    configuration: dict[str, Any]
    content: Content = Field(default_factory=dict, alias="preFetchedContent")
    benchmark: bool = False
    # Looked at by the guard.
    turnstile_token: Any = Field(default=None, alias="turnstileToken")


KINDS: Final[Mapping[str, type[Message]]] = {
    "ping": Ping,
    "compile": CompileRequest,
    "cancel": OfSession,
    "pause": OfSession,
    "resume": OfSession,
}


def parse_message(text: str) -> tuple[Message, dict[str, Any]]:
    """A client's message, and its plain members; Misuse says what is wrong with it."""
    content = encode_utf8(text)
    if len(content) > MAX_MESSAGE_BYTES:
        raise Misuse("MESSAGE_TOO_LARGE", f"a message takes at most {MAX_MESSAGE_BYTES} bytes; this has {len(content)}")
    try:
        value = parse_json(content)
    except Invalid as error:
        raise Misuse("INVALID_MESSAGE", str(error).replace("the body", "the message", 1)) from None
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise Misuse("INVALID_MESSAGE", "a message is a JSON object with a type")
    kind = KINDS.get(value["type"])
    if kind is None:
        known = ", ".join(KINDS)
        raise Misuse("UNKNOWN_MESSAGE_TYPE", f"the type {value['type'][:40]!r} is not known; known are: {known}")
    try:
        return parse_model(kind, value), value
    except Invalid as error:
        raise Misuse("INVALID_MESSAGE", str(error), _session_of(value)) from None


def told(error: SluiceError) -> dict[str, Any]:
    """What is told of a failure beside its sentence."""
    details: dict[str, Any] = {"title": error.title, "status": error.status, "retryable": error.retryable}
    if isinstance(error, TooManyRequests):
        details["retryAfter"] = error.retry_after_s
    if isinstance(error, Invalid) and error.fields:
        details["errors"] = [{"path": field.field, "reason": field.reason} for field in error.fields]
    return details


def _session_of(value: Mapping[str, Any]) -> str | None:
    given = value.get("sessionId")
    return given[:MAX_SESSION_CHARS] if isinstance(given, str) else None
