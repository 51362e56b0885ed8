"""Crawling sitemaps: one file at a time, under the same limits as pages; a crash loses no file."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urljoin, urlsplit

from sluice.core.errors import Invalid, PeerError, Refused
from sluice.core.ports import Clock, FetchResponse, Row, Sql
from sluice.core.preload.caching.cache_keys import canonical_url
from sluice.core.preload.members import AnyTrigger
from sluice.core.preload.priority import Facts
from sluice.core.preload.rate_limits import OriginLimits
from sluice.core.preload.retry_backoff import MAX_DELAY_S, backoff_s
from sluice.core.preload.sitemap import MAX_BYTES, Sitemap, SitemapLink, SitemapReader, parse_robots_sitemaps
from sluice.core.preload.warming_outcomes import (
    Failed,
    Gone,
    Redirect,
    Retry,
    Skipped,
    Storable,
    Unchanged,
    classify_response,
)
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.enqueue import Enqueuer, PageOrder
from sluice.services.preload.warming.origin import AGENT, Origin
from sluice.services.preload.zone.outbox import Outbox

MAX_FILES: Final = 500  # sitemaps of one crawl: at most 25 million pages, more than any queue holds
MAX_DEPTH: Final = 3
SLICE: Final = 500  # addresses taken in before other calls get their turn
FACTS_AT_ONCE: Final = 5000  # addresses whose facts are read from D1 by one statement
MAX_FOREIGN_HOSTS: Final = 5  # of one file, that are named in the log
CRASHES: Final = "the Worker crashed on it too often"
MAX_ROBOTS_BYTES: Final = 512 * 1024
# Tried in this order when the configured sitemap does not exist.
FALLBACKS: Final = ("", "/robots.txt", "/wp-sitemap.xml", "/sitemap_index.xml")


@dataclass(frozen=True, slots=True)
class SitemapFile:
    """A row of the `crawl` table: one file to be read for a batch."""

    id: int
    batch_id: str
    url: str
    depth: int
    trigger: AnyTrigger
    attempt: int
    fallback: int

    @classmethod
    def from_row(cls, row: Row) -> "SitemapFile":
        values: dict[str, Any] = {**row, "trigger": row["trigger_name"]}
        return cls(**{name: values[name] for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class SitemapSlice:
    """Some addresses of a file: how many, and those that are pages of the zone with the time of their last change."""

    count: int
    pages: list[tuple[str, float | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class SitemapCrawl:
    zone_id: str
    sql: Sql
    clock: Clock
    origin: Origin
    batches: Batches
    enqueuer: Enqueuer
    known_pages: KnownPages
    outbox: Outbox
    # What is known about pages; it may be asked for many at once.
    load_facts: Callable[[list[str]], Awaitable[dict[str, Facts]]]

    def begin(self, batch_id: str, url: str, trigger: str, now: float) -> None:
        """Start a crawl; its pages belong to the batch."""
        self.batches.open(batch_id, trigger, now)
        self._add_file(batch_id, url, depth=0, trigger=trigger)
        self.batches.begin_crawl(batch_id)

    def next_due_at(self) -> float | None:
        """Return when the next file may be read; None when there is none."""
        due_at = self.sql.value("SELECT min(due_at) FROM crawl WHERE state = 'pending'")
        return None if due_at is None else float(due_at)

    def clamp_waits(self, now: float) -> None:
        """Shorten what could not wait so long by its own rules: the clock was set back."""
        latest = now + MAX_DELAY_S
        self.sql.run("UPDATE crawl SET due_at = ? WHERE state = 'pending' AND due_at > ?", latest, latest)

    async def read_next_file(self, config: ZoneConfig) -> bool:
        """Read one file; return False when none is due."""
        rows = self.sql.rows(
            "SELECT * FROM crawl WHERE state = 'pending' AND due_at <= ? ORDER BY depth, id LIMIT 1", self.clock.now()
        )
        if not rows:
            return False
        file = SitemapFile.from_row(rows[0])
        if file.attempt > config.preload_retry_max:
            self._fail(file, CRASHES)
        else:
            await self._attempt(file, config)
        if not self.sql.value("SELECT 1 FROM crawl WHERE batch_id = ? AND state = 'pending'", file.batch_id):
            self.batches.end_crawl(file.batch_id, self.clock.now())
            self.sql.run("DELETE FROM crawl WHERE batch_id = ?", file.batch_id)
        return True

    async def _attempt(self, file: SitemapFile, config: ZoneConfig) -> None:
        """Count the attempt before it begins, so that a file that takes the Worker down is not read for ever."""
        grant_id = await self.origin.wait_for_grant(OriginLimits.from_config(config))
        due_at = self.clock.now() + backoff_s(file.attempt)
        self.sql.run("UPDATE crawl SET attempt = attempt + 1, due_at = ? WHERE id = ?", due_at, file.id)
        try:
            await self._read_file(file, config, grant_id)
        except Refused as error:
            self._fail(file, str(error))
        except PeerError as error:
            self._delay(file, config, str(error))

    async def _read_file(self, file: SitemapFile, config: ZoneConfig, grant_id: int) -> None:
        if file.url.endswith("/robots.txt"):
            await self._read_robots(file, config, grant_id)
            return
        reader = SitemapReader()
        response = await self._fetch_file(file, config, grant_id, reader)
        match classify_response(response.status, response.headers, self.clock.now()):
            case Storable():
                await self._accept(file, config, reader.finish())
            case Redirect(to=location):
                target = SitemapLink(urljoin(file.url, location), None)
                await self._accept(file, config, Sitemap(sitemaps=[target]), is_deeper=False)
            case Retry(reason=reason):
                self._delay(file, config, reason)
            case Gone(reason=reason) | Failed(reason=reason) | Skipped(reason=reason):
                self._try_fallback(file, config, reason)
            case Unchanged():
                self._try_fallback(file, config, "status 304 to a request without conditions")

    async def _read_robots(self, file: SitemapFile, config: ZoneConfig, grant_id: int) -> None:
        response = await self._fetch_file(file, config, grant_id, None)
        text = response.body.decode("utf-8", "replace")
        urls = parse_robots_sitemaps(text) if response.status == 200 else []
        await self._accept(file, config, Sitemap(sitemaps=[SitemapLink(url, None) for url in urls]))
        if not urls:
            self._add_fallback(file, config)

    async def _fetch_file(
        self, file: SitemapFile, config: ZoneConfig, grant_id: int, reader: SitemapReader | None
    ) -> FetchResponse:
        mistakes: list[Refused] = []

        def feed_reader(chunk: bytes) -> None:
            # The body of an error page is no sitemap: a mistake in it counts only if the status is 200.
            if reader and not mistakes:
                try:
                    reader.feed(chunk)
                except Refused as error:
                    mistakes.append(error)

        response = await self.origin.fetch_granted(
            file.url,
            config,
            grant_id=grant_id,
            headers=(("user-agent", AGENT),),
            max_bytes=MAX_BYTES if reader else MAX_ROBOTS_BYTES,
            sink=feed_reader if reader else None,
        )
        if mistakes and response.status == 200:
            raise mistakes[0]
        return response

    async def _accept(
        self,
        file: SitemapFile,
        config: ZoneConfig,
        sitemap: Sitemap,
        *,
        is_deeper: bool = True,
    ) -> None:
        """Enqueue the pages of a file, and note its sitemaps."""
        for link in sitemap.sitemaps:
            if file.depth < MAX_DEPTH and config.covers_url(link.url):
                self._add_file(file.batch_id, link.url, depth=file.depth + is_deeper, trigger=file.trigger)
            else:
                self._log(link.url, "sitemap_skipped", "it is on another host or too deep")
        await self._enqueue_slices(file, config, sitemap.pages)
        self._finish(file)

    async def _enqueue_slices(self, file: SitemapFile, config: ZoneConfig, links: list[SitemapLink]) -> None:
        """Enqueue the pages of a file slice by slice, with other calls in between; after a crash, go on with the next slice."""
        taken = int(self.sql.value("SELECT taken FROM crawl_progress WHERE crawl_id = ?", file.id) or 0)
        if not taken:
            await self._report_foreign(file, config, links)
        while taken < len(links):
            slices = await self._cut_slices(links[taken : taken + FACTS_AT_ONCE], config)
            facts = await self.load_facts([url for each in slices for url, _ in each.pages])
            for each in slices:
                taken += each.count
                self.sql.transaction(partial(self._enqueue_slice, file, config, each, taken, facts))
                await self.clock.sleep(0)

    async def _cut_slices(self, links: list[SitemapLink], config: ZoneConfig) -> list[SitemapSlice]:
        slices = []
        for at in range(0, len(links), SLICE):
            part = links[at : at + SLICE]
            slices.append(SitemapSlice(len(part), list(_canonicalize(part, config))))
            await self.clock.sleep(0)
        return slices

    async def _report_foreign(self, file: SitemapFile, config: ZoneConfig, links: list[SitemapLink]) -> None:
        """Say which addresses are not the zone's: often the name with or without www."""
        hosts: Counter[str] = Counter()
        for at in range(0, len(links), SLICE):
            urls = [link.url for link in links[at : at + SLICE] if not config.covers_url(link.url)]
            hosts.update(urlsplit(url).netloc[:253] for url in urls)
            await self.clock.sleep(0)
        for host, count in hosts.most_common(MAX_FOREIGN_HOSTS):
            reason = (
                f"{count} addresses are on {host or 'no host'}, which is not one of the zone's hosts: add it to hosts"
            )
            self._log(file.url, "sitemap_skipped", reason)

    def _enqueue_slice(
        self, file: SitemapFile, config: ZoneConfig, part: SitemapSlice, taken: int, facts: Mapping[str, Facts]
    ) -> None:
        now, pages = self.clock.now(), part.pages
        current = self.known_pages.list_current(pages, now)
        urls = dict.fromkeys(url for url, _ in pages if url not in current)
        order = PageOrder(batch_id=file.batch_id, trigger=file.trigger, urls=list(urls))
        self.enqueuer.enqueue(order, config, facts, now)
        skipped = part.count - len(pages) + sum(url in current for url, _ in pages)
        self.batches.add_settled(file.batch_id, "skipped", skipped)
        self.sql.run("INSERT OR REPLACE INTO crawl_progress VALUES (?, ?)", file.id, taken)

    def _add_file(self, batch_id: str, url: str, *, depth: int, trigger: str, fallback: int = 0) -> None:
        """Note a file to be read, each one once."""
        if int(self.sql.value("SELECT count(*) FROM crawl WHERE batch_id = ?", batch_id) or 0) < MAX_FILES:
            self.sql.run(
                "INSERT OR IGNORE INTO crawl (batch_id, url, depth, trigger_name, fallback) VALUES (?, ?, ?, ?, ?)",
                *(batch_id, url, depth, trigger, fallback),
            )

    def _try_fallback(self, file: SitemapFile, config: ZoneConfig, reason: str) -> None:
        if file.depth == 0:
            self._add_fallback(file, config)
        self._fail(file, reason)

    def _add_fallback(self, file: SitemapFile, config: ZoneConfig) -> None:
        position = file.fallback + 1
        if position < len(FALLBACKS):
            url = config.site_url + FALLBACKS[position]
            self._add_file(file.batch_id, url, depth=0, trigger=file.trigger, fallback=position)

    def _delay(self, file: SitemapFile, config: ZoneConfig, reason: str) -> None:
        if file.attempt >= config.preload_retry_max:
            self._fail(file, reason)
            return
        due_at = self.clock.now() + backoff_s(file.attempt)
        self.sql.run("UPDATE crawl SET due_at = ? WHERE id = ?", due_at, file.id)

    def _fail(self, file: SitemapFile, reason: str) -> None:
        self._log(file.url, "sitemap_failed", reason)
        self._finish(file)

    def _finish(self, file: SitemapFile) -> None:
        """Mark a file as read. Its row stays until the crawl is over, so that no file is read twice."""
        self.sql.run("UPDATE crawl SET state = 'done' WHERE id = ?", file.id)
        self.sql.run("DELETE FROM crawl_progress WHERE crawl_id = ?", file.id)

    def _log(self, url: str, status: str, reason: str) -> None:
        self.outbox.add_log(self.zone_id, url[:2048], status, now=self.clock.now(), detail=reason[:500])


def _canonicalize(links: list[SitemapLink], config: ZoneConfig) -> Iterator[tuple[str, float | None]]:
    """Yield the canonical URL and the last change of each page of the zone."""
    for link in links:
        try:
            yield canonical_url(link.url, config), link.modified_at
        except Invalid:
            continue
