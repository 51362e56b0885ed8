"""A burst of equal requests compiles once: found in the cache, shared with a compilation under way, or done now."""

import asyncio
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol

from sluice.core.compiler.configuration import Configuration
from sluice.services.compiler.cache.cache import ResultCache, cache_key
from sluice.services.compiler.cache.compilations import Compilations
from sluice.services.compiler.cache.results import FRESH, SHARED, Compiled, File, Result

Form = Literal["json", "text", "summary"]
Origin = Literal["cached", "fresh", "shared"]


@dataclass(frozen=True, slots=True)
class Flown:
    """A list in the form asked for, and how the caller came by it."""

    compiled: Compiled
    origin: Origin
    file: File | None = None

    def as_json(self) -> dict[str, Any]:
        """For the way out of an object; the content stays bytes."""
        told: dict[str, Any] = {"origin": self.origin, "compiled": self.compiled.as_json()}
        return told | ({"about": self.file.about(), "content": self.file.content} if self.file else {})

    @classmethod
    def from_json(cls, told: dict[str, Any]) -> "Flown":
        file = File.from_about(told["about"], bytes(told["content"])) if "about" in told else None
        return cls(Compiled(**told["compiled"]), told["origin"], file)


class Flights(Protocol):
    """Compiles each configuration once for all who ask at the same time, wherever they are."""

    async def __call__(self, configuration: Configuration, *, form: Form, ttl_s: int, path: str) -> Flown: ...


async def find(cache: ResultCache, key: str, form: Form) -> Flown | None:
    """What the cache has in this form."""
    file = await (cache.find_text(key) if form == "text" else cache.find(key))
    if file is None:
        return None
    compiled = replace(file.compiled, cached=True)
    return Flown(compiled, "cached", None if form == "summary" else file)


class SingleFlight:
    """Lives in one object per configuration: whoever comes while a compilation runs gets its result."""

    def __init__(self, compilations: Compilations) -> None:
        self._compilations = compilations
        self._running: asyncio.Task[Result] | None = None
        # One looks at a time, so that nobody acts on a look from before a compilation that has ended since.
        self._looking = asyncio.Lock()

    async def take(self, configuration: Configuration, *, form: Form, ttl_s: int, path: str) -> Flown:
        """Look again before compiling: the caller may have seen an old copy of the cache."""
        async with self._looking:
            origin: Origin = "shared"
            if self._running is None:
                if found := await find(self._compilations.cache, cache_key(configuration), form):
                    return found
                origin = "fresh"
                self._running = asyncio.ensure_future(self._compiled(configuration, ttl_s, path))
                self._running.add_done_callback(self._landed)
            running = self._running
        # Shielded: that one caller leaves must not cost the others the result.
        return _flown(await asyncio.shield(running), form, origin)

    async def _compiled(self, configuration: Configuration, ttl_s: int, path: str) -> Result:
        result = await self._compilations.produce(configuration, path=path)
        await self._compilations.keep(result, ttl_s)
        return result

    def _landed(self, task: asyncio.Task[Result]) -> None:
        self._running = None
        if not task.cancelled():
            task.exception()  # looked at, in case nobody is left to hear of it


def _flown(result: Result, form: Form, origin: Origin) -> Flown:
    head = FRESH if origin == "fresh" else SHARED
    match form:
        case "json":
            return Flown(result.compiled, origin, File.of(result.compiled, result.members, head))
        case "text":
            return Flown(result.compiled, origin, File.of(result.compiled, result.text))
        case "summary":
            return Flown(result.compiled, origin)
