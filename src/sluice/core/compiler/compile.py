"""Compiles a configuration into a finished list."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from sluice.core.compiler import events
from sluice.core.compiler.compilation_result import CompilationResult
from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.compiler.context import CompilationContext
from sluice.core.compiler.diagnostics import Notify, TracingContext
from sluice.core.compiler.dropped_lines import MAX_DROPPED, DropCollector
from sluice.core.compiler.header import HeaderGenerator, format_checksum_line
from sluice.core.compiler.limits import Budget, CompileLimits
from sluice.core.compiler.report import CompilationReport
from sluice.core.compiler.sources.backoff import retry_with_backoff
from sluice.core.compiler.sources.download import Download
from sluice.core.compiler.sources.line_buffer import LineBuffer
from sluice.core.compiler.sources.line_origins import LineOrigins
from sluice.core.compiler.sources.pattern_reader import PatternReader
from sluice.core.compiler.sources.source_compiler import DOWNLOAD, SourceCompiler
from sluice.core.compiler.sources.source_reader import SourceReader
from sluice.core.compiler.stage_metrics import Metrics
from sluice.core.compiler.transformation_pipeline import TransformationPipeline
from sluice.core.concurrency import Concurrency, event_loop_concurrency
from sluice.core.filters.pipeline import LineFilters
from sluice.core.timestamps import iso

if TYPE_CHECKING:
    from sluice.core.compiler.protection import Protection
    from sluice.core.compiler.provenance import Provenance, RecordedLines
    from sluice.core.filters.patterns.domain_patterns import DomainPattern
    from sluice.core.ports import Clock, Draw

_NO_CONTENT: Final[Mapping[str, str]] = {}
_DEFAULT_LIMITS: Final = CompileLimits()
_HEADERS: Final = HeaderGenerator()


class _CompiledSources(NamedTuple):
    """All sources in one text under their headers, the list's own filters, and the domains that are excluded anywhere."""

    text: LineBuffer
    filters: LineFilters
    excluded_domains: "Sequence[DomainPattern]"


