"""worker-api: serves the enriched news."""

from typing import Any

from workers import WorkerEntrypoint

from sluice.platform.bindings import Binding
from sluice.platform.clock import SystemClock
from sluice.platform.http.assets import serve_page
from sluice.platform.worker import handle_request, read_variables
from sluice.services.news.http.api import EXPOSED, Api
from sluice.services.news.settings import ApiSettings
from sluice.web import Cors, Route
from sluice.web.openapi.common_docs import describe_page
from sluice.workers.news import reader_of, status_of

__all__ = ["Default"]

NAME = "worker-api"
BINDINGS = (Binding("ASSETS", "service"), Binding("CRYPTO_NEWS_CACHE", "kv"))


class Default(WorkerEntrypoint):
    async def fetch(self, request: Any) -> Any:
        settings = ApiSettings.read(read_variables(self.env))
        api = Api(reader_of(self.env), SystemClock(), settings.public_url)
        table = [
            Route("GET", "/", serve_page(self.env, "news"), doc=describe_page("The news in a browser")),
            *api.routes(),
            *status_of(self.env).routes(),
        ]
        cors = Cors(origins=settings.cors_origins, expose_headers=EXPOSED, max_age_s=86_400)
        return await handle_request(self, request, NAME, BINDINGS, table, cors=cors)
