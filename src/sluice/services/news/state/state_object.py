"""The state object: keeps the published articles and everything else of the news service that must be exact."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_json
from sluice.core.news.ai.ai_failures import AiFault
from sluice.core.news.article import Article
from sluice.core.news.feeds.same_article import Fingerprint
from sluice.core.news.legacy import digest_legacy, parse_legacy
from sluice.core.ports import Alarm, Clock, KvReader, KvWriter, Log
from sluice.services.news.push.push import PushPlanner
from sluice.services.news.state.ai_usage import AiUsage
from sluice.services.news.state.listed_rows import ListedRows
from sluice.services.news.state.outbox import DeliveryKind
from sluice.services.news.state.published_rows import PublishedRows, to_published
from sluice.services.news.state.remote_state import (
    CreatedWebhook,
    HubRequest,
    ListedWebhook,
    PastUpdates,
    StateReport,
    UpdateReport,
)
from sluice.services.news.state.second_looks import SecondLooks
from sluice.services.news.state.sender import Sender
from sluice.services.news.state.snapshot_writer import SnapshotBuilder, write_snapshot
from sluice.services.news.state.source_rows import Alert, SourceRows
from sluice.services.news.storage.article_index import ArticleIndex, CorruptIndex, read_articles
from sluice.services.news.storage.index_recovery import recover_ids
from sluice.services.news.storage.keys import LEGACY

# A run that publishes also refreshes. The alarm does it for a run that crashed in between.
REFRESH_DELAY_MS: Final = 10_000
# KV documents a delay of a minute or more.
SETTLED_MS: Final = 600_000
# Served while the index cannot be read and nothing was served before.
MAX_RECOVERED: Final = 500
# After an alarm that failed.
RETRY_DELAY_MS: Final = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NewsState:
    """The state object. `articles_kv` is the namespace of the pipeline, which this object only reads; `snapshot_kv` is its own."""

    rows: PublishedRows
    snapshots: SnapshotBuilder
    ai: AiUsage
    second_looks: SecondLooks
    sources: SourceRows
    listed: ListedRows
    sender: Sender
    push: PushPlanner
    articles_kv: KvReader
    snapshot_kv: KvWriter
    alarm: Alarm
    clock: Clock
    log: Log
    # Calls interleave where they await; an older snapshot must not overwrite a newer one.
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def publish(self, article: Article, index: ArticleIndex) -> None:
        known = {*self.rows.list_ids(), article.id}
        missing = [each for each in index.ids if each not in known]
        found = await read_articles(self.articles_kv, missing) if missing else {}
        self._store({**found, article.id: article}, index, self._now_ms())
        if self.rows.is_dirty:
            await self._wake(self._now_ms() + REFRESH_DELAY_MS)

    async def refresh(self) -> bool:
        async with self.writing:
            if not self.rows.is_dirty:
                return False
            await self._write()
        return True

    async def reconcile(self) -> bool:
        """Read the articles of the pipeline, in case a change never arrived here; return whether anything changed."""
        index = await ArticleIndex.read(self.articles_kv)
        if isinstance(index, CorruptIndex):
            await self._serve_without_index(index)
        elif not index.ids:
            await self._adopt_legacy()
        elif index.version == 0 or index.version >= self.rows.index_version:
            # What was published lately is newer than KV may show.
            recent = self.rows.list_changed_around(self._now_ms(), SETTLED_MS)
            found = await read_articles(self.articles_kv, [each for each in index.ids if each not in recent])
            # What is found at the beginning has not changed just now.
            changed_at_ms = self._now_ms() if self.rows.list_ids() else index.version
            self._store(found, index, changed_at_ms)
        return await self.refresh()

    async def read_snapshot(self) -> str:
        if not self.rows.list_ids():
            await self.reconcile()
        return self.snapshots.build().encode()

    async def find_legacy(self) -> str:
        return digest_legacy(await self.articles_kv.get_text(LEGACY))

    async def explain_ai_refusal(self, daily_neurons: int) -> str:
        return self.ai.explain_refusal(self._now_ms(), daily_neurons)

    async def record_ai_answer(self, neurons: float) -> None:
        self.ai.record_answer(neurons, self._now_ms())

    async def record_ai_failure(self, fault: str, reason: str) -> bool:
        return self.ai.record_failure(AiFault(fault), reason, self._now_ms())

    async def claim_second_look(self, daily_neurons: int) -> str:
        if self.ai.explain_refusal(self._now_ms(), daily_neurons):
            return ""
        return self.second_looks.claim()

    async def give_back_second_look(self, article_id: str) -> None:
        self.second_looks.give_back(article_id)

    async def begin_update(self) -> PastUpdates:
        feeds = self.sources.begin_update(self._now_ms())
        published = [Fingerprint.of(article).as_json() for article in self.rows.read_all()]
        return PastUpdates(feeds, [*self.listed.read(), *published], await self.find_legacy())

    async def finish_update(self, report: UpdateReport) -> None:
        self._add_alerts(self.sources.finish_update(report, self._now_ms()))
        self.listed.store(report)
        await self.reconcile()
        await self._plan_alarm()

    async def accept_hub_request(self, request: HubRequest) -> None:
        self.push.hub.accept(request)
        await self._plan_alarm()

    async def add_webhook(self, url: str) -> CreatedWebhook:
        return self.push.webhooks.create(url)

    async def list_webhooks(self) -> list[ListedWebhook]:
        hooks = self.push.hub.rows.list_webhooks()
        return [{"id": each["id"], "url": each["url"], "created_ms": each["created_ms"]} for each in hooks]

    async def remove_webhook(self, webhook_id: str) -> bool:
        return self.push.hub.rows.remove_webhook(webhook_id)

    async def describe(self) -> StateReport:
        now_ms = self._now_ms()
        breaker, outbox = self.ai.read_breaker(), self.sender.outbox
        return {
            "updater": self.sources.describe(),
            "ai": {
                "isOpen": breaker.is_open(now_ms),
                "reason": breaker.reason or None,
                "today": self.ai.read_day(now_ms),
            },
            "waitingDeliveries": outbox.count(),
            "secondLooks": self.second_looks.count(),
        }

    async def handle_alarm(self) -> None:
        """Do what is due, and set the next alarm even after a failure."""
        self._clamp_waits()
        try:
            self._add_alerts(self.sources.find_overdue(self._now_ms()))
            await self.refresh()
            await self.sender.run()
        except SluiceError as error:
            self.log.error("alarm.failed", error)
            await self._wake(self._now_ms() + RETRY_DELAY_MS)
        await self._plan_alarm()

    def _add_alerts(self, alerts: Sequence[Alert]) -> None:
        for alert in alerts:
            self.sender.outbox.add(DeliveryKind.ALERT, alert["type"], encode_json(alert), self._now_ms())

    def _clamp_waits(self) -> None:
        self.sender.outbox.clamp_waits(self._now_ms())
        self.sources.clamp_waits(self._now_ms())

    async def _plan_alarm(self) -> None:
        self._clamp_waits()
        times = (self.sender.outbox.next_due_ms(), self.sources.next_check_ms())
        due = [time for time in times if time is not None]
        if due:
            await self._wake(min(due))

    async def _wake(self, at_ms: int) -> None:
        """Set the alarm unless it rings sooner."""
        set_at = await self.alarm.get()
        if set_at is None or at_ms < set_at * 1000:
            await self.alarm.set(max(at_ms, self._now_ms()) / 1000)

    async def _serve_without_index(self, error: CorruptIndex) -> None:
        """Keep what is served; if nothing is, find what is stored."""
        self.log.error("index.corrupt", error, alert="the processor will rebuild the index of articles")
        if not self.rows.list_ids():
            ids = await recover_ids(self.articles_kv, error.readable, MAX_RECOVERED)
            self._store(await read_articles(self.articles_kv, ids), ArticleIndex(ids), self._now_ms())

    async def _adopt_legacy(self) -> None:
        legacy = parse_legacy(await self.articles_kv.get_text(LEGACY))
        articles = {each.id: to_published(each) for each in legacy.articles}
        self.rows.replace(articles, list(articles), 0)
        self.rows.describe(index_version=0, is_legacy=True, changed_at_ms=legacy.changed_at_ms)

    def _store(self, articles: Mapping[str, Article], index: ArticleIndex, changed_at_ms: int) -> None:
        data = {article_id: to_published(article) for article_id, article in articles.items()}
        self.rows.replace(data, index.ids, changed_at_ms)
        self.second_looks.update(articles)
        self.second_looks.keep(index.ids)
        self.rows.describe(index_version=index.version, is_legacy=False)

    async def _write(self) -> None:
        changes = self.rows.changes
        snapshot = self.snapshots.build()
        await write_snapshot(self.snapshot_kv, snapshot, snapshot.encode())
        self.push.announce(snapshot)
        self.rows.mark_written(changes)
        await self._plan_alarm()
        self.log.event("snapshot.written", articles=len(snapshot.articles), stories=len(snapshot.stories))

    def _now_ms(self) -> int:
        return int(self.clock.now() * 1000)
