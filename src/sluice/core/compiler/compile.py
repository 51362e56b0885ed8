"""From a configuration to a finished list."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sluice.core.compiler import events
from sluice.core.compiler.configuration import Configuration, parse_configuration
from sluice.core.compiler.context import Session
from sluice.core.compiler.diagnostics import Diagnostic, Notify, TracingContext
from sluice.core.compiler.header import HeaderGenerator, checksum_line
from sluice.core.compiler.limits import Budget, Limits
from sluice.core.compiler.metrics import Metrics
from sluice.core.compiler.report import Detective, Report
from sluice.core.compiler.sources.download import Download, retrying
from sluice.core.compiler.sources.line_origins import Origins
from sluice.core.compiler.sources.source_compiler import DOWNLOAD, PatternReader, SourceCompiler
from sluice.core.compiler.sources.source_reader import Library, Text, in_parallel
from sluice.core.compiler.transformation_pipeline import TransformationPipeline
from sluice.core.filters.patterns.patterns import Patterns
from sluice.core.ports import Clock, Draw
from sluice.core.timestamps import iso

_NO_CONTENT: Mapping[str, str] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilationResult:
    """The finished list, line by line and with its header, and how it came about."""

    rules: list[str]
    report: Report
    diagnostics: tuple[Diagnostic, ...]
    metrics: Metrics | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterCompiler:
    """Compiles lists; one instance serves any number of compilations, also at the same time.

    `draw` gives the jitter of retries; `constants` are the ones that hold in `!#if`.
    """

    download: Download
    clock: Clock
    draw: Draw
    limits: Limits = field(default_factory=Limits)
    constants: frozenset[str] = frozenset()
    emit: events.Emit = events.silent
    notify: Notify | None = None
    headers: HeaderGenerator = field(default_factory=HeaderGenerator)

    async def compile(
        self, configuration: object, *, content: Mapping[str, str] = _NO_CONTENT, detailed: bool = False
    ) -> CompilationResult:
        """The list; `content` holds sources sent along, `detailed` reports each dropped line."""
        result = await self.compile_with_metrics(configuration, content=content, detailed=detailed)
        return replace(result, metrics=None)

    async def compile_with_metrics(
        self, configuration: object, *, content: Mapping[str, str] = _NO_CONTENT, detailed: bool = False
    ) -> CompilationResult:
        """The same, with the duration of each stage."""
        tracing = TracingContext(self.clock, self.notify)
        session = Session(self.clock, self.emit, tracing, Detective() if detailed else None)
        with tracing.operation("compileFilterList") as operation:
            checked = self._checked(configuration, tracing)
            text, exclusions, inclusions = await self._read(checked, session, content)
            transformed = await _transformed(checked, session, text, exclusions, inclusions)
            del text  # the lines were handed over
            rules = self._finished(checked, session, transformed)
            operation.output["ruleCount"] = len(rules)
        return _result(checked, session, rules)

    def _checked(self, configuration: object, tracing: TracingContext) -> Configuration:
        with tracing.operation("validateConfiguration", "validation") as operation:
            checked = configuration if isinstance(configuration, Configuration) else parse_configuration(configuration)
            operation.output["valid"] = True
            return checked

    async def _read(
        self, configuration: Configuration, session: Session, content: Mapping[str, str]
    ) -> tuple[Text, Patterns | None, Patterns | None]:
        """All sources in one text under their headers, and the list's own exclusions and inclusions."""
        library = Library(
            retrying(self.download, self.clock, self.draw),
            Budget(self.limits),
            content=content,
            constants=self.constants,
            shared=configuration.repeated_locations,
            places=session.detective.places if session.detective else None,
        )
        try:
            patterns = PatternReader(library)
            exclusions, inclusions = await patterns.exclusions(configuration), await patterns.inclusions(configuration)
            texts = await _sources(configuration, session, library, patterns)
        finally:
            await library.close()
        return self._concatenated(configuration, texts), exclusions, inclusions

    def _concatenated(self, configuration: Configuration, texts: list[Text]) -> Text:
        """One text of all; each source's own is let go as soon as it is copied."""
        lines: list[str] = []
        origins = Origins()
        texts.reverse()
        for source in configuration.sources:
            header, text = self.headers.source_header(source), texts.pop()
            lines += header
            lines += text.take()
            if text.origins is not None:
                origins.add_ours(len(header))
                origins.extend(text.origins)
        return Text(lines, origins if len(origins) else None)

    def _finished(self, configuration: Configuration, session: Session, text: Text) -> list[str]:
        """The rules under the list's header, in place: a copy of a long list is costly."""
        session.emit(events.progress("finalize", 0, 1, "Writing the header"))
        with session.stage("header") as stage:
            rules = text.take()
            stage.lines_in = len(rules)
            rules[:0] = self.headers.list_header(configuration, iso(self.clock.now()))
            rules.insert(0, checksum_line(rules))
            stage.lines_out = len(rules)
        session.emit(events.progress("finalize", 1, 1, "Done"))
        return rules


async def _sources(
    configuration: Configuration, session: Session, library: Library, patterns: PatternReader
) -> list[Text]:
    """Every source compiled, in the order of the configuration."""
    sources = configuration.sources
    compiler = SourceCompiler(session, library, patterns, len(sources))
    with session.tracing.operation("compileSources", sourceCount=len(sources)) as operation:
        session.emit(events.progress("sources", 0, len(sources), f"Reading {len(sources)} sources"))
        texts = await in_parallel(compiler.compile(source, index) for index, source in enumerate(sources))
        operation.output["totalRules"] = sum(len(text.lines) for text in texts)
        return texts


async def _transformed(
    configuration: Configuration,
    session: Session,
    text: Text,
    exclusions: Patterns | None,
    inclusions: Patterns | None,
) -> Text:
    names = configuration.transformations
    session.emit(events.progress("transformations", 0, len(names), f"Applying {len(names)} transformations"))
    with session.tracing.operation("applyTransformations", "transformation", names=names) as operation:
        pipeline = TransformationPipeline(session)
        transformed = await pipeline.apply_all(text, names, exclusions=exclusions, inclusions=inclusions)
        operation.output["ruleCount"] = len(transformed.lines)
    session.emit(events.progress("transformations", len(names), len(names), "Transformations applied"))
    return transformed


def _result(configuration: Configuration, session: Session, rules: list[str]) -> CompilationResult:
    metrics = Metrics(
        total_duration_ms=session.elapsed_ms(),
        stages=tuple(session.stages),
        source_count=len(configuration.sources),
        rule_count=sum(stage.lines_in for stage in session.stages if stage.name == DOWNLOAD),
        output_rule_count=len(rules),
    )
    session.emit(
        events.compilation_complete(
            rules=len(rules),
            duration_ms=round(metrics.total_duration_ms),
            sources=metrics.source_count,
            transformations=len(session.steps),
        )
    )
    return CompilationResult(
        rules=rules, report=session.report(), diagnostics=tuple(session.tracing.diagnostics), metrics=metrics
    )
