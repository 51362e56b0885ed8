"""worker-news-processor: its ports, made from the bindings."""

from typing import Any, Final

from sluice.platform.ai import open_ai
from sluice.platform.clock import SystemClock
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.news.process.service import NewsProcessorPorts, NewsProcessorService
from sluice.services.news.run_lease.run_lock import RunLock
from sluice.services.news.state.remote_state import RemoteNewsState
from sluice.workers.news_connections import ARTICLES, connect_news_api, connect_object

NAME: Final = "worker-news-processor"
AI_TIMEOUT_S: Final = 45.0


def open_news_processor(env: Any, _ctx: Any) -> NewsProcessorService:
    return NewsProcessorService(
        NewsProcessorPorts(
            variables=read_variables(env),
            articles=open_kv(env, ARTICLES),
            state=connect_object(env, "NEWS_STATE", RemoteNewsState),
            lock=connect_object(env, "RUN_LOCK", RunLock),
            transport=send_request,
            new_id=generate_id,
            clock=SystemClock(),
            log=open_log(NAME),
            run_model=open_ai(env, timeout_s=AI_TIMEOUT_S),
            refresher=connect_news_api(env),
        )
    )