class FilterCompiler:
    """Compiles lists; one instance serves any number of compilations, also at the same time.

    `draw` returns the jitter of retries; `constants` are the ones that are true in `!#if`; a detailed report lists
    `max_dropped` lines.
    """

    def __init__(
        self,
        *,
        download: Download,
        clock: "Clock",
        draw: "Draw",
        limits: CompileLimits = _DEFAULT_LIMITS,
        constants: frozenset[str] = frozenset(),
        emit: events.Emit = events.ignore_event,
        notify: Notify | None = None,
        headers: HeaderGenerator = _HEADERS,
        max_dropped: int | None = MAX_DROPPED,
        concurrency: Concurrency | None = None,
    ) -> None:
        self._download = download
        self._clock = clock
        self._draw = draw
        self._limits = limits
        self._constants = constants
        self._emit = emit
        self._notify = notify
        self._headers = headers
        self._max_dropped = max_dropped
        self._concurrency = concurrency or event_loop_concurrency()

    async def compile(
        self,
        configuration: object,
        *,
        content: Mapping[str, str] = _NO_CONTENT,
        detailed: bool = False,
        recorded: bool = False,
    ) -> CompilationResult:
        """Compile the list; `content` holds sources from the request, `detailed` lists each dropped line.

        If it is detailed, or `recorded` at hardly any cost, the result tells where rules come from.
        """
        result = await self.compile_with_metrics(configuration, content=content, detailed=detailed, recorded=recorded)
        return result._replace(metrics=None)

    async def compile_with_metrics(
        self,
        configuration: object,
        *,
        content: Mapping[str, str] = _NO_CONTENT,
        detailed: bool = False,
        recorded: bool = False,
    ) -> CompilationResult:
        """Compile the list and measure the duration of each stage."""
        tracing = TracingContext(self._clock, self._notify)
        context = CompilationContext(
            self._clock,
            self._emit,
            tracing,
            DropCollector(self._max_dropped) if detailed else None,
            concurrency=self._concurrency,
            with_records=recorded,
        )
        with tracing.operation("compileFilterList") as operation:
            checked = self._validate(configuration, tracing)
            sources = await self._compile_sources(checked, context, content)
            text = await _transform(checked, context, sources)
            protection = _protect(checked, context, sources, text)
            rules = self._add_header(checked, context, text)
            operation.output["ruleCount"] = len(rules)
        result = _build_result(checked, context, rules)
        report = result.report._replace(protection=protection)
        return result._replace(
            report=report,
            provenance=_build_provenance(context, text, rules),
            recorded=_build_records(checked, context, sources),
        )

    async def read_sources(self, configuration: object) -> list[tuple[str, list[str]]]:
        """Return each source with its rules after its own transformations, and before those of the list."""
        tracing = TracingContext(self._clock, self._notify)
        checked = self._validate(configuration, tracing)
        context = CompilationContext(self._clock, self._emit, tracing, concurrency=self._concurrency)
        texts = await self._read_each(checked, context)
        return [(source.label, text.lines) for source, text in zip(checked.sources, texts, strict=True)]

    async def _read_each(self, configuration: Configuration, context: CompilationContext) -> list[LineBuffer]:
        reader = self._build_reader(configuration, context, _NO_CONTENT)
        try:
            return await _compile_each(
                configuration, context, reader, PatternReader(reader, self._limits.pattern_reading)
            )
        finally:
            await reader.close()

    def _validate(self, configuration: object, tracing: TracingContext) -> Configuration:
        with tracing.operation("validateConfiguration", "validation") as operation:
            checked = configuration if isinstance(configuration, Configuration) else parse_configuration(configuration)
            operation.output["valid"] = True
            return checked

    async def _compile_sources(
        self, configuration: Configuration, context: CompilationContext, content: Mapping[str, str]
    ) -> _CompiledSources:
        reader = self._build_reader(configuration, context, content)
        try:
            patterns = PatternReader(reader, self._limits.pattern_reading)
            filters = await patterns.read_filters(configuration, configuration.never_blocked_names)
            texts = await _compile_each(configuration, context, reader, patterns)
        finally:
            await reader.close()
        return _CompiledSources(self._concatenate(configuration, texts), filters, tuple(patterns.excluded_domains))

    def _build_reader(
        self, configuration: Configuration, context: CompilationContext, content: Mapping[str, str]
    ) -> SourceReader:
        return SourceReader(
            retry_with_backoff(self._download, self._clock, self._draw),
            Budget(self._limits),
            content=content,
            constants=self._constants,
            repeated=configuration.repeated_locations,
            files=context.files,
            concurrency=self._concurrency,
        )

    def _concatenate(self, configuration: Configuration, texts: list[LineBuffer]) -> LineBuffer:
        """Join all sources under their headers; each source's own lines are freed as soon as they are copied."""
        lines: list[str] = []
        origins = LineOrigins()
        texts.reverse()
        for source in configuration.sources:
            header, text = self._headers.source_header(source), texts.pop()
            lines += header
            lines += text.take()
            if text.origins is not None:
                origins.add_generated(len(header))
                origins.extend(text.origins)
        return LineBuffer(lines, origins if len(origins) else None)

    def _add_header(self, configuration: Configuration, context: CompilationContext, text: LineBuffer) -> list[str]:
        """Insert the list's header in place, because a copy of a long list is costly."""
        context.emit(events.progress("finalize", 0, 1, "Writing the header"))
        with context.stage("header") as stage:
            rules = text.take()
            stage.lines_in = len(rules)
            rules[:0] = self._headers.list_header(configuration, iso(self._clock.now()), context.credits)
            rules.insert(0, format_checksum_line(rules))
            stage.lines_out = len(rules)
        context.emit(events.progress("finalize", 1, 1, "Done"))
        return rules


