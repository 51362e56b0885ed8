"""Single-flight: many equal requests at the same time cause one compilation."""

import asyncio
from typing import NamedTuple, Protocol

from sluice.core.errors import SluiceError
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import CompressedList
from sluice.services.compiler.cache.list_cache import cache_key
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.cache.served_list import ListOrigin, ServedList, find_cached


class SharedCompiler(Protocol):
    """Compiles a configuration once for all callers who ask at the same time."""

    async def serve(self, order: CompileOrder) -> ServedList: ...


class _Landed(NamedTuple):
    """What a compilation has made, and why it could not be stored."""

    compiled: CompressedList
    store_error: SluiceError | None


class SingleFlight:
    """Serves one configuration: callers who come while a compilation runs get its result."""

    def __init__(self, compiler: ListCompiler) -> None:
        self._compiler = compiler
        self._running: asyncio.Task[_Landed] | None = None
        self._max_fetches = 0  # of the running compilation
        # One caller looks into the cache at a time, so that none acts on a look from before a compilation that has
        # ended since.
        self._looking = asyncio.Lock()

    async def serve(self, order: CompileOrder) -> ServedList:
        """Read the cache again before compiling: the caller may have seen an old copy of it.

        A compilation that may fetch less than this caller is not shared: it could fail where this one would not. A list
        that cannot be stored is served all the same, except to a caller who only wants it in the cache.
        """
        async with self._looking:
            origin: ListOrigin = "shared"
            if self._running is None or self._max_fetches < order.allowance.left:
                if not order.fresh and (cached := await self._find_cached(order)):
                    return cached
                origin = "fresh"
                self._max_fetches = order.allowance.left
                self._running = asyncio.ensure_future(self._compile(order))
                self._running.add_done_callback(self._clear_running)
            running = self._running
        # Shielded, so that a caller who leaves does not cancel the compilation of the others.
        compiled, store_error = await asyncio.shield(running)
        if store_error and order.form == "summary":
            raise store_error
        return ServedList.from_compiled(compiled, order.form, origin)

    async def _find_cached(self, order: CompileOrder) -> ServedList | None:
        try:
            return await find_cached(self._compiler.cache, cache_key(order.configuration), order.form)
        except SluiceError as error:
            self._compiler.log.event("cache.unreadable", list=order.configuration.name, reason=str(error))
            return None

    async def _compile(self, order: CompileOrder) -> _Landed:
        compiled = await self._compiler.compile(order)
        return _Landed(compiled, await self._compiler.try_store(compiled, order.ttl_s))

    def _clear_running(self, task: asyncio.Task[_Landed]) -> None:
        if self._running is task:
            self._running = None
        if not task.cancelled():
            task.exception()  # marks it as retrieved, in case no caller is left
