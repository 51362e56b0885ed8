"""Puts the parts of the state object together over its database."""

from dataclasses import dataclass

from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.net.transport import Transport
from sluice.core.ports import Alarm, Clock, Fetch, KvReader, KvWriter, Log, NewId, Sql
from sluice.core.variables import Variables
from sluice.services.news.push.hub import Hub
from sluice.services.news.push.push import PushPlanner
from sluice.services.news.push.subscription_rows import SubscriptionRows
from sluice.services.news.push.webhooks import Webhooks
from sluice.services.news.settings import ApiSettings
from sluice.services.news.state.ai_usage import AiUsage
from sluice.services.news.state.listed_rows import ListedRows
from sluice.services.news.state.outbox import DeliveryKind, Outbox
from sluice.services.news.state.published_rows import PublishedRows
from sluice.services.news.state.second_looks import SecondLooks
from sluice.services.news.state.sender import AlertSender, Sender
from sluice.services.news.state.snapshot_writer import SnapshotBuilder
from sluice.services.news.state.source_rows import SourceRows
from sluice.services.news.state.state_object import NewsState


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsStatePorts:
    """The ports of the state object. `articles` is the namespace of the pipeline, which the object only reads; `snapshots` is its own."""

    variables: Variables
    sql: Sql
    alarm: Alarm
    articles: KvReader
    snapshots: KvWriter
    transport: Transport
    new_id: NewId
    clock: Clock
    log: Log


def build_news_state(ports: NewsStatePorts) -> NewsState:
    settings = ApiSettings.read(ports.variables)
    # Subscribers are strangers.
    fetch = Fetcher(ports.transport, AllowedHosts.parse(settings.allow_private_hosts)).fetch
    rows, outbox = PublishedRows(ports.sql), Outbox(ports.sql)
    snapshots = SnapshotBuilder(rows)
    push = _build_push(ports, fetch, snapshots, outbox)
    alerts = AlertSender(fetch, settings.alert_webhook_url, ports.log)
    send_by_kind = {
        DeliveryKind.ALERT: alerts.send,
        DeliveryKind.WEBHOOK: push.webhooks.send,
        DeliveryKind.FEED: push.hub.send_feed,
        DeliveryKind.VERIFICATION: push.hub.confirm,
    }
    return NewsState(
        rows=rows,
        snapshots=snapshots,
        second_looks=SecondLooks(ports.sql),
        ai=AiUsage(ports.sql),
        sources=SourceRows(ports.sql),
        listed=ListedRows(ports.sql),
        sender=Sender(outbox=outbox, send_by_kind=send_by_kind, clock=ports.clock, log=ports.log),
        push=push,
        articles_kv=ports.articles,
        snapshot_kv=ports.snapshots,
        alarm=ports.alarm,
        clock=ports.clock,
        log=ports.log,
    )


def _build_push(ports: NewsStatePorts, fetch: Fetch, snapshots: SnapshotBuilder, outbox: Outbox) -> PushPlanner:
    subscriptions = SubscriptionRows(ports.sql)
    hub = Hub(
        rows=subscriptions,
        outbox=outbox,
        build_snapshot=snapshots.build,
        fetch=fetch,
        clock=ports.clock,
        log=ports.log,
        new_id=ports.new_id,
    )
    webhooks = Webhooks(rows=subscriptions, outbox=outbox, fetch=fetch, clock=ports.clock, new_id=ports.new_id)
    return PushPlanner(hub, webhooks)
