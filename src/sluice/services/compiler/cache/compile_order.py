"""An order to compile: one value on its way from a request, message or workflow to the compiler."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from sluice.core.compiler.configuration import MAX_LOCATION_CHARS, Configuration
from sluice.services.compiler.cache.compilation_records import Trigger
from sluice.services.compiler.cache.list_cache import SYNC_TTL_S
from sluice.services.compiler.cache.served_list import ListForm
from sluice.services.compiler.limits.allowance import MAX_FETCHES, FetchAllowance

MAX_CONTENTS: Final = 100

Content = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=MAX_LOCATION_CHARS)], str], Field(max_length=MAX_CONTENTS)
]


class CallerOptions(BaseModel):
    """What a caller may say beside the configuration: a part of every request, batch item and message, and of the order made of them.

    A list for which one is set has a key of its own, so that it never answers a caller who did not set it. With `benchmark` it is
    compiled anew, and the reply has the figures of this compilation.
    """

    model_config = ConfigDict(alias_generator=to_camel, validate_by_name=True, frozen=True)

    pre_fetched_content: Content = {}
    benchmark: bool = False

    def list_caller_options(self) -> dict[str, Any]:
        """Return them by name, without the members that a request or message has beside them."""
        return {name: getattr(self, name) for name in _CALLER_OPTIONS}


_CALLER_OPTIONS: Final = tuple(CallerOptions.__annotations__)
NO_CALLER_OPTIONS: Final = CallerOptions()


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """The part of an order that travels to the object of its configuration; a list with options of its caller is compiled elsewhere.

    `fresh` passes the cache by, and `detailed` asks for a report. `client` names who waits for the list, if somebody does.
    """

    trigger: Trigger
    form: ListForm = "summary"
    ttl_s: int = SYNC_TTL_S
    fresh: bool = False
    detailed: bool = False
    client: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOrder(CompileOptions):
    """What to compile, with which options of the caller, and what it may fetch."""

    configuration: Configuration
    caller_options: CallerOptions = NO_CALLER_OPTIONS
    allowance: FetchAllowance = field(default_factory=FetchAllowance)

    @classmethod
    def of(
        cls,
        request: CallerOptions,
        configuration: Configuration,
        *,
        trigger: Trigger,
        ttl_s: int = SYNC_TTL_S,
        max_fetches: int = MAX_FETCHES,
    ) -> Self:
        return cls(
            configuration=configuration,
            caller_options=CallerOptions(**request.list_caller_options()),
            trigger=trigger,
            ttl_s=ttl_s,
            allowance=FetchAllowance(max_fetches),
        )

    @property
    def content(self) -> Mapping[str, str]:
        """The files that the caller has sent along."""
        return self.caller_options.pre_fetched_content

    @property
    def is_private(self) -> bool:
        """Whether the list has a key of its own."""
        return self.caller_options != NO_CALLER_OPTIONS

    @property
    def is_for_caller_alone(self) -> bool:
        """Whether a caller who waits for the list gets one that is not stored."""
        return self.is_private or self.detailed
