"""The bodies that callers and producers send, validated before anything starts."""

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from sluice.core.compiler.configuration import Configuration
from sluice.core.json_text import JsonValue
from sluice.services.compiler.cache.compile_order import CallerOptions

MAX_BODY_BYTES: Final = 4_000_000
MAX_SYNC_BATCH: Final = 10
MAX_ASYNC_BATCH: Final = 100
MAX_ID_CHARS: Final = 128

Priority = Literal["standard", "high"]
SentPriority = Annotated[
    Any, Field(description='"high" goes before the others; anything else is standard.', examples=["high"])
]
ItemId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)]


class _Strict(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, extra="forbid", strict=True, frozen=True)


class CompileRequest(CallerOptions, _Strict):
    """`sources` are URLs, or keys of `preFetchedContent`, which is compiled for this caller alone."""

    configuration: Configuration
    priority: SentPriority = "standard"
    report: Annotated[
        bool, Field(description="Adds every dropped line to the reply; a job or workflow ignores it, and makes none.")
    ] = False


class BatchItem(CallerOptions, _Strict):
    """Its configuration is validated separately, so that one bad item does not fail the others."""

    id: ItemId
    configuration: dict[str, Any]


def _check_unique_ids(items: list[BatchItem]) -> None:
    repeated = [item_id for item_id, times in Counter(item.id for item in items).items() if times > 1]
    if repeated:
        raise PydanticCustomError("twice", "{reason}", {"reason": f"hold the id {repeated[0][:40]!r} more than once"})


class BatchRequest(_Strict):
    requests: Annotated[list[BatchItem], Field(min_length=1, max_length=MAX_SYNC_BATCH)]
    priority: SentPriority = "standard"

    @model_validator(mode="after")
    def _check_distinct(self) -> Self:
        _check_unique_ids(self.requests)
        return self


class AsyncBatchRequest(BatchRequest):
    requests: Annotated[list[BatchItem], Field(min_length=1, max_length=MAX_ASYNC_BATCH)]


def parse_priority(value: JsonValue) -> Priority:
    """Return "high" for "high"; anything else, mistakes included, is standard."""
    return "high" if value == "high" else "standard"


# Examples for the API document: valid as they are, and without need of the network.
CONFIGURATION_EXAMPLE: Final[Mapping[str, Any]] = {
    "name": "My list",
    "sources": [{"source": "rules.txt"}],
    "transformations": ["RemoveComments", "Compress", "Validate", "Deduplicate"],
}
COMPILE_EXAMPLE: Final[Mapping[str, Any]] = {
    "configuration": CONFIGURATION_EXAMPLE,
    "preFetchedContent": {"rules.txt": "! a comment\n||ads.example.org^\n0.0.0.0 tracker.example.net"},
}
BATCH_EXAMPLE: Final[Mapping[str, Any]] = {"requests": [{"id": "mine", **COMPILE_EXAMPLE}]}
