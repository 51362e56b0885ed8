"""One compilation from configuration to compressed list, recorded and compared with the previous version."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from sluice import __version__
from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.diagnostics import Diagnostic, Notify
from sluice.core.compiler.events import Emit, ignore_event
from sluice.core.compiler.limits import Limits
from sluice.core.compiler.sources.download import make_download
from sluice.core.compiler.sources.failures import to_plain_error
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Draw, Fetch, Log
from sluice.core.timestamps import iso
from sluice.services.compiler.cache.compilation_records import CompilationRecords, Trigger
from sluice.services.compiler.cache.compiled_list import CompiledList
from sluice.services.compiler.cache.list_cache import ListCache, cache_key, private_key
from sluice.services.compiler.cache.version_diff import diff_versions

NO_CONTENT: Final[Mapping[str, str]] = {}
SOURCE_TIMEOUT_S: Final = 30.0
USER_AGENT: Final = (("User-Agent", f"sluice/{__version__}"),)
LIMITS: Final = Limits()

# Makes a compiler that reports its events to the first callback and its diagnostics to the second.
MakeCompiler = Callable[[Emit, Notify], FilterCompiler]


def compiler_factory(fetch: Fetch, clock: Clock, draw: Draw) -> MakeCompiler:
    """Returns a factory of compilers that download their sources with `fetch`, within the limits of this service."""
    download = make_download(
        partial(fetch, headers=USER_AGENT), max_bytes=LIMITS.source_bytes, timeout_s=SOURCE_TIMEOUT_S
    )

    def make_compiler(emit: Emit, notify: Notify) -> FilterCompiler:
        return FilterCompiler(download=download, clock=clock, draw=draw, limits=LIMITS, emit=emit, notify=notify)

    return make_compiler


def ignore_diagnostic(_diagnostic: Diagnostic) -> None:
    """For callers that leave the diagnostics to the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCompiler:
    """Compiles without reading the cache."""

    make_compiler: MakeCompiler
    cache: ListCache
    records: CompilationRecords
    clock: Clock
    log: Log

    async def compile(
        self,
        configuration: Configuration,
        *,
        trigger: Trigger,
        content: Mapping[str, str] = NO_CONTENT,
        emit: Emit = ignore_event,
        notify: Notify = ignore_diagnostic,
        detailed: bool = False,
    ) -> CompiledList:
        """Compiles now. A list made from the caller's own content is private: it is not compared with other versions."""
        key = private_key(configuration, content) if content else cache_key(configuration)
        diagnostics: list[Diagnostic] = []

        def collect(diagnostic: Diagnostic) -> None:
            diagnostics.append(diagnostic)
            notify(diagnostic)

        began_s = self.clock.now()
        try:
            result = await self.make_compiler(emit, collect).compile_with_metrics(
                configuration, content=content, detailed=detailed
            )
        except SluiceError as error:
            failure = to_plain_error(error)
            await self.records.record_failure(
                configuration, failure, key=key, trigger=trigger, began_s=began_s, diagnostics=diagnostics
            )
            raise failure from error
        compiled = CompiledList.compress(
            result,
            cache_key=key,
            name=configuration.name,
            compiled_at=iso(self.clock.now()),
            previous=None if content else await self._describe_previous(key, result.rules),
            detailed=detailed,
        )
        await self.records.record_success(compiled.summary, trigger, diagnostics)
        return compiled

    async def store(self, compiled: CompiledList, ttl_s: int) -> None:
        await self.cache.put(compiled, ttl_s)

    async def _describe_previous(self, key: str, rules: list[str]) -> dict[str, Any] | None:
        """Returns the previous version and the difference to it; an unreadable one does not fail the new list."""
        try:
            previous = await self.cache.find_previous(key)
        except SluiceError as error:
            self.log.error("previous_version.unreadable", error, entry=key)
            return None
        if previous is None:
            return None
        return {
            "ruleCount": previous.rule_count,
            "compiledAt": previous.compiled_at,
            "diff": diff_versions(previous.lines, rules),
        }
