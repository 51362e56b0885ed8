"""Crawling sitemaps: one file at a time, under the same limits as pages, and a crash loses no file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urljoin

from sluice.core.errors import Invalid, PeerError, Refused
from sluice.core.ports import Clock, FetchResponse, Row, Sql
from sluice.core.preload.cache_keys import canonical_url
from sluice.core.preload.priority import Facts
from sluice.core.preload.retry_backoff import delay_s, judge
from sluice.core.preload.sitemap import MAX_BYTES, SitemapLink, Sitemap, SitemapReader, parse_robots_sitemaps
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.enqueue import Enqueueing, Order
from sluice.services.preload.warming.grant_store import Limits
from sluice.services.preload.warming.origin import AGENT, Origin
from sluice.services.preload.zone.outbox import Outbox

MAX_FILES: Final = 500  # sitemaps of one crawl: at most 25 million pages, more than any queue holds
MAX_DEPTH: Final = 3
MAX_ROBOTS_BYTES: Final = 512 * 1024
# Tried in this order when the configured sitemap is not there.
FALLBACKS: Final = ("", "/robots.txt", "/wp-sitemap.xml", "/sitemap_index.xml")


@dataclass(frozen=True, slots=True)
class Crawl:
    zone_id: str
    sql: Sql
    clock: Clock
    origin: Origin

    def begin(self, batch_id: str, url: str, trigger: str, now: float) -> None:
        batches = Batches(self.sql)
        batches.open(batch_id, trigger, now)
        self._add(batch_id, url, depth=0, trigger=trigger)
        batches.crawling(batch_id, now, over=False)

    def next_due_at(self) -> float | None:
        """When the next file may be read; None when there is none."""
        found = self.sql.value("SELECT min(due_at) FROM crawl WHERE state = 'pending'")
        return None if found is None else float(found)

    async def step(self, zone: ZoneConfig, facts: Mapping[str, Facts]) -> bool:
        """Read one file; False when none is due."""
        found = self.sql.rows(
            "SELECT * FROM crawl WHERE state = 'pending' AND due_at <= ? ORDER BY depth, id LIMIT 1", self.clock.now()
        )
        if not found:
            return False
        row = found[0]
        flight = await self.origin.granted(Limits.of(zone))
        try:
            await self._read(row, zone, flight, facts)
        except Refused as error:
            self._failed(row, str(error))
        except PeerError as error:
            self._put_off(row, zone, str(error))
        if not self.sql.value("SELECT 1 FROM crawl WHERE batch_id = ? AND state = 'pending'", row["batch_id"]):
            Batches(self.sql).crawling(str(row["batch_id"]), self.clock.now(), over=True)
            self.sql.execute("DELETE FROM crawl WHERE batch_id = ?", row["batch_id"])
        return True

    async def _read(self, row: Row, zone: ZoneConfig, flight: int, facts: Mapping[str, Facts]) -> None:
        if str(row["url"]).endswith("/robots.txt"):
            answer = await self._asked(row, zone, flight, None)
            named = parse_robots_sitemaps(answer.body.decode("utf-8", "replace")) if answer.status == 200 else []
            self._take(row, zone, Sitemap(sitemaps=[SitemapLink(url, None) for url in named]), facts)
            if not named:
                self._fall_back(row, zone)
            return
        reader = SitemapReader()
        answer = await self._asked(row, zone, flight, reader)
        verdict = judge(answer.status, answer.headers, self.clock.now())
        match verdict.kind:
            case "store":
                self._take(row, zone, reader.finish(), facts)
            case "redirect":
                target = SitemapLink(urljoin(str(row["url"]), verdict.reason), None)
                self._take(row, zone, Sitemap(sitemaps=[target]), facts, deeper=False)
            case "retry":
                self._put_off(row, zone, verdict.reason)
            case _:
                self._missing(row, zone, verdict.reason)

    async def _asked(self, row: Row, zone: ZoneConfig, flight: int, reader: SitemapReader | None) -> FetchResponse:
        mistakes: list[Refused] = []

        def sink(chunk: bytes) -> None:
            # The body of an error page is no sitemap: its status is looked at first, below.
            if reader and not mistakes:
                try:
                    reader.feed(chunk)
                except Refused as error:
                    mistakes.append(error)

        answer = await self.origin.ask(
            str(row["url"]),
            zone,
            flight=flight,
            headers=(("user-agent", AGENT),),
            max_bytes=MAX_BYTES if reader else MAX_ROBOTS_BYTES,
            sink=sink if reader else None,
        )
        if mistakes and answer.status == 200:
            raise mistakes[0]
        return answer

    def _take(
        self, row: Row, zone: ZoneConfig, found: Sitemap, facts: Mapping[str, Facts], *, deeper: bool = True
    ) -> None:
        """Enqueue the pages of a file and note its sitemaps, all in one step."""
        batch_id, trigger, depth = str(row["batch_id"]), str(row["trigger_name"]), int(row["depth"] or 0)
        for located in found.sitemaps:
            if depth < MAX_DEPTH and zone.covers_url(located.url):
                self._add(batch_id, located.url, depth=depth + deeper, trigger=trigger)
            else:
                self._log(located.url, "sitemap_skipped", "it is on another host or too deep")
        self._enqueue(found.pages, batch_id, trigger, zone, facts)
        self._done(row)

    def _enqueue(
        self, pages: list[SitemapLink], batch_id: str, trigger: str, zone: ZoneConfig, facts: Mapping[str, Facts]
    ) -> None:
        if not pages:
            return
        now, known = self.clock.now(), KnownPages(self.sql)
        urls: dict[str, None] = {}
        skipped = 0
        for located in pages:
            try:
                url = canonical_url(located.url, zone)
            except Invalid:
                skipped += 1
                continue
            if known.is_current(url, "", located.modified_at, now):
                skipped += 1
            else:
                urls[url] = None
        order = Order(batch_id=batch_id, trigger=trigger, urls=list(urls))
        Enqueueing(self.zone_id, self.sql).place(order, zone, facts, now)
        Batches(self.sql).settled_at_once(batch_id, "skipped", skipped)

    def _add(self, batch_id: str, url: str, *, depth: int, trigger: str, fallback: int = 0) -> None:
        """Note a file to be read; each one once."""
        if int(self.sql.value("SELECT count(*) FROM crawl WHERE batch_id = ?", batch_id) or 0) < MAX_FILES:
            self.sql.execute(
                "INSERT OR IGNORE INTO crawl (batch_id, url, depth, trigger_name, fallback) VALUES (?, ?, ?, ?, ?)",
                *(batch_id, url, depth, trigger, fallback),
            )

    def _missing(self, row: Row, zone: ZoneConfig, reason: str) -> None:
        if row["depth"] == 0:
            self._fall_back(row, zone)
        self._failed(row, reason)

    def _fall_back(self, row: Row, zone: ZoneConfig) -> None:
        at = int(row["fallback"] or 0) + 1
        if at < len(FALLBACKS):
            url = zone.site_url + FALLBACKS[at]
            self._add(str(row["batch_id"]), url, depth=0, trigger=str(row["trigger_name"]), fallback=at)

    def _put_off(self, row: Row, zone: ZoneConfig, reason: str) -> None:
        attempt = int(row["attempt"] or 0)
        if attempt >= zone.preload_retry_max:
            self._failed(row, reason)
            return
        due_at = self.clock.now() + delay_s(attempt)
        self.sql.execute("UPDATE crawl SET attempt = attempt + 1, due_at = ? WHERE id = ?", due_at, row["id"])

    def _failed(self, row: Row, reason: str) -> None:
        self._log(str(row["url"]), "sitemap_failed", reason)
        self._done(row)

    def _done(self, row: Row) -> None:
        """Kept until the crawl is over, so that no file is read twice."""
        self.sql.execute("UPDATE crawl SET state = 'done' WHERE id = ?", row["id"])

    def _log(self, url: str, status: str, reason: str) -> None:
        Outbox(self.sql).log(self.zone_id, url[:2048], status, now=self.clock.now(), detail=reason[:500])
