"""Provides lists: from the cache, or from a compilation that all equal requests share.

The key of a list is the SHA-256 of its canonical configuration. The result is compressed once and stored as the reply
that it will be: in KV, and in R2 beyond 25 MiB, for one hour, or 24 hours after a workflow. A hit is sent as it lies
there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Log
from sluice.services.compiler.cache.compilation_records import Count
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import ListSummary
from sluice.services.compiler.cache.list_cache import ListCache, cache_key
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.cache.served_list import ListOrigin, ServedList, find_cached
from sluice.services.compiler.cache.single_flight import SharedCompiler

_CACHE_LABELS: Final[Mapping[ListOrigin, str]] = {"cached": "hit", "fresh": "miss", "shared": "deduplicated"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListProvider:
    compiler: ListCompiler
    cache: ListCache
    shared_compiler: SharedCompiler
    log: Log
    count: Count

    async def serve(self, order: CompileOrder) -> ServedList:
        """Return the list from the cache, or compile it together with all equal requests; with `fresh`, always compile it."""
        served: ServedList | None = None
        if not order.fresh:
            try:
                served = await find_cached(self.cache, cache_key(order.configuration), order.form)
            except SluiceError as error:
                self.log.event("cache.unreadable", list=order.configuration.name, reason=str(error))
                order = replace(order, fresh=True)  # nobody need try to read it again
        if served is None:
            served = await self.shared_compiler.serve(order)
        self.count("cache", _CACHE_LABELS[served.origin])
        return served

    async def compile_private(self, order: CompileOrder) -> ServedList:
        """Compile for this caller alone, without storing the list."""
        return ServedList.from_compiled(await self.compiler.compile(order), order.form, "fresh")

    async def ensure_cached(self, order: CompileOrder) -> ListSummary:
        """Make sure that the list is in the cache, for a caller who fetches it later."""
        return await self.refresh(order) if order.is_private else (await self.serve(order)).summary

    async def refresh(self, order: CompileOrder) -> ListSummary:
        """Compile again and store the list, even if the cache has it: the entry may be about to expire."""
        compiled = await self.compiler.compile(order)
        await self.compiler.store(compiled, order.ttl_s)
        return compiled.summary
