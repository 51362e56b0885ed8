"""The composition of worker-api: bindings in, parts out."""

from functools import cached_property
from typing import Final

from sluice.platform.http.assets import serve_page
from sluice.platform.worker import read_variables
from sluice.services.news.http.api import EXPOSED_HEADERS, NewsApi
from sluice.services.news.settings import ApiSettings
from sluice.web import Cors, Route
from sluice.workers.news_parts import NewsWorker

PREFLIGHT_AGE_S: Final = 86_400


class NewsApiWorker(NewsWorker):
    """Serves articles; reads every key and writes none."""

    name = "worker-api"

    @cached_property
    def settings(self) -> ApiSettings:
        return ApiSettings.read(read_variables(self.env))

    @cached_property
    def api(self) -> NewsApi:
        return NewsApi(self.read_only_kv, self.clock, self.settings.public_url)

    @cached_property
    def cors(self) -> Cors:
        return Cors(origins=self.settings.cors_origins, expose_headers=EXPOSED_HEADERS, max_age_s=PREFLIGHT_AGE_S)

    @cached_property
    def routes(self) -> list[Route]:
        page = Route("GET", "/", serve_page(self.env, "news"))
        return [page, *self.api.routes(), *self.status.routes()]
