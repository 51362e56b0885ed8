"""worker-news-updater: collects Bitcoin news."""

from typing import Any

from workers import WorkerEntrypoint

from sluice.platform.bindings import Binding
from sluice.platform.worker import answer

__all__ = ["Default"]

NAME = "worker-news-updater"
BINDINGS = (Binding("CRYPTO_NEWS_CACHE", "kv"),)


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        return await answer(self, request, NAME, BINDINGS)
