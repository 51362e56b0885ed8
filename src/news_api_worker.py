"""worker-api: serves the enriched news."""

from typing import Any

from workers import WorkerEntrypoint

from news_state import NewsState
from sluice.platform.bindings import Binding
from sluice.platform.worker import handle_request
from sluice.workers.news_api import open_news_api

__all__ = ["Default", "NewsState"]

NAME = "worker-api"
BINDINGS = (
    Binding("ASSETS", "service"),
    Binding("CRYPTO_NEWS_CACHE", "kv"),
    Binding("NEWS_SNAPSHOT", "kv"),
    Binding("NEWS_STATE", "durable-object"),
)


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await handle_request(self, request, NAME, BINDINGS, open_news_api)

    async def refresh(self) -> bool:
        """Refresh the snapshot, for the processor after a run: only this entry point can purge the cache before it."""
        return await open_news_api(self.env, self.ctx).refresh.run()
