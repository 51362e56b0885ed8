"""worker-api: serves the enriched news."""

from typing import Any

from workers import WorkerEntrypoint

from sluice.platform.bindings import Binding
from sluice.platform.worker import handle_request
from sluice.workers.news_api import NewsApiWorker

__all__ = ["Default"]

NAME = "worker-api"
BINDINGS = (Binding("ASSETS", "service"), Binding("CRYPTO_NEWS_CACHE", "kv"))


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        worker = NewsApiWorker(self.env, self.ctx)
        return await handle_request(self, request, NAME, BINDINGS, lambda: worker.routes, cors=worker.cors)
