"""adblock-compiler: turns blocklist sources into one clean filter list."""

from typing import Any

from workers import WorkerEntrypoint

from sluice.platform.bindings import Binding
from sluice.platform.worker import answer

__all__ = ["Default"]

NAME = "adblock-compiler"
BINDINGS = (
    Binding("ADBLOCK_COMPILER_QUEUE", "queue"),
    Binding("ADBLOCK_COMPILER_QUEUE_HIGH_PRIORITY", "queue"),
    Binding("ANALYTICS_ENGINE", "analytics"),
    Binding("COMPILATION_CACHE", "kv"),
    Binding("DB", "d1"),
    Binding("FILTER_STORAGE", "r2"),
    Binding("METRICS", "kv"),
    Binding("RATE_LIMIT", "kv"),
)


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await answer(self, request, NAME, BINDINGS)
