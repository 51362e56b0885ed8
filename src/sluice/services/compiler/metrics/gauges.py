"""Gauges for Prometheus: how the service is now, as far as everybody may know."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Database
from sluice.services.compiler.cache.list_cache import cache_key

_DEPTH: Final = "select count(*) from compile_jobs where state in ('queued', 'running')"
# Sources of one name are one series: healthy if all are.
_SOURCES: Final = "select name, min(status = 'healthy') as healthy from source_health group by name"
_LAST_COMPILED: Final = "select max(at_ms) from compilation_metadata where cache_key = ? and success"


@dataclass(frozen=True, slots=True)
class Gauge:
    """A value with the name and value of its one label, if it has one."""

    name: str
    help: str
    value: float
    label: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gauges:
    """Computes the gauges. `configurations` returns the operator's own lists: the names of other lists are their callers' business."""

    database: Database
    clock: Clock
    configurations: Callable[[], Sequence[Configuration]]

    async def load(self) -> list[Gauge]:
        depth = await self.database.value(_DEPTH)
        sources = await self.database.all(_SOURCES)
        return [
            *[_age_gauge(name, age_s) for name, age_s in (await self._load_ages()).items()],
            Gauge("sluice_queue_depth", "Jobs that wait or run.", float(depth or 0)),
            *(_source_gauge(row["name"], healthy=bool(row["healthy"])) for row in sources),
        ]

    async def _load_ages(self) -> dict[str, float]:
        """Return the seconds since each list was compiled; of several with one name, the oldest counts."""
        ages: dict[str, float] = {}
        for configuration in self._own_lists():
            at_ms = await self.database.value(_LAST_COMPILED, cache_key(configuration))
            if at_ms is not None:
                age_s = max(0.0, round(self.clock.now() - at_ms / 1000, 3))
                ages[configuration.name] = max(age_s, ages.get(configuration.name, 0.0))
        return ages

    def _own_lists(self) -> Sequence[Configuration]:
        """Return the names of the operator's lists; none if the variable is malformed, which /health shows."""
        try:
            return self.configurations()
        except SluiceError:
            return ()


def _age_gauge(name: str, age_s: float) -> Gauge:
    return Gauge("sluice_list_age_seconds", "Age of the operator's lists.", age_s, ("list", name))


def _source_gauge(name: str, *, healthy: bool) -> Gauge:
    return Gauge("sluice_source_healthy", "Whether a source was healthy when last checked.", healthy, ("source", name))
