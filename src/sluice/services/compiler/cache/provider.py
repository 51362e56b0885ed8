"""Where every path asks for a list: the cache first, then the flight that all equal requests share."""

from collections.abc import Mapping
from dataclasses import dataclass

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import SluiceError
from sluice.core.ports import Log
from sluice.services.compiler.cache.cache import ResultCache, cache_key
from sluice.services.compiler.cache.compilations import Compilations
from sluice.services.compiler.cache.records import Count
from sluice.services.compiler.cache.results import FRESH, Compiled, File, Result
from sluice.services.compiler.cache.single_flight import Flights, Flown, Form, find


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    compilations: Compilations
    cache: ResultCache
    flights: Flights
    log: Log
    count: Count

    async def take(self, configuration: Configuration, *, form: Form, ttl_s: int, path: str) -> Flown:
        """The list from wherever it is to be had soonest."""
        flown = await self._found(configuration, form)
        if flown is None:
            flown = await self.flights(configuration, form=form, ttl_s=ttl_s, path=path)
        self.count("cache", {"cached": "hit", "fresh": "miss", "shared": "deduplicated"}[flown.origin])
        return flown

    async def make(
        self, configuration: Configuration, *, form: Form, content: Mapping[str, str], detailed: bool, path: str
    ) -> Flown:
        """The list compiled for this caller alone, and not kept."""
        result = await self.compilations.produce(configuration, path=path, content=content, detailed=detailed)
        return Flown(result.compiled, "fresh", _file(result, form))

    async def one(self, configuration: Configuration, *, content: Mapping[str, str], ttl_s: int, path: str) -> Compiled:
        """The list for somebody who comes for it later: whatever made it, it is in the cache now."""
        if content:
            return await self.renew(configuration, content=content, ttl_s=ttl_s, path=path)
        return (await self.take(configuration, form="summary", ttl_s=ttl_s, path=path)).compiled

    async def renew(
        self, configuration: Configuration, *, content: Mapping[str, str], ttl_s: int, path: str
    ) -> Compiled:
        """The list compiled anew, whatever the cache has: it may be about to end."""
        result = await self.compilations.produce(configuration, path=path, content=content)
        await self.compilations.keep(result, ttl_s)
        return result.compiled

    async def _found(self, configuration: Configuration, form: Form) -> Flown | None:
        """A cache that cannot be read costs time, not the list."""
        try:
            return await find(self.cache, cache_key(configuration), form)
        except SluiceError as error:
            self.log.error("cache.unreadable", error, list=configuration.name)
            return None


def _file(result: Result, form: Form) -> File:
    if form == "text":
        return File.of(result.compiled, result.text)
    return File.of(result.compiled, result.members, FRESH)
