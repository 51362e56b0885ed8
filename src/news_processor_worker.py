"""worker-news-processor: adds sentiment and summary, one checkpointed step at a time."""

from typing import Any

from workers import WorkerEntrypoint

from news_objects import RunLock
from sluice.platform.bindings import Binding
from sluice.platform.worker import handle_request, read_variables
from sluice.services.news.http.processor import routes
from sluice.services.news.settings import ProcessorSettings
from sluice.workers.news import processor_of, status_of

__all__ = ["Default", "RunLock"]

NAME = "worker-news-processor"
# AI is no part of health: without it the embedded analyst serves.
BINDINGS = (Binding("ASSETS", "service"), Binding("CRYPTO_NEWS_CACHE", "kv"), Binding("RUN_LOCK", "durable-object"))


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        settings = ProcessorSettings.read(read_variables(self.env))
        table = routes(processor_of(self.env, settings, NAME), status_of(self.env), settings.admin_token)
        return await handle_request(self, request, NAME, BINDINGS, table)

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await processor_of(self.env, ProcessorSettings.read(read_variables(self.env)), NAME).run()
