"""The purges of a zone as an isolate knows them: its object is asked now and then, by one isolate of each data centre.

A list counts from the time when it was asked for. The data centre's cache keeps it for half of the zone's delay, the
isolate for the whole: so what is served is never older than that. A list from the future has the time of another clock,
and does not count. The zone's configuration travels with the list. If the object does not answer within a second, copies
are served with `detail=unchecked`, for at most 300 s.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from typing import Final, Protocol

from sluice.core.errors import SluiceError, TimedOut
from sluice.core.ports import Clock, Log
from sluice.core.preload.purge_list import PurgeList, PurgeListJson, PurgeVerdict
from sluice.core.preload.zone_config import ConfigJson, ZoneConfig, parse_config
from sluice.core.waits import is_waiting

PATIENCE_S: Final = 1.0  # how long the zone's object may take
RETRY_S: Final = 1.0  # after a failure, so that not every visitor waits for an object that does not answer
UNCHECKED_S: Final = 300.0  # for so long copies are served while the object does not answer
LOOK_S: Final = 0.02


class EdgeTexts(Protocol):
    """Small texts in the cache of one data centre."""

    async def get_text(self, url: str) -> str | None: ...
    async def put_text(self, url: str, text: str, *, max_age_s: int) -> None: ...


class ZonePurges(PurgeListJson):
    """The purges that still count, and the zone's configuration, as its object shows them."""

    config: ConfigJson


@dataclass(slots=True)
class PurgeSnapshot:
    """What one isolate knows about a zone: the latest list, and when it was asked for."""

    purges: PurgeList
    config: ZoneConfig
    config_as_sent: ConfigJson
    asked_at: float
    is_checked: bool = True


@dataclass(slots=True)
class PurgeMemory:
    """The lists of one isolate, by zone; since when a request asks for a newer one, and when that last failed."""

    zones: dict[str, PurgeSnapshot] = field(default_factory=dict)
    asking: dict[str, float] = field(default_factory=dict)
    failed: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeReader:
    zone_id: str
    texts: EdgeTexts
    clock: Clock
    log: Log
    memory: PurgeMemory
    # Asks the zone's object for its list.
    load: Callable[[], Awaitable[ZonePurges]]

    async def read(self) -> PurgeSnapshot | None:
        """Return the purges as they were at most the zone's delay ago, or unchecked ones; None when nobody can tell."""
        known = self._find_current()
        if known is None and self._is_asked_for():
            known = await self._wait_for_other()
        if known is None:
            await self._refresh()
            known = self._find_current() or self._find_unchecked()
        return known

    async def read_config(self, default: ZoneConfig) -> ZoneConfig:
        """Return the zone's configuration as its object had it at most the zone's delay ago."""
        known = await self.read()
        return known.config if known else default

    def latest(self) -> int:
        """Return the number of the latest purge that is known now: a list that comes later may name a purge that is later too."""
        known = self.memory.zones.get(self.zone_id)
        return known.purges.seq if known else 0

    async def judge(self, url: str, tags: Collection[str], seq: int) -> PurgeVerdict:
        """Return what purges after this number say about a copy of a page; where nobody can tell, it counts as purged."""
        known = await self.read()
        if known is None:
            return PurgeVerdict.PURGED
        verdict = known.purges.judge(url, tags, seq)
        return PurgeVerdict.UNCHECKED if verdict is PurgeVerdict.VALID and not known.is_checked else verdict

    def _find_current(self) -> PurgeSnapshot | None:
        known, now = self.memory.zones.get(self.zone_id), self.clock.now()
        is_current = known is not None and 0 <= now - known.asked_at < known.config.cache_purge_delay_s
        return known if is_current else None

    def _find_unchecked(self) -> PurgeSnapshot | None:
        known, now = self.memory.zones.get(self.zone_id), self.clock.now()
        if known is None or not is_waiting(known.asked_at + UNCHECKED_S, now, UNCHECKED_S):
            return None
        known.is_checked = False
        return known

    def _is_asked_for(self) -> bool:
        return is_waiting(self.memory.asking.get(self.zone_id, 0.0) + PATIENCE_S, self.clock.now(), PATIENCE_S)

    async def _wait_for_other(self) -> PurgeSnapshot | None:
        """Wait for the list that another request of this isolate asks for."""
        while self._is_asked_for():
            if known := self._find_current():
                return known
            await self.clock.sleep(LOOK_S)
        return self._find_current()

    async def _refresh(self) -> None:
        now = self.clock.now()
        if is_waiting(self.memory.failed.get(self.zone_id, -RETRY_S) + RETRY_S, now, RETRY_S):
            return
        self.memory.asking[self.zone_id] = now
        try:
            if not await self._take_from_cache():
                await self._ask_object()
        except SluiceError as error:
            self.log.error("purges.unchecked", error, zone=self.zone_id)
            self.memory.failed[self.zone_id] = self.clock.now()
        finally:
            self.memory.asking.pop(self.zone_id, None)

    async def _take_from_cache(self) -> bool:
        """Take the list that another isolate of this data centre has asked for; return whether it is recent."""
        text = await self.texts.get_text(self._url)
        if text is None:
            return False
        value = json.loads(text)
        if value["asked_at"] > self.clock.now() or self.latest() > value["list"]["seq"]:
            return False
        self._remember(value["list"], value["asked_at"])
        known = self.memory.zones[self.zone_id]
        return 0 <= self.clock.now() - known.asked_at < known.config.cache_purge_delay_s / 2

    async def _ask_object(self) -> None:
        asked_at = self.clock.now()
        try:
            value = await asyncio.wait_for(self.load(), PATIENCE_S)
        except TimeoutError:
            raise TimedOut("the zone's object did not answer in time") from None
        self._remember(value, asked_at)
        text = json.dumps({"asked_at": asked_at, "list": value})
        await self.texts.put_text(self._url, text, max_age_s=int(UNCHECKED_S))

    def _remember(self, value: ZonePurges, asked_at: float) -> None:
        before = self.memory.zones.get(self.zone_id)
        if before and asked_at <= before.asked_at <= self.clock.now():
            return
        is_same = before is not None and before.config_as_sent == value["config"]
        self.memory.zones[self.zone_id] = PurgeSnapshot(
            purges=PurgeList.from_json(value),
            config=before.config if before and is_same else parse_config(value["config"]),
            config_as_sent=value["config"],
            asked_at=asked_at,
        )

    @property
    def _url(self) -> str:
        return f"https://purges.sluice.invalid/{self.zone_id}"
