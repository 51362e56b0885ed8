"""Single-flight across isolates: one Durable Object for each configuration runs the compilation."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Final, Protocol

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.errors import SluiceError, Unavailable
from sluice.core.ports import Log
from sluice.core.remote_errors import decode_error, encode_error
from sluice.services.compiler.cache.compile_order import CompileOptions, CompileOrder
from sluice.services.compiler.cache.list_cache import cache_key
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.cache.served_list import ListForm, ServedList, find_cached
from sluice.services.compiler.cache.single_flight import SingleFlight
from sluice.services.compiler.limits.allowance import FetchAllowance

# A call between Workers carries 32 MiB; a larger list is read from the cache.
MAX_CARRIED_BYTES: Final = 30 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAnswer:
    """The list, or the text of the error; a failed compilation is a value, because it has cost fetches too.

    `fetches` is how many the caller has caused; none if it shared a compilation.
    """

    fetches: int
    served: ServedList | None = None
    error: str | None = None

    def unwrap(self) -> ServedList:
        """Return the list, or raise the error of the compilation."""
        if self.served is None:
            raise decode_error(self.error or "")
        return self.served


class CompilationCalls(Protocol):
    """What the Durable Object of one configuration does; the configuration is JSON text."""

    async def serve_list(self, configuration: str, options: CompileOptions, max_fetches: int) -> ListAnswer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSingleFlight:
    """The caller's side; `object_named` returns the object of a cache key."""

    object_named: Callable[[str], CompilationCalls]
    compiler: ListCompiler
    log: Log

    async def serve(self, order: CompileOrder) -> ServedList:
        """Compile in the object; raise the error of a failed compilation as the object raised it.

        The fetches of a failed compilation are taken from the allowance too.
        """
        key = cache_key(order.configuration)
        text = order.configuration.model_dump_json(exclude_unset=True)
        try:
            answer = await self.object_named(key).serve_list(text, order, order.allowance.left)
        except SluiceError as error:
            # The object cannot be reached: compiling twice is better than failing.
            self.log.error("flight.alone", error, list=order.configuration.name)
            return await SingleFlight(self.compiler).serve(order)
        order.allowance.used += answer.fetches
        served = answer.unwrap()
        return served if served.file or order.form == "summary" else await self._read_cache(key, order.form)

    async def _read_cache(self, key: str, form: ListForm) -> ServedList:
        cached = await find_cached(self.compiler.cache, key, form)
        if cached is None:
            raise Unavailable("the list is too large for one call and not in the cache yet; try again in a minute")
        return cached


@dataclass(frozen=True, slots=True)
class CompilationServer:
    """The object's side."""

    single_flight: SingleFlight

    async def serve_list(self, configuration: str, options: CompileOptions, max_fetches: int) -> ListAnswer:
        allowance = FetchAllowance(max_fetches)
        try:
            parsed = parse_configuration(json.loads(configuration))
            order = CompileOrder(**asdict(options), configuration=parsed, allowance=allowance)
            served = await self.single_flight.serve(order)
        except SluiceError as error:
            return ListAnswer(fetches=allowance.used, error=encode_error(error))
        is_carried = served.file is None or len(served.file.content) <= MAX_CARRIED_BYTES
        return ListAnswer(fetches=allowance.used, served=served if is_carried else replace(served, file=None))
