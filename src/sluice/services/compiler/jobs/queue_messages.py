"""The messages of the queues, written and parsed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from sluice.services.compiler.cache.compile_order import CallerOptions
from sluice.services.compiler.requests import MAX_ASYNC_BATCH, BatchItem

MAX_WARMED = 50
MAX_ID_CHARS = 128
_MAX_TYPE_CHARS = 80


class _Message(BaseModel):
    """The common members. Other producers may send more, which is ignored. Content that is too large is in R2."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True)

    request_id: Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)] | None = None
    timestamp: float | None = None
    priority: Any = "standard"
    content_key: str | None = None


class CompileMessage(_Message, CallerOptions):
    type: Literal["compile"] = "compile"
    configuration: dict[str, Any] = {}

    @property
    def name(self) -> str:
        return str(self.configuration.get("name", ""))


class BatchMessage(_Message):
    type: Literal["batch-compile"] = "batch-compile"
    requests: Annotated[list[BatchItem], Field(max_length=MAX_ASYNC_BATCH)] = []

    @property
    def name(self) -> str:
        return f"batch of {len(self.requests)}"


class WarmMessage(_Message):
    type: Literal["cache-warm"] = "cache-warm"
    configurations: Annotated[list[dict[str, Any]], Field(max_length=MAX_WARMED)] = []

    @property
    def name(self) -> str:
        return f"warming of {len(self.configurations)}"


@dataclass(frozen=True, slots=True)
class UnknownMessage:
    """A body of a type that this service does not handle."""

    type: str


@dataclass(frozen=True, slots=True)
class MalformedMessage:
    """A body that is no message."""


Message = CompileMessage | BatchMessage | WarmMessage
_MODELS: Final[Mapping[str, type[Message]]] = {
    "compile": CompileMessage,
    "batch-compile": BatchMessage,
    "cache-warm": WarmMessage,
}


def parse_message(body: object) -> Message | UnknownMessage | MalformedMessage:
    kind = body.get("type") if isinstance(body, dict) else None
    if not isinstance(kind, str):
        return MalformedMessage()
    if kind not in _MODELS:
        return UnknownMessage(kind[:_MAX_TYPE_CHARS])
    try:
        return _MODELS[kind].model_validate(body)
    except ValidationError:
        return MalformedMessage()
