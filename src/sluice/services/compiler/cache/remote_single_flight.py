"""Single-flight across isolates: one Durable Object for each configuration runs the compilation."""

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, NotRequired, Protocol, TypedDict

from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.errors import SluiceError, Unavailable
from sluice.core.ports import Log
from sluice.services.compiler.cache.compilation_records import Trigger
from sluice.services.compiler.cache.list_cache import cache_key
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.cache.served_list import ListForm, ServedList, find_cached
from sluice.services.compiler.cache.single_flight import SingleFlight
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.remote_calls import RemoteReply, encode_reply, unwrap_reply

# A call between Workers carries 32 MiB; a larger list is read from the cache.
MAX_CARRIED_BYTES: Final = 30 * 1024 * 1024


class ListOptions(TypedDict):
    """How the list is wanted."""

    form: ListForm
    ttl_s: int
    trigger: Trigger
    max_fetches: int
    fresh: bool


class ListReply(RemoteReply):
    """`fetches` is how many the caller has caused; none if it shared a compilation."""

    fetches: NotRequired[int]


class CompilationStub(Protocol):
    """The Durable Object of one configuration, as its callers see it; the configuration is JSON text."""

    def serve_list(self, configuration: str, options: ListOptions, /) -> Awaitable[ListReply]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSingleFlight:
    """The caller's side; `object_named` returns the object of a cache key."""

    object_named: Callable[[str], CompilationStub]
    compiler: ListCompiler
    log: Log

    async def serve(
        self,
        configuration: Configuration,
        *,
        form: ListForm,
        ttl_s: int,
        trigger: Trigger,
        allowance: FetchAllowance,
        fresh: bool = False,
    ) -> ServedList:
        """Compiles in the object; raises the error of a failed compilation as the object raised it.

        The fetches of a failed compilation are taken from the allowance too.
        """
        key = cache_key(configuration)
        text = configuration.model_dump_json(exclude_unset=True)
        options = ListOptions(form=form, ttl_s=ttl_s, trigger=trigger, max_fetches=allowance.left, fresh=fresh)
        try:
            reply = await self.object_named(key).serve_list(text, options)
        except SluiceError as error:
            # The object cannot be reached: compiling twice is better than failing.
            self.log.error("flight.alone", error, list=configuration.name)
            return await SingleFlight(self.compiler).serve(
                configuration, form=form, ttl_s=ttl_s, trigger=trigger, allowance=allowance, fresh=fresh
            )
        allowance.used += reply.get("fetches", 0)
        served = ServedList.from_plain(unwrap_reply(reply))
        return served if served.file or form == "summary" else await self._read_cache(key, form)

    async def _read_cache(self, key: str, form: ListForm) -> ServedList:
        cached = await find_cached(self.compiler.cache, key, form)
        if cached is None:
            raise Unavailable("the list is too large for one call and not in the cache yet; try again in a minute")
        return cached


@dataclass(frozen=True, slots=True)
class CompilationServer:
    """The object's side."""

    single_flight: SingleFlight

    async def serve_list(self, configuration: str, options: ListOptions) -> ListReply:
        """Returns a failed compilation as a value, so that the caller can tell it from a failure of the object."""
        allowance = FetchAllowance(options["max_fetches"])
        reply = await encode_reply(self._serve(configuration, options, allowance))
        return ListReply(result=reply["result"], error=reply["error"], fetches=allowance.used)

    async def _serve(self, text: str, options: ListOptions, allowance: FetchAllowance) -> dict[str, Any]:
        configuration = parse_configuration(json.loads(text))
        served = await self.single_flight.serve(
            configuration,
            form=options["form"],
            ttl_s=options["ttl_s"],
            trigger=options["trigger"],
            allowance=allowance,
            fresh=options["fresh"],
        )
        values = served.as_plain()
        if len(values.get("content", b"")) > MAX_CARRIED_BYTES:
            del values["content"], values["about"]
        return values
