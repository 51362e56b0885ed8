"""The parts of one zone's object, each built once for the life of the object."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property

from sluice.core.errors import Conflict, NotFound, SluiceError
from sluice.core.ports import Alarm, Bucket, Clock, Database, Fetch, Kv, Log, NewId, Sql
from sluice.core.preload.priority import MANUAL, Facts
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.observed_pages import ObservedPages
from sluice.services.preload.discovery.page_index import PageIndex
from sluice.services.preload.discovery.sitemap_crawl import SitemapCrawl
from sluice.services.preload.ports import Edge
from sluice.services.preload.purge_lists.log import PurgeLog
from sluice.services.preload.purge_lists.marks import PurgeMarks
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.dead_letters import DeadLetterQueue
from sluice.services.preload.queue.enqueue import Enqueuer
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.serving.copy_store import CopyStore
from sluice.services.preload.serving.purging import Purger
from sluice.services.preload.traffic.visits import Traffic
from sluice.services.preload.warming.agent_watch import AgentWatch
from sluice.services.preload.warming.drain import Drain
from sluice.services.preload.warming.grant_store import GrantStore
from sluice.services.preload.warming.origin import Origin
from sluice.services.preload.warming.origin_check import OriginCheck
from sluice.services.preload.warming.origin_cron import OriginCron
from sluice.services.preload.warming.settle_page import PageSettler
from sluice.services.preload.warming.warm_page import PageWarmer
from sluice.services.preload.zone.admission import Admission
from sluice.services.preload.zone.alerts import AlertWebhook, ZoneAlerts
from sluice.services.preload.zone.config_publisher import ConfigPublisher
from sluice.services.preload.zone.kv_mirror import KvMirror
from sluice.services.preload.zone.outbox import Outbox
from sluice.services.preload.zone.settings import PreloadSettings
from sluice.services.preload.zone.state import ZoneState


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """Everything outside of the object. `fetch` sends each request once, `fetch_webhook` may repeat one."""

    clock: Clock
    database: Database
    kv: Kv
    bucket: Bucket
    edge: Edge
    fetch: Fetch
    fetch_webhook: Fetch
    new_id: NewId
    log: Log


@dataclass(frozen=True, slots=True)
class ObjectStorage:
    """What the object itself stores."""

    sql: Sql
    alarm: Alarm
    state: ZoneState


class ZoneServices:
    def __init__(self, zone_id: str, storage: ObjectStorage, outside: Dependencies, settings: PreloadSettings) -> None:
        sql = storage.sql
        self.zone_id = zone_id
        self.sql = sql
        self.alarm = storage.alarm
        self.state = storage.state
        self.outside = outside
        self.settings = settings
        self.clock = outside.clock
        self.log = outside.log
        # When visitors last caused what may happen only now and then; a restart of the object forgets it.
        self.turns: dict[str, float] = {}
        self.batches = Batches(sql)
        self.queue = Queue(sql, self.batches)
        self.dead_letters = DeadLetterQueue(sql)
        self.outbox = Outbox(sql)
        self.known_pages = KnownPages(sql)
        self.admission = Admission(sql)
        self.observed = ObservedPages(sql)
        self.alerts = ZoneAlerts(zone_id, sql, self.outbox)
        self.grants = GrantStore(sql)
        self.traffic = Traffic(sql)
        self.pages = PageIndex(outside.database, zone_id)
        self.marks = PurgeMarks(sql)
        self.copies = CopyStore(zone_id, outside.bucket, outside.edge, self.pages, outside.clock, self.marks)
        self.enqueuer = Enqueuer(zone_id, self.batches, self.queue, self.outbox)

    @cached_property
    def origin(self) -> Origin:
        return Origin(self.grants, self.alerts, self.clock, self.outside.fetch, self.proxy_key, self._note_reply)

    def _note_reply(self, host: str, is_own: bool) -> None:
        self.settler.note_loop(host, self.now(), loops=is_own)

    @cached_property
    def origin_cron(self) -> OriginCron:
        return OriginCron(self.zone_id, self.origin, self.outbox, self.clock)

    @cached_property
    def origin_check(self) -> OriginCheck:
        return OriginCheck(self.origin, self.state, self.clock)

    @cached_property
    def agent_watch(self) -> AgentWatch:
        return AgentWatch(
            zone_id=self.zone_id,
            state=self.state,
            purger=self.purger,
            origin=self.origin,
            clock=self.clock,
            log=self.log,
            create_id=self.create_id,
            review_alerts=self.settler.review_alerts,
        )

    def list_keys(self) -> list[str]:
        """Return the keys that verify a site's signature, the current one first: the zone's own if it has any."""
        now, own = self.now(), self.state.get("signing_keys", default=[])
        keys = [str(each["key"]) for each in own if each["until"] is None or each["until"] > now]
        return keys or list(self.settings.signing_keys)

    def proxy_key(self) -> str:
        """Return the key that proves to the origin who asks; "" where there is none."""
        return next(iter(self.list_keys()), "")

    @cached_property
    def settler(self) -> PageSettler:
        return PageSettler(
            zone_id=self.zone_id,
            state=self.state,
            queue=self.queue,
            batches=self.batches,
            dead_letters=self.dead_letters,
            known_pages=self.known_pages,
            outbox=self.outbox,
            alerts=self.alerts,
            new_id=self.outside.new_id,
        )

    @cached_property
    def warmer(self) -> PageWarmer:
        return PageWarmer(self.clock, self.origin, self.copies, self.known_pages, self.settler)

    def build_drain(self) -> Drain:
        """Return a drain of the queue for one invocation."""
        return Drain(
            clock=self.clock,
            state=self.state,
            queue=self.queue,
            grants=self.grants,
            warmer=self.warmer,
            settler=self.settler,
            subrequests=self.settings.subrequests,
            is_interrupted=lambda: self.purger.is_waiting or self.state.wants_origin_check,
        )

    @cached_property
    def crawl(self) -> SitemapCrawl:
        return SitemapCrawl(
            zone_id=self.zone_id,
            sql=self.sql,
            clock=self.clock,
            origin=self.origin,
            batches=self.batches,
            enqueuer=self.enqueuer,
            known_pages=self.known_pages,
            outbox=self.outbox,
            load_facts=self.load_facts,
        )

    @cached_property
    def purger(self) -> Purger:
        log = PurgeLog(self.outside.database, self.zone_id)
        return Purger(self.zone_id, self.sql, log, self.copies, self.known_pages, self.queue, self.marks)

    @cached_property
    def publisher(self) -> ConfigPublisher:
        outside = self.outside
        return ConfigPublisher(self.zone_id, self.sql, self.state, outside.kv, outside.database, self.clock, self.log)

    @cached_property
    def mirror(self) -> KvMirror:
        return KvMirror(self.zone_id, self.state, self.queue, self.dead_letters, self.outside.kv, self.clock, self.log)

    @cached_property
    def webhook(self) -> AlertWebhook:
        return AlertWebhook(self.settings.webhook_url, self.outside.fetch_webhook)

    @property
    def config(self) -> ZoneConfig:
        """The zone's configuration; raises NotFound when the zone is not registered."""
        config = self.state.config
        if config is None:
            zone_id = self.zone_id
            raise NotFound(f"the zone {zone_id} is not registered; PUT /api/v1/zones/{zone_id}/config first")
        return config

    @property
    def enabled_config(self) -> ZoneConfig:
        """The configuration of a zone that may be preloaded; raises Conflict when preloading is switched off."""
        return self.require_enabled("")

    def require_enabled(self, trigger: str) -> ZoneConfig:
        """Return the configuration, if pages may be warmed for this reason: in a zone that is switched off by hand only."""
        if not self.config.preload_enabled and trigger != MANUAL:
            raise Conflict(
                "preload_enabled is false for this zone: set it to true, or ask for pages with trigger manual"
            )
        return self.config

    def require_registered(self) -> None:
        """Raise NotFound when the zone is not registered."""
        _ = self.config

    def now(self) -> float:
        return self.clock.now()

    def create_id(self, prefix: str) -> str:
        return f"{prefix}-{format_uuid4(self.outside.new_id())}"

    async def load_facts(self, urls: list[str]) -> dict[str, Facts]:
        """Return what is known about the pages; nothing while D1 fails, because warming in any order is better than not warming."""
        return await self._load_facts(lambda: self.pages.load_facts(urls))

    async def load_busiest(self, limit: int) -> dict[str, Facts]:
        """Return the pages with the most traffic; none while D1 fails."""
        return await self._load_facts(lambda: self.pages.load_busiest(limit))

    async def _load_facts(self, load: Callable[[], Awaitable[dict[str, Facts]]]) -> dict[str, Facts]:
        try:
            return await load()
        except SluiceError as error:
            self.log.error("facts.unavailable", error, zone=self.zone_id)
            return {}

    async def wake(self) -> None:
        """Set the alarm to now, so that the queue is drained soon."""
        now = self.now()
        alarm_at = await self.alarm.get()
        if alarm_at is None or alarm_at > now:
            await self.alarm.set(now)


def format_uuid4(digits: str) -> str:
    """Format 32 random hexadecimal digits as a UUID of version 4."""
    variant = "89ab"[int(digits[16], 16) % 4]
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"
