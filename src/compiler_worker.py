"""adblock-compiler: turns blocklist sources into one clean filter list."""

from typing import Any

from workers import WorkerEntrypoint

from compiler_objects import CompilationObject, JobSweeper, RateLimiter
from sluice.platform.bindings import Binding
from sluice.platform.queues import messages
from sluice.platform.worker import answer
from sluice.wiring.compiler import CompilerService

__all__ = ["CompilationObject", "Default", "JobSweeper", "RateLimiter"]

NAME = "adblock-compiler"
DEAD_LETTERS = "adblock-compiler-dlq"
BINDINGS = (
    Binding("ADBLOCK_COMPILER_QUEUE", "queue"),
    Binding("ADBLOCK_COMPILER_QUEUE_HIGH_PRIORITY", "queue"),
    Binding("ANALYTICS_ENGINE", "analytics"),
    Binding("COMPILATION_CACHE", "kv"),
    Binding("COMPILATIONS", "durable-object"),
    Binding("DB", "d1"),
    Binding("FILTER_STORAGE", "r2"),
    Binding("JOB_SWEEPER", "durable-object"),
    Binding("METRICS", "kv"),
    Binding("RATE_LIMIT", "kv"),
    Binding("RATE_LIMITER", "durable-object"),
)


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await answer(self, request, NAME, BINDINGS, CompilerService(self.env, self.ctx).routes)

    async def queue(self, batch: Any, _env: Any, _ctx: Any) -> None:
        service = CompilerService(self.env, self.ctx)
        if batch.queue == DEAD_LETTERS:
            await service.consumer.bury(messages(batch))
        else:
            await service.consumer.handle(messages(batch))
        await service.publish_stats()
