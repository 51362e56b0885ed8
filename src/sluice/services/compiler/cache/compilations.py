"""One compilation from configuration to packed result, recorded and compared with the version before."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.diagnostics import Diagnostic, Notify
from sluice.core.compiler.events import Emit, ignore_event
from sluice.core.compiler.sources.failures import to_plain_error
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Log
from sluice.core.timestamps import iso
from sluice.services.compiler.cache.cache import ResultCache, cache_key, private_key
from sluice.services.compiler.cache.records import Records
from sluice.services.compiler.cache.results import Result
from sluice.services.compiler.cache.versions import compared

NO_CONTENT: Final[Mapping[str, str]] = {}

# Makes a compiler that tells its events to the first callback, and its diagnostics to the second.
MakeCompiler = Callable[[Emit, Notify], FilterCompiler]


def unheard(_diagnostic: Diagnostic) -> None:
    """For callers who leave the diagnostics to the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compilations:
    """Compiles without looking into the cache; `path` in every record says who asked."""

    make_compiler: MakeCompiler
    cache: ResultCache
    records: Records
    clock: Clock
    log: Log

    async def produce(
        self,
        configuration: Configuration,
        *,
        path: str,
        content: Mapping[str, str] = NO_CONTENT,
        emit: Emit = ignore_event,
        notify: Notify = unheard,
        detailed: bool = False,
    ) -> Result:
        """Compile now; what content sent along gives is the sender's own, so it is not compared with other versions."""
        key = private_key(configuration, content) if content else cache_key(configuration)
        heard: list[Diagnostic] = []

        def hear(diagnostic: Diagnostic) -> None:
            heard.append(diagnostic)
            notify(diagnostic)

        began_s = self.clock.now()
        try:
            compiled = await self.make_compiler(emit, hear).compile_with_metrics(
                configuration, content=content, detailed=detailed
            )
        except SluiceError as error:
            failure = to_plain_error(error)
            await self.records.failed(configuration, failure, key=key, path=path, began_s=began_s, diagnostics=heard)
            raise failure from error
        result = Result.of(
            compiled,
            cache_key=key,
            name=configuration.name,
            compiled_at=iso(self.clock.now()),
            previous=None if content else await self._previous(key, compiled.rules),
            detailed=detailed,
        )
        await self.records.done(result.compiled, path, heard)
        return result

    async def keep(self, result: Result, ttl_s: int) -> None:
        await self.cache.keep(result, ttl_s)

    async def _previous(self, key: str, rules: list[str]) -> dict[str, Any] | None:
        """A broken old version must not cost the new one."""
        try:
            previous = await self.cache.previous(key)
        except SluiceError as error:
            self.log.error("previous_version.unreadable", error, entry=key)
            return None
        if previous is None:
            return None
        told = {"ruleCount": previous.rule_count, "compiledAt": previous.compiled_at}
        return told | {"diff": compared(previous.lines, rules)}
