"""adblock-compiler: turns blocklist sources into one clean filter list."""

from typing import Any

from workers import WorkerEntrypoint

import compiler_objects
import compiler_workflows
from compiler_objects import *
from compiler_workflows import *
from sluice.platform.bindings import Binding
from sluice.platform.worker import handle_request
from sluice.workers.compiler import open_compiler, purge_copies

# The runtime looks for every exported class here.
__all__ = ["Default"] + compiler_objects.__all__ + compiler_workflows.__all__  # noqa: RUF005 - the form that tools read

NAME = "adblock-compiler"
BINDINGS = (
    Binding("ADBLOCK_COMPILER_QUEUE", "queue"),
    Binding("ADBLOCK_COMPILER_QUEUE_HIGH_PRIORITY", "queue"),
    Binding("ANALYTICS_ENGINE", "analytics"),
    Binding("ASSETS", "service"),
    Binding("BATCH_COMPILATION_WORKFLOW", "workflow"),
    Binding("CACHE_WARMING_WORKFLOW", "workflow"),
    Binding("COMPILATION_CACHE", "kv"),
    Binding("COMPILATION_WORKFLOW", "workflow"),
    Binding("COMPILATIONS", "durable-object"),
    Binding("DB", "d1"),
    Binding("FILTER_STORAGE", "r2"),
    Binding("HEALTH_MONITORING_WORKFLOW", "workflow"),
    Binding("JOB_SWEEPER", "durable-object"),
    Binding("METRICS", "kv"),
    Binding("PUBLISHED_LIST_WORKFLOW", "workflow"),
    Binding("RATE_LIMIT", "kv"),
    Binding("RATE_LIMITER", "durable-object"),
    Binding("SELF", "service"),
)


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        def find_checks() -> Any:
            return open_compiler(self.env, self.ctx).variable_checks

        return await handle_request(self, request, NAME, BINDINGS, open_compiler, check_more=find_checks)

    async def purge_copies(self, tags: Any) -> bool:
        return await purge_copies(self.ctx, tags)

    async def queue(self, batch: Any, _env: Any, _ctx: Any) -> None:
        from sluice.platform.queues import read_messages  # noqa: PLC0415 - rare

        await open_compiler(self.env, self.ctx).queue_handler.handle_batch(batch.queue, read_messages(batch))

    async def scheduled(self, controller: Any, _env: Any, _ctx: Any) -> None:
        await open_compiler(self.env, self.ctx).schedule.run(controller.cron, round(controller.scheduledTime))
