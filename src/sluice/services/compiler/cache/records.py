"""What is remembered of every compilation: a line of the log, a row, a data point, a count."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.diagnostics import Diagnostic
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Database, Log
from sluice.services.compiler.cache.results import MAX_NAME_CHARS, Compiled
from sluice.services.compiler.ports import Analytics

RETENTION_S: Final = 30 * 24 * 3600
_MAX_ERROR_CHARS: Final = 500
_INSERT: Final = """
insert into compilation_metadata
    (config_name, at_ms, path, source_count, rule_count, duration_ms, cache_key, success, error)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

# Adds one to a counter, by its name and its one label.
Count = Callable[[str, str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    """A record that cannot be written is logged, and costs nobody the list."""

    database: Database
    analytics: Analytics
    clock: Clock
    log: Log
    count: Count

    async def done(self, compiled: Compiled, path: str, diagnostics: Sequence[Diagnostic]) -> None:
        self.log.event(
            "compilation.done",
            list=compiled.name,
            path=path,
            rules=compiled.rule_count,
            duration_ms=compiled.duration_ms,
            entry=compiled.cache_key,
            diagnostics=_told(diagnostics),
        )
        self.count("compilations", "success")
        self.analytics.write(
            "compilation_success",
            blobs=(path, compiled.name, compiled.cache_key),
            doubles=(compiled.duration_ms, compiled.rule_count, compiled.source_count, 1),
        )
        row = (compiled.source_count, compiled.rule_count, compiled.duration_ms, compiled.cache_key, 1, None)
        await self._insert(compiled.name, path, row)

    async def failed(
        self,
        configuration: Configuration,
        error: SluiceError,
        *,
        key: str,
        path: str,
        began_s: float,
        diagnostics: Sequence[Diagnostic],
    ) -> None:
        duration_ms = round((self.clock.now() - began_s) * 1000)
        message = str(error)[:_MAX_ERROR_CHARS]
        self.count("compilations", "error")
        self.analytics.write(
            "compilation_error", blobs=(path, configuration.name, message), doubles=(duration_ms, 0, 0, 0)
        )
        self.log.event(
            "compilation.failed",
            list=configuration.name,
            path=path,
            reason=message,
            duration_ms=duration_ms,
            diagnostics=_told(diagnostics),
        )
        row = (len(configuration.sources), 0, duration_ms, key, 0, message)
        await self._insert(configuration.name, path, row)

    async def tidy(self) -> None:
        """Forget what is older than 30 days."""
        before_ms = round((self.clock.now() - RETENTION_S) * 1000)
        await self.database.run("delete from compilation_metadata where at_ms < ?", before_ms)

    async def _insert(self, name: str, path: str, row: tuple[object, ...]) -> None:
        try:
            await self.database.run(_INSERT, name[:MAX_NAME_CHARS], round(self.clock.now() * 1000), path, *row)
        except SluiceError as error:
            self.log.error("record.lost", error, list=name)


def _told(diagnostics: Sequence[Diagnostic]) -> list[dict[str, Any]]:
    """How each operation ended, the failed ones first: a line of the log has room for fifty."""
    ended = [diagnostic for diagnostic in diagnostics if diagnostic.type != "operationStart"]
    ended.sort(key=lambda diagnostic: diagnostic.type != "operationError")
    return [{"operation": one.operation, "category": one.category, **one.details} for one in ended]
