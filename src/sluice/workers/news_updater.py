"""worker-news-updater: its ports, made from the bindings."""

from typing import Any, Final

from sluice.platform.clock import SystemClock
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.news.collect.service import NewsUpdaterService
from sluice.services.news.ports import RunPorts
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.workers.news_connections import ARTICLES, connect_object

NAME: Final = "worker-news-updater"


def open_news_updater(env: Any, _ctx: Any) -> NewsUpdaterService:
    return NewsUpdaterService(
        RunPorts(
            variables=read_variables(env),
            articles=open_kv(env, ARTICLES),
            state=connect_object(env, "NEWS_STATE", RemoteNewsState),
            lock=connect_object(env, "RUN_LOCK", RunLock),
            transport=send_request,
            new_id=generate_id,
            clock=SystemClock(),
            log=open_log(NAME),
        )
    )
