"""Puts the parts of the state object together over its database."""

from dataclasses import dataclass

from sluice.core.ports import Alarm, Clock, Fetch, KvReader, KvWriter, Log, NewId, Sql
from sluice.services.news.push.hub import Hub
from sluice.services.news.push.push import Push
from sluice.services.news.push.subscription_rows import SubscriptionRows
from sluice.services.news.push.webhooks import Webhooks
from sluice.services.news.state.ai_usage import AiUsage
from sluice.services.news.state.listed_rows import ListedRows
from sluice.services.news.state.outbox import Kind, Outbox
from sluice.services.news.state.published_rows import PublishedRows
from sluice.services.news.state.second_looks import SecondLooks
from sluice.services.news.state.sender import AlertSender, Sender
from sluice.services.news.state.snapshot_writer import SnapshotBuilder
from sluice.services.news.state.source_rows import SourceRows
from sluice.services.news.state.state_object import NewsState


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the object needs from outside. `fetch` calls addresses of strangers, so it must be guarded."""

    sql: Sql
    alarm: Alarm
    articles_kv: KvReader
    snapshot_kv: KvWriter
    fetch: Fetch
    clock: Clock
    log: Log
    new_id: NewId
    alert_webhook_url: str


def build_news_state(outside: Surroundings) -> NewsState:
    rows, outbox = PublishedRows(outside.sql), Outbox(outside.sql)
    snapshots = SnapshotBuilder(rows)
    push = _build_push(outside, snapshots, outbox)
    alerts = AlertSender(outside.fetch, outside.alert_webhook_url, outside.log)
    send_by_kind = {
        Kind.ALERT: alerts.send,
        Kind.WEBHOOK: push.webhooks.send,
        Kind.FEED: push.hub.send_feed,
        Kind.VERIFICATION: push.hub.confirm,
    }
    return NewsState(
        rows=rows,
        snapshots=snapshots,
        second_looks=SecondLooks(outside.sql),
        ai=AiUsage(outside.sql),
        sources=SourceRows(outside.sql),
        listed=ListedRows(outside.sql),
        sender=Sender(outbox=outbox, send_by_kind=send_by_kind, clock=outside.clock, log=outside.log),
        push=push,
        articles_kv=outside.articles_kv,
        snapshot_kv=outside.snapshot_kv,
        alarm=outside.alarm,
        clock=outside.clock,
        log=outside.log,
    )


def _build_push(outside: Surroundings, snapshots: SnapshotBuilder, outbox: Outbox) -> Push:
    subscriptions = SubscriptionRows(outside.sql)
    hub = Hub(
        rows=subscriptions,
        outbox=outbox,
        build_snapshot=snapshots.build,
        fetch=outside.fetch,
        clock=outside.clock,
        log=outside.log,
        new_id=outside.new_id,
    )
    webhooks = Webhooks(
        rows=subscriptions, outbox=outbox, fetch=outside.fetch, clock=outside.clock, new_id=outside.new_id
    )
    return Push(hub, webhooks)
