"""worker-news-processor: adds sentiment and summary, one checkpointed stage at a time."""

from typing import Any

from workers import WorkerEntrypoint

from news_objects import RunLock
from sluice.platform.bindings import Binding
from sluice.platform.worker import handle_request
from sluice.workers.news_processor import open_news_processor

__all__ = ["Default", "RunLock"]

NAME = "worker-news-processor"
# AI is not part of health: without it the embedded analyst is used.
BINDINGS = (
    Binding("ASSETS", "service"),
    Binding("CRYPTO_NEWS_CACHE", "kv"),
    Binding("NEWS_API", "service"),
    Binding("NEWS_STATE", "durable-object"),
    Binding("RUN_LOCK", "durable-object"),
)


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await handle_request(self, request, NAME, BINDINGS, open_news_processor)

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await open_news_processor(self.env, self.ctx).processor.run()
