"""The composition of worker-api: bindings in, parts out."""

from functools import cached_property
from typing import Final

from sluice.core.net.addresses import AllowedHosts
from sluice.platform.http.assets import serve_page
from sluice.platform.public_cache import open_public_cache
from sluice.platform.worker import open_kv, read_variables
from sluice.services.news.http.api import EXPOSED_HEADERS, NewsApi
from sluice.services.news.http.push import PushApi
from sluice.services.news.serve.refreshing import SnapshotRefresh
from sluice.services.news.serve.stored_snapshot import SnapshotMemory, StoredSnapshot
from sluice.services.news.settings import ApiSettings
from sluice.web import Cors, Route
from sluice.workers.news_connections import SNAPSHOT_BINDING
from sluice.workers.news_parts import NewsWorker

PREFLIGHT_AGE_S: Final = 86_400
# Shared by all requests of the isolate.
_MEMORY: Final = SnapshotMemory()


class NewsApiWorker(NewsWorker):
    """Serves articles; reads every key and writes none."""

    name = "worker-api"

    @cached_property
    def settings(self) -> ApiSettings:
        return ApiSettings.read(read_variables(self.env))

    @cached_property
    def api(self) -> NewsApi:
        return NewsApi(self.snapshots, self.clock, self.settings.public_url)

    @cached_property
    def snapshots(self) -> StoredSnapshot:
        return StoredSnapshot(open_kv(self.env, SNAPSHOT_BINDING), self.state, self.clock, _MEMORY)

    @cached_property
    def refresh(self) -> SnapshotRefresh:
        return SnapshotRefresh(self.state, open_public_cache(self.ctx), self.log, _MEMORY)

    @cached_property
    def push(self) -> PushApi:
        return PushApi(
            state=self.state,
            allowed=AllowedHosts.parse(self.settings.allow_private_hosts),
            admin_token=self.settings.admin_token,
            public_url=self.settings.public_url,
        )

    @cached_property
    def cors(self) -> Cors:
        return Cors(origins=self.settings.cors_origins, expose_headers=EXPOSED_HEADERS, max_age_s=PREFLIGHT_AGE_S)

    @cached_property
    def routes(self) -> list[Route]:
        page = Route("GET", "/", serve_page(self.env, "news"))
        return [page, *self.api.routes(), *self.push.routes(), *self.status.routes()]
