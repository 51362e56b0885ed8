"""What a zone's object is made of, put together once."""

from dataclasses import dataclass

from sluice.core.ports import Bucket, Clock, Database, Fetch, Kv, NewId, Sql
from sluice.services.preload.discovery.page_index import Pages
from sluice.services.preload.discovery.sitemap_crawl import Crawl
from sluice.services.preload.ports import Edge, Tell
from sluice.services.preload.queue.enqueue import Enqueueing
from sluice.services.preload.serving.copies import Copies
from sluice.services.preload.serving.purging import Purging
from sluice.services.preload.warming.origin import Origin
from sluice.services.preload.warming.warm_page import Warming
from sluice.services.preload.zone.state import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Everything that is not the object's own."""

    clock: Clock
    database: Database
    kv: Kv
    bucket: Bucket
    edge: Edge
    fetch: Fetch
    new_id: NewId
    tell: Tell


@dataclass(frozen=True, slots=True)
class Parts:
    sql: Sql
    outside: Outside

    @property
    def zone_id(self) -> str:
        return str(self.state.get("zone_id", default=""))

    @property
    def state(self) -> State:
        return State(self.sql)

    @property
    def pages(self) -> Pages:
        return Pages(self.outside.database, self.zone_id)

    @property
    def copies(self) -> Copies:
        return Copies(self.zone_id, self.outside.bucket, self.outside.edge, self.pages, self.outside.clock)

    @property
    def origin(self) -> Origin:
        return Origin(self.sql, self.outside.clock, self.outside.fetch)

    @property
    def warming(self) -> Warming:
        return Warming(self.zone_id, self.sql, self.outside.clock, self.origin, self.copies, self.outside.new_id)

    @property
    def crawl(self) -> Crawl:
        return Crawl(self.zone_id, self.sql, self.outside.clock, self.origin)

    @property
    def purging(self) -> Purging:
        return Purging(self.zone_id, self.sql, self.outside.clock, self.outside.database, self.copies)

    @property
    def enqueueing(self) -> Enqueueing:
        return Enqueueing(self.zone_id, self.sql)

    def now(self) -> float:
        return self.outside.clock.now()
