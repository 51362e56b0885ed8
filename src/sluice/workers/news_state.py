"""The state object of the news service, which worker-api owns: its ports, made from the bindings."""

from typing import Any

from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm, Sql
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.news.state.assembly import NewsStatePorts, build_news_state
from sluice.services.news.state.state_object import NewsState
from sluice.workers.news_connections import ARTICLES, SNAPSHOTS


def open_news_state(ctx: Any, env: Any) -> NewsState:
    """Return the state of a Durable Object."""
    return build_news_state(
        NewsStatePorts(
            variables=read_variables(env),
            sql=Sql(ctx.storage),
            alarm=Alarm(ctx.storage),
            articles=open_kv(env, ARTICLES),
            snapshots=open_kv(env, SNAPSHOTS),
            transport=send_request,
            new_id=generate_id,
            clock=SystemClock(),
            log=open_log("worker-api"),
        )
    )
