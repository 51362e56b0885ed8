"""What the operator of a zone may ask for: configuration, progress, failed pages, pages by hand."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Invalid, NotFound
from sluice.core.models import parse_model
from sluice.core.preload.priority import Facts
from sluice.core.preload.zone_config import ZoneConfig, parse_config, config_as_json
from sluice.services.preload.http.requests import EnqueueBody, IdsBody, PagesBody, SitemapBody
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.dead_letters import DeadLetters
from sluice.services.preload.queue.enqueue import Order, canonical_urls
from sluice.services.preload.queue.queue_summary import waiting
from sluice.services.preload.zone.configuration import Publishing
from sluice.services.preload.zone.housekeeping import CANDIDATES, Housekeeping
from sluice.services.preload.zone.requests_shared import Call, Desk, Json
from sluice.services.preload.zone.status import Status

KEY_OVERLAP_S: Final = 300.0  # for so long the zone's former key is good too


@dataclass(frozen=True, slots=True)
class OperatorCalls:
    desk: Desk

    @property
    def table(self) -> dict[str, Call]:
        return {
            "config": self._config,
            "unregister": self._unregister,
            "versions": self._versions,
            "restore": self._restore,
            "status": self._status,
            "queue": self._queue,
            "batch": self._batch,
            "cancel": self._cancel,
            "failed": self._failed,
            "replay": self._replay,
            "delete_failed": self._delete_failed,
            "enqueue": self._enqueue,
            "sitemap": self._sitemap,
            "learn": self._learn,
            "pause": self._pause,
            "resume": self._resume,
        }

    async def configure(self, given: Json) -> Json:
        zone = parse_config(given["config"])
        before = self.desk.parts.state.zone
        if before is None:
            # A new zone's clocks begin now, so that nothing is due at once that nobody asked for.
            for name in ("scheduled_at", "replayed_at"):
                self.desk.parts.state.put(name, self.desk.parts.now())
        version = await Publishing(self.desk.parts).configure(zone)
        if key := given.get("signing_key"):
            self._take_key(str(key))
        newly_crawled = zone.preload_sitemap_crawl_enabled and not (before and before.preload_sitemap_crawl_enabled)
        if newly_crawled and zone.preload_enabled:
            Housekeeping(self.desk.parts).crawl_if_due(zone, self.desk.parts.now())
        await self.desk.wake()
        return {"version": version, **self._shown(zone)}

    def _take_key(self, key: str) -> None:
        state, now = self.desk.parts.state, self.desk.parts.now()
        before = state.get("signing_keys", default=[])
        if before and before[0]["key"] == key:
            return
        former = [{"key": before[0]["key"], "until": now + KEY_OVERLAP_S}] if before else []
        state.put("signing_keys", [{"key": key, "until": None}, *former])

    def _shown(self, zone: ZoneConfig) -> Json:
        own_key = bool(self.desk.parts.state.get("signing_keys", default=[]))
        return {"zone_id": self.desk.parts.zone_id, "own_signing_key": own_key, "config": config_as_json(zone)}

    async def _config(self, zone: ZoneConfig, _given: Json) -> Json:
        return {"version": self.desk.parts.state.get("version"), **self._shown(zone)}

    async def _unregister(self, _zone: ZoneConfig, _given: Json) -> Json:
        await Publishing(self.desk.parts).withdraw()
        return {"zone_id": self.desk.parts.zone_id, "status": "unregistered"}

    async def _versions(self, _zone: ZoneConfig, _given: Json) -> Json:
        return {"versions": await Publishing(self.desk.parts).versions()}

    async def _restore(self, _zone: ZoneConfig, given: Json) -> Json:
        versions = await Publishing(self.desk.parts).versions()
        found = next((each for each in versions if each["version"] == given["version"]), None)
        if found is None:
            raise NotFound(f"there is no version {given['version']} of this zone's configuration")
        return await self.configure({"config": found["config"]})

    async def _status(self, zone: ZoneConfig, _given: Json) -> Json:
        return Status(self.desk.parts).of_zone(zone)

    async def _queue(self, _zone: ZoneConfig, _given: Json) -> Json:
        return waiting(self.desk.sql)

    async def _batch(self, zone: ZoneConfig, given: Json) -> Json:
        return Status(self.desk.parts).of_batch(given["batch_id"], zone)

    async def _cancel(self, zone: ZoneConfig, given: Json) -> Json:
        Batches(self.desk.sql).cancel(given["batch_id"], self.desk.parts.now())
        return Status(self.desk.parts).of_batch(given["batch_id"], zone)

    async def _failed(self, _zone: ZoneConfig, given: Json) -> Json:
        dead = DeadLetters(self.desk.sql)
        return {"count": dead.count, "failed": dead.listed(given["limit"])}

    async def _replay(self, zone: ZoneConfig, given: Json) -> Json:
        ids = parse_model(IdsBody, given["body"]).ids
        count = Housekeeping(self.desk.parts).replay(self.desk.enabled(zone), CANDIDATES, ids, self.desk.parts.now())
        await self.desk.wake()
        return {"replayed": count}

    async def _delete_failed(self, _zone: ZoneConfig, given: Json) -> Json:
        deleted = DeadLetters(self.desk.sql).delete(parse_model(IdsBody, given["body"]).ids)
        return {"deleted": deleted}

    async def _enqueue(self, zone: ZoneConfig, given: Json) -> Json:
        body = parse_model(EnqueueBody, given["body"])
        self.desk.enabled(zone)
        if body.all:
            reply: Json = await Housekeeping(self.desk.parts).everything(zone, body.trigger, body.priority)
        else:
            urls = canonical_urls(body.urls, zone)
            facts = await self.desk.facts(urls)
            order = Order(batch_id=self.desk.new_id("preload"), trigger=body.trigger, urls=urls, override=body.priority)
            reply = self.desk.parts.enqueueing.place(order, zone, facts, self.desk.parts.now())
        await self.desk.wake()
        return reply

    async def _sitemap(self, zone: ZoneConfig, given: Json) -> Json:
        body = parse_model(SitemapBody, given["body"])
        url = body.url or self.desk.enabled(zone).sitemap_url
        if not zone.covers_url(url):
            raise Invalid("url is not on one of the zone's hosts")
        batch_id = self.desk.new_id("preload")
        self.desk.parts.crawl.begin(batch_id, url, body.trigger, self.desk.parts.now())
        await self.desk.wake()
        return {"preload_batch_id": batch_id, "status": "accepted", "sitemap": url}

    async def _learn(self, zone: ZoneConfig, given: Json) -> Json:
        body = parse_model(PagesBody, given["body"])
        urls = [canonical_urls([page.url], zone)[0] for page in body.pages]
        known = [
            Facts(monthly_pageviews=page.monthly_pageviews, published_at=page.published_at, post_id=page.post_id)
            for page in body.pages
        ]
        await self.desk.parts.pages.learn(zip(urls, known, strict=True))
        return {"learned": len(urls)}

    async def _pause(self, zone: ZoneConfig, _given: Json) -> Json:
        self.desk.parts.state.put("paused", value=True)
        return Status(self.desk.parts).of_zone(zone)

    async def _resume(self, zone: ZoneConfig, _given: Json) -> Json:
        self.desk.parts.state.put("paused", value=False)
        await self.desk.wake()
        return Status(self.desk.parts).of_zone(zone)
