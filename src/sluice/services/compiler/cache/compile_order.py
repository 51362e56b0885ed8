"""An order to compile: one value on its way from a request, message or workflow to the compiler."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, Self

from sluice.core.compiler.configuration import Configuration
from sluice.services.compiler.cache.compilation_records import Trigger
from sluice.services.compiler.cache.list_cache import SYNC_TTL_S
from sluice.services.compiler.cache.served_list import ListForm
from sluice.services.compiler.limits.allowance import MAX_FETCHES, FetchAllowance


class Wish(Protocol):
    """What every request and message for a list says beside the configuration."""

    @property
    def pre_fetched_content(self) -> Mapping[str, str]: ...
    @property
    def benchmark(self) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """The part of an order that travels to the object of its configuration.

    `fresh` passes the cache by, `detailed` asks for a report, and `benchmark` for the figures of this compilation.
    """

    trigger: Trigger
    form: ListForm = "summary"
    ttl_s: int = SYNC_TTL_S
    fresh: bool = False
    detailed: bool = False
    benchmark: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOrder(CompileOptions):
    """What to compile, with what the caller has sent along, and what it may fetch."""

    configuration: Configuration
    content: Mapping[str, str] = field(default_factory=dict)
    allowance: FetchAllowance = field(default_factory=FetchAllowance)

    @classmethod
    def of(
        cls,
        wish: Wish,
        configuration: Configuration,
        *,
        trigger: Trigger,
        ttl_s: int = SYNC_TTL_S,
        max_fetches: int = MAX_FETCHES,
    ) -> Self:
        return cls(
            configuration=configuration,
            content=wish.pre_fetched_content,
            benchmark=wish.benchmark,
            trigger=trigger,
            ttl_s=ttl_s,
            allowance=FetchAllowance(max_fetches),
        )

    @property
    def is_private(self) -> bool:
        """Whether the list has a key of its own: it is made from what the caller sent, or has figures of this compilation."""
        return bool(self.content) or self.benchmark

    @property
    def is_for_caller_alone(self) -> bool:
        """Whether a caller who waits for the list gets one that is not stored."""
        return self.is_private or self.detailed
