"""The messages of the queues: made here, read here."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.alias_generators import to_camel

from sluice.services.compiler.requests import MAX_ASYNC_BATCH, BatchItem, Content

MAX_WARMED = 50


class _Message(BaseModel):
    """What all have; strangers may send more, which is ignored. Content that is too large stands in R2 under its key."""

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True)

    request_id: Annotated[str, Field(min_length=1, max_length=128)] | None = None
    timestamp: float | None = None
    priority: Any = "standard"
    content_key: str | None = None


class CompileMessage(_Message):
    type: Literal["compile"] = "compile"
    configuration: dict[str, Any] = {}
    pre_fetched_content: Content = {}
    benchmark: bool = False

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


Message = CompileMessage | BatchMessage | WarmMessage
TYPES = ("compile", "batch-compile", "cache-warm")
_READ: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="type")])


def is_unknown(body: object) -> bool:
    """Whether the body names a type that nobody here handles."""
    return isinstance(body, dict) and isinstance(body.get("type"), str) and body["type"] not in TYPES


def read_message(body: object) -> Message | None:
    """The message, or None when it is malformed."""
    try:
        return _READ.validate_python(body)
    except ValidationError:
        return None
