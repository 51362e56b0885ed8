"""Provides lists: from the cache, or from a compilation that all equal requests share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import SluiceError
from sluice.core.ports import Log
from sluice.services.compiler.cache.compilation_records import Count, Trigger
from sluice.services.compiler.cache.compiled_list import ListSummary
from sluice.services.compiler.cache.list_cache import ListCache, cache_key
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.cache.served_list import ListForm, ListOrigin, ServedList, find_cached
from sluice.services.compiler.cache.single_flight import SharedCompiler
from sluice.services.compiler.limits.allowance import FetchAllowance

_CACHE_LABELS: Final[Mapping[ListOrigin, str]] = {"cached": "hit", "fresh": "miss", "shared": "deduplicated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListProvider:
    compiler: ListCompiler
    cache: ListCache
    shared_compiler: SharedCompiler
    log: Log
    count: Count

    async def serve(
        self,
        configuration: Configuration,
        *,
        form: ListForm,
        ttl_s: int,
        trigger: Trigger,
        allowance: FetchAllowance | None = None,
        fresh: bool = False,
    ) -> ServedList:
        """Returns the list from the cache, or compiles it together with all equal requests; always compiles if `fresh`."""
        served = None if fresh else await self._find_cached(configuration, form)
        if served is None:
            allowance = allowance or FetchAllowance()
            served = await self.shared_compiler.serve(
                configuration, form=form, ttl_s=ttl_s, trigger=trigger, allowance=allowance, fresh=fresh
            )
        self.count("cache", _CACHE_LABELS[served.origin])
        return served

    async def compile_private(
        self,
        configuration: Configuration,
        *,
        form: ListForm,
        content: Mapping[str, str],
        detailed: bool,
        trigger: Trigger,
        benchmark: bool = False,
        allowance: FetchAllowance | None = None,
    ) -> ServedList:
        """Compiles for this caller alone, without storing the list."""
        compiled = await self.compiler.compile(
            configuration,
            trigger=trigger,
            content=content,
            detailed=detailed,
            benchmark=benchmark,
            allowance=allowance,
        )
        return ServedList.from_compiled(compiled, form, "fresh")

    async def ensure_cached(
        self,
        configuration: Configuration,
        *,
        content: Mapping[str, str],
        ttl_s: int,
        trigger: Trigger,
        benchmark: bool = False,
        allowance: FetchAllowance | None = None,
    ) -> ListSummary:
        """Makes sure that the list is in the cache, for a caller who fetches it later."""
        if content or benchmark:
            return await self.refresh(
                configuration,
                content=content,
                ttl_s=ttl_s,
                trigger=trigger,
                benchmark=benchmark,
                allowance=allowance,
            )
        served = await self.serve(configuration, form="summary", ttl_s=ttl_s, trigger=trigger, allowance=allowance)
        return served.summary

    async def refresh(
        self,
        configuration: Configuration,
        *,
        content: Mapping[str, str],
        ttl_s: int,
        trigger: Trigger,
        benchmark: bool = False,
        allowance: FetchAllowance | None = None,
    ) -> ListSummary:
        """Compiles again and stores the list, even if the cache has it: the entry may be about to expire."""
        compiled = await self.compiler.compile(
            configuration, trigger=trigger, content=content, benchmark=benchmark, allowance=allowance
        )
        await self.compiler.store(compiled, ttl_s)
        return compiled.summary

    async def _find_cached(self, configuration: Configuration, form: ListForm) -> ServedList | None:
        """An unreadable cache is logged and counts as a miss."""
        try:
            return await find_cached(self.cache, cache_key(configuration), form)
        except SluiceError as error:
            self.log.error("cache.unreadable", error, list=configuration.name)
            return None
