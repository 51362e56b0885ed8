"""worker-api, put together from its ports: serves articles; reads every key and writes none."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from sluice.core.net.addresses import AllowedHosts
from sluice.core.ports import Clock, KvReader, Log, PublicCache
from sluice.core.variables import Variables
from sluice.services.news.http.api import EXPOSED_HEADERS, NewsApi
from sluice.services.news.http.push import PushApi
from sluice.services.news.http.status import NewsStatus
from sluice.services.news.serve.snapshot_refresh import SnapshotRefresh
from sluice.services.news.serve.stored_snapshot import SnapshotMemory, StoredSnapshot
from sluice.services.news.settings import ApiSettings
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.web import Cors, Route
from sluice.web.admin import OperatorGate
from sluice.web.clients import ReadLimit
from sluice.web.common_routes import Files, serve_page

PREFLIGHT_AGE_S: Final = 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsApiPorts:
    """The ports of worker-api. `memory` is shared by all requests of the isolate."""

    variables: Variables
    articles: KvReader
    snapshots: KvReader
    memory: SnapshotMemory
    state: RemoteNewsState
    cache: PublicCache
    files: Files
    clock: Clock
    log: Log


class NewsApiService:
    def __init__(self, ports: NewsApiPorts) -> None:
        self._ports = ports

    @cached_property
    def settings(self) -> ApiSettings:
        return ApiSettings.read(self._ports.variables)

    @cached_property
    def read_limit(self) -> ReadLimit:
        return ReadLimit(self._ports.clock)

    @cached_property
    def api(self) -> NewsApi:
        ports = self._ports
        snapshots = StoredSnapshot(ports.snapshots, ports.state, ports.clock, ports.memory)
        return NewsApi(snapshots, ports.clock, self.read_limit, self.settings.public_url)

    @cached_property
    def push(self) -> PushApi:
        settings = self.settings
        return PushApi(
            state=self._ports.state,
            allowed=AllowedHosts.parse(settings.allow_private_hosts),
            operators=OperatorGate(settings.admin_token, self._ports.clock),
            public_url=settings.public_url,
        )

    @cached_property
    def status(self) -> NewsStatus:
        ports = self._ports
        return NewsStatus(ports.articles, ports.state, ports.clock, ports.log, self.read_limit)

    @cached_property
    def refresh(self) -> SnapshotRefresh:
        return SnapshotRefresh(self._ports.state, self._ports.cache, self._ports.log, self._ports.memory)

    @cached_property
    def cors(self) -> Cors:
        return Cors(origins=self.settings.cors_origins, expose_headers=EXPOSED_HEADERS, max_age_s=PREFLIGHT_AGE_S)

    @cached_property
    def routes(self) -> list[Route]:
        page = Route("GET", "/", serve_page(self._ports.files, "news", "The news in a browser"))
        return [page, *self.api.routes(), *self.push.routes(), *self.status.routes()]
