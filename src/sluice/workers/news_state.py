"""The state object of the news service, which worker-api owns."""

from typing import Any

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.clock import SystemClock
from sluice.platform.durable_objects import Alarm, Sql
from sluice.platform.http.transport import send_request
from sluice.platform.identity import generate_id
from sluice.platform.worker import open_kv, open_log, read_variables
from sluice.services.news.settings import ApiSettings
from sluice.services.news.state.assembly import Surroundings, build_news_state
from sluice.services.news.state.state_object import NewsState
from sluice.services.news.storage.keys import API_WRITES
from sluice.services.news.storage.write_domain import WriteDomain
from sluice.workers.news_connections import SNAPSHOT_BINDING


def open_news_state(ctx: Any, env: Any) -> NewsState:
    """The state of a Durable Object."""
    settings = ApiSettings.read(read_variables(env))
    return build_news_state(
        Surroundings(
            sql=Sql(ctx.storage),
            alarm=Alarm(ctx.storage),
            articles_kv=WriteDomain(open_kv(env, "CRYPTO_NEWS_CACHE"), API_WRITES),
            snapshot_kv=open_kv(env, SNAPSHOT_BINDING),
            fetch=Fetcher(send_request, AllowedHosts.parse(settings.allow_private_hosts)).fetch,
            clock=SystemClock(),
            log=open_log("worker-api"),
            new_id=generate_id,
            alert_webhook_url=settings.alert_webhook_url,
        )
    )
