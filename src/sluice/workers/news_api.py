"""worker-api: its ports, made from the bindings."""

from typing import Any, Final

from sluice.platform.clock import SystemClock
from sluice.platform.http.assets import Assets
from sluice.platform.public_cache import open_public_cache
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.news.serve.service import NewsApiPorts, NewsApiService
from sluice.services.news.serve.stored_snapshot import SnapshotMemory
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.workers.news_connections import ARTICLES, SNAPSHOTS, connect_object

NAME: Final = "worker-api"
# Shared by all requests of the isolate.
_MEMORY: Final = SnapshotMemory()


def open_news_api(env: Any, ctx: Any) -> NewsApiService:
    return NewsApiService(
        NewsApiPorts(
            variables=read_variables(env),
            articles=open_kv(env, ARTICLES),
            snapshots=open_kv(env, SNAPSHOTS),
            memory=_MEMORY,
            state=connect_object(env, "NEWS_STATE", RemoteNewsState),
            cache=open_public_cache(ctx),
            files=Assets(env),
            clock=SystemClock(),
            log=open_log(NAME),
        )
    )
