"""What a compilation returns."""

from typing import TYPE_CHECKING, NamedTuple

from sluice.core.compiler.diagnostics import Diagnostic
from sluice.core.compiler.report import CompilationReport
from sluice.core.compiler.stage_metrics import Metrics

if TYPE_CHECKING:
    from sluice.core.compiler.provenance import Provenance, RecordedLines


class CompilationResult(NamedTuple):
    """The lines of the finished list with its header, and how the compilation went."""

    rules: list[str]
    report: CompilationReport
    diagnostics: tuple[Diagnostic, ...]
    metrics: Metrics | None = None
    provenance: "Provenance | None" = None  # only of a detailed compilation
    recorded: "RecordedLines | None" = None  # only if it is asked for