async def _compile_each(
    configuration: Configuration, context: CompilationContext, reader: SourceReader, patterns: PatternReader
) -> list[LineBuffer]:
    """Compile all sources in parallel; return them in the order of the configuration."""
    sources = configuration.sources
    compiler = SourceCompiler(context, reader, patterns, configuration)
    with context.tracing.operation("compileSources", sourceCount=len(sources)) as operation:
        context.emit(
            events.progress(
                "sources",
                0,
                len(sources),
                "Reading one source" if len(sources) == 1 else f"Reading {len(sources)} sources",
            )
        )
        texts = await reader.concurrency.run_all(
            compiler.compile(source, index) for index, source in enumerate(sources)
        )
        operation.output["totalRules"] = sum(len(text.lines) for text in texts)
        reader.check_has_rules(sources[0].source, sources[0].label)
        return texts


async def _transform(
    configuration: Configuration, context: CompilationContext, sources: _CompiledSources
) -> LineBuffer:
    """Apply the list's own filters and transformations; take the lines out of the sources' buffer."""
    names = configuration.transformations
    context.emit(events.progress("transformations", 0, len(names), f"Applying {len(names)} transformations"))
    with context.tracing.operation("applyTransformations", "transformation", names=names) as operation:
        pipeline = TransformationPipeline(context)
        if context.drops is not None and sources.text.origins is not None:
            context.drops.collect_conflicts(sources.text.lines, sources.text.origins)
        text = await pipeline.apply_all(sources.text, names, sources.filters)
        operation.output["ruleCount"] = len(text.lines)
    context.emit(events.progress("transformations", len(names), len(names), "Transformations applied"))
    return text


def _protect(
    configuration: Configuration, context: CompilationContext, sources: _CompiledSources, text: LineBuffer
) -> "Protection | None":
    """Add the exceptions that the configuration asks for; None if it has no domains and no report is wanted."""
    is_asked = sources.excluded_domains or configuration.never_block is not None
    if not is_asked and context.drops is None:
        return None
    from sluice.core.compiler.protection import protect_domains  # noqa: PLC0415 - few lists need it
    from sluice.core.filters.patterns.domain_patterns import DomainPatterns  # noqa: PLC0415

    excluded = sources.excluded_domains
    never_blocked = DomainPatterns.parse(configuration.never_blocked_names).patterns
    own_hosts = DomainPatterns.parse(configuration.source_hosts).patterns
    protection = protect_domains(
        text.lines, [*excluded, *own_hosts], excluded if configuration.protect else never_blocked
    )
    text.insert_at_end(protection.exceptions)
    return protection


def _build_provenance(context: CompilationContext, text: LineBuffer, rules: list[str]) -> "Provenance | None":
    if context.drops is None or text.origins is None:
        return None
    from sluice.core.compiler.provenance import Provenance  # noqa: PLC0415 - only detailed compilations have one

    return Provenance(context.drops.files, text.origins, len(rules) - len(text.origins), context.drops.lines)


def _build_records(
    configuration: Configuration, context: CompilationContext, sources: _CompiledSources
) -> "RecordedLines | None":
    if context.records is None or context.files is None:
        return None
    from sluice.core.compiler.provenance import RecordedLines  # noqa: PLC0415 - few ask for it

    records = [context.records[at] for at in sorted(context.records)]
    return RecordedLines(context.files, records, configuration.transformations, sources.filters)


def _build_result(configuration: Configuration, context: CompilationContext, rules: list[str]) -> CompilationResult:
    metrics = Metrics(
        total_duration_ms=context.elapsed_ms(),
        stages=tuple(context.stages),
        source_count=len(configuration.sources),
        rule_count=sum(stage.lines_in for stage in context.stages if stage.name == DOWNLOAD),
        output_rule_count=len(rules),
    )
    context.emit(
        events.compilation_complete(
            rules=len(rules),
            duration_ms=round(metrics.total_duration_ms),
            sources=metrics.source_count,
            transformations=len(context.transformations),
        )
    )
    report = CompilationReport.build(context.transformations, context.drops)
    return CompilationResult(
        rules=rules, report=report, diagnostics=tuple(context.tracing.diagnostics), metrics=metrics
    )
