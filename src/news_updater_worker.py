"""worker-news-updater: collects Bitcoin news."""

from typing import Any

from workers import WorkerEntrypoint

from news_objects import RunLock
from sluice.platform.bindings import Binding
from sluice.platform.worker import handle_request, read_variables
from sluice.services.news.http.updater import routes
from sluice.services.news.settings import UpdaterSettings
from sluice.workers.news import status_of, updater_of

__all__ = ["Default", "RunLock"]

NAME = "worker-news-updater"
BINDINGS = (Binding("ASSETS", "service"), Binding("CRYPTO_NEWS_CACHE", "kv"), Binding("RUN_LOCK", "durable-object"))


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        settings = UpdaterSettings.read(read_variables(self.env))
        table = routes(updater_of(self.env, settings, NAME), status_of(self.env), settings.admin_token)
        return await handle_request(self, request, NAME, BINDINGS, table)

    async def scheduled(self, _controller: Any, _env: Any, _ctx: Any) -> None:
        await updater_of(self.env, UpdaterSettings.read(read_variables(self.env)), NAME).run()
