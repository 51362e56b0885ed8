"""One compilation from configuration to compressed list, recorded and compared with the previous version."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sluice.core.compiler.compile import FilterCompiler
from sluice.core.compiler.diagnostics import Diagnostic, Notify
from sluice.core.compiler.events import Emit, ignore_event
from sluice.core.compiler.sources.locations import format_location
from sluice.core.compiler.sources.source_errors import to_plain_error
from sluice.core.errors import SluiceError
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.transport import Transport
from sluice.core.ports import Clock, Draw, Log
from sluice.core.timestamps import iso
from sluice.services.compiler.cache.compilation_records import CompilationRecords
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import CompressedList
from sluice.services.compiler.cache.list_cache import ListCache, cache_key, private_key
from sluice.services.compiler.cache.version_diff import PreviousVersion, diff_versions
from sluice.services.compiler.limits.memory import (
    MAX_REPORTED_BYTES,
    MAX_SENT_BYTES,
    MAX_TEXT_BYTES,
    TextBudget,
    estimate_sent_bytes,
)
from sluice.services.compiler.limits.metered_download import LIMITS, CompilationMeter, open_download
from sluice.services.compiler.limits.turns import CompilationTurns

# Makes a compiler that reports its events to the first callback and its diagnostics to the second, within the meter.
MakeCompiler = Callable[[Emit, Notify, CompilationMeter], FilterCompiler]


def compiler_factory(transport: Transport, allowed: AllowedHosts, clock: Clock, draw: Draw) -> MakeCompiler:
    """Return a factory of compilers that download their sources over the transport, within the limits of this service."""

    def make_compiler(emit: Emit, notify: Notify, meter: CompilationMeter) -> FilterCompiler:
        download = open_download(transport, allowed, meter)
        return FilterCompiler(download=download, clock=clock, draw=draw, limits=LIMITS, emit=emit, notify=notify)

    return make_compiler


def ignore_diagnostic(_diagnostic: Diagnostic) -> None:
    """Discard a diagnostic, for callers that leave them to the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCompiler:
    """Compiles without reading the cache."""

    make_compiler: MakeCompiler
    turns: CompilationTurns
    cache: ListCache
    records: CompilationRecords
    clock: Clock
    log: Log

    async def compile(
        self, order: CompileOrder, *, emit: Emit = ignore_event, notify: Notify = ignore_diagnostic
    ) -> CompressedList:
        """Compile now. A private list is not compared with other versions."""
        configuration, content = order.configuration, order.content
        key = (
            private_key(configuration, order.caller_options.list_caller_options())
            if order.is_private
            else cache_key(configuration)
        )
        diagnostics: list[Diagnostic] = []

        def collect(diagnostic: Diagnostic) -> None:
            diagnostics.append(diagnostic)
            notify(diagnostic)

        began_s = self.clock.now()
        self._log_configuration(order)
        try:
            async with self.turns.take(self.clock, order.client) as turn:
                meter = CompilationMeter(order.allowance, turn, _open_budget(content, detailed=order.detailed))
                result = await self.make_compiler(emit, collect, meter).compile_with_metrics(
                    configuration, content=content, detailed=order.detailed
                )
                compiled = CompressedList.compress(
                    result,
                    cache_key=key,
                    name=configuration.name,
                    compiled_at=iso(self.clock.now()),
                    previous=None if order.is_private else await self._describe_previous(key, result.rules),
                    detailed=order.detailed,
                    benchmark=order.caller_options.benchmark,
                )
        except SluiceError as error:
            failure = to_plain_error(error)
            await self.records.record_failure(
                configuration, failure, key=key, trigger=order.trigger, began_s=began_s, diagnostics=diagnostics
            )
            raise failure from error
        await self.records.record_success(compiled.summary, order.trigger, diagnostics)
        return compiled

    def _log_configuration(self, order: CompileOrder) -> None:
        configuration = order.configuration
        self.log.event(
            "compilation.start",
            list=configuration.name,
            path=order.trigger,
            sources=[format_location(source.source) for source in configuration.sources],
            transformations=list(configuration.transformations),
        )

    async def store(self, compiled: CompressedList, ttl_s: int) -> None:
        await self.cache.put(compiled, ttl_s)

    async def try_store(self, compiled: CompressedList, ttl_s: int) -> SluiceError | None:
        """Store the list for a caller who has it already; return why it could not be stored."""
        try:
            await self.store(compiled, ttl_s)
        except SluiceError as error:
            self.log.event("cache.unwritable", entry=compiled.summary.cache_key, reason=str(error))
            return error
        return None

    async def _describe_previous(self, key: str, rules: list[str]) -> PreviousVersion | None:
        """Return the previous version and the difference to it; an unreadable one does not fail the new list."""
        try:
            previous = await self.cache.find_previous(key)
        except SluiceError as error:
            self.log.event("previous_version.unreadable", entry=key, reason=str(error))
            return None
        if previous is None:
            return None
        return {
            "ruleCount": previous.rule_count,
            "compiledAt": previous.compiled_at,
            "diff": diff_versions(previous.lines, rules),
        }


def _open_budget(content: Mapping[str, str], *, detailed: bool) -> TextBudget:
    """Return the memory of a compilation, less what the caller has sent."""
    sent = TextBudget(MAX_REPORTED_BYTES if detailed else MAX_SENT_BYTES)
    for text in content.values():
        sent.take(estimate_sent_bytes(text))
    return TextBudget(MAX_REPORTED_BYTES if detailed else MAX_TEXT_BYTES, sent.used)
