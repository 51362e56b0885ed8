"""What is recorded of every compilation: a log line, a database row, a data point and a count."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.diagnostics import Diagnostic
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Database, Log
from sluice.core.timestamps import elapsed_ms
from sluice.services.compiler.cache.compiled_list import MAX_NAME_CHARS, ListSummary
from sluice.services.compiler.cache.list_cache import is_private
from sluice.services.compiler.ports import Analytics

RETENTION_S: Final = 30 * 24 * 3600
_MAX_ERROR_CHARS: Final = 500
_INSERT: Final = """
insert into compilation_metadata
    (config_name, at_ms, path, source_count, rule_count, duration_ms, cache_key, success, error)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

# What asked for a compilation; the column and the log field are called `path`.
Trigger = Literal["sync", "batch", "stream", "socket", "queue", "workflow", "warming"]
# Adds one to a counter, by its name and its one label.
Count = Callable[[str, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilationRecords:
    """Records compilations. A record that cannot be written is logged, and does not fail the compilation."""

    database: Database
    analytics: Analytics
    clock: Clock
    log: Log
    count: Count

    async def record_success(self, summary: ListSummary, trigger: Trigger, diagnostics: Sequence[Diagnostic]) -> None:
        self.log.event(
            "compilation.done",
            list=summary.name,
            path=trigger,
            rules=summary.rule_count,
            duration_ms=summary.duration_ms,
            entry=summary.cache_key,
            diagnostics=_select_for_log(diagnostics),
        )
        self.count("compilations", "success")
        self.analytics.write(
            "compilation_success",
            blobs=(trigger, summary.name, summary.cache_key),
            doubles=(summary.duration_ms, summary.rule_count, summary.source_count, 1),
        )
        row = (summary.source_count, summary.rule_count, summary.duration_ms, summary.cache_key, 1, None)
        await self._insert(summary.name, trigger, row)

    async def record_failure(
        self,
        configuration: Configuration,
        error: SluiceError,
        *,
        key: str,
        trigger: Trigger,
        began_s: float,
        diagnostics: Sequence[Diagnostic],
    ) -> None:
        duration_ms = round(elapsed_ms(began_s, self.clock.now()))
        message = str(error)[:_MAX_ERROR_CHARS]
        # The text may quote what the caller has sent, and these records outlive the caller's job.
        kept = error.title if is_private(key) else message
        self.count("compilations", "error")
        self.analytics.write(
            "compilation_error", blobs=(trigger, configuration.name, kept), doubles=(duration_ms, 0, 0, 0)
        )
        self.log.error(
            "compilation.failed",
            error,
            list=configuration.name,
            path=trigger,
            reason=message,
            duration_ms=duration_ms,
            diagnostics=_select_for_log(diagnostics),
        )
        row = (len(configuration.sources), 0, duration_ms, key, 0, kept)
        await self._insert(configuration.name, trigger, row)

    async def delete_expired(self) -> None:
        """Delete records that are older than 30 days."""
        before_ms = round((self.clock.now() - RETENTION_S) * 1000)
        await self.database.run("delete from compilation_metadata where at_ms < ?", before_ms)

    async def _insert(self, name: str, trigger: Trigger, row: tuple[object, ...]) -> None:
        try:
            await self.database.run(_INSERT, name[:MAX_NAME_CHARS], round(self.clock.now() * 1000), trigger, *row)
        except SluiceError as error:
            self.log.error("record.lost", error, list=name)


def _select_for_log(diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """Return how each operation ended, failed ones first: a log line has room for fifty."""
    ended = [diagnostic for diagnostic in diagnostics if diagnostic.type != "operationStart"]
    ended.sort(key=lambda diagnostic: diagnostic.type != "operationError")
    return [{"operation": one.operation, "category": one.category, **one.details} for one in ended]
