"""The minute's cron: every zone in turn, and once an hour the deletion of old rows in D1."""

import asyncio
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import NotFound, SluiceError
from sluice.core.ports import Clock, Database, Log
from sluice.core.preload.caching.freshness import MAX_TTL_S
from sluice.core.timestamps import iso
from sluice.core.waits import is_waiting
from sluice.services.preload.zone.calls import ZoneList, Zones

AT_ONCE: Final = 6  # zones: a site whose timers hang delays few others
REMEMBERED_S: Final = 300.0
LOG_KEPT_S: Final = 30 * 86_400
PURGES_KEPT_S: Final = 90 * 86_400
ALERTS_KEPT_S: Final = 90 * 86_400
# Of a zone that is deleted: no copy lives longer, should the zone come back.
REMOVED_KEPT_S: Final = 2.0 * MAX_TTL_S


@dataclass(frozen=True, slots=True)
class PreloadCron:
    zones: Zones
    remembered: ZoneList
    database: Database
    clock: Clock
    log: Log

    async def run(self) -> None:
        """Tick every zone; one that fails does not stop the others."""
        now = self.clock.now()
        zone_ids = await self._list_zones(now)
        for at in range(0, len(zone_ids), AT_ONCE):
            await asyncio.gather(*(self._tick(zone_id) for zone_id in zone_ids[at : at + AT_ONCE]))
        if int(now) % 3600 < 60:
            await self._delete_old_rows(now)

    async def _tick(self, zone_id: str) -> None:
        try:
            await self.zones.get(zone_id).tick()
        except NotFound:
            await self.zones.forget(zone_id)
            self.remembered.clear()
        except SluiceError as error:
            self.log.error("tick.failed", error, zone=zone_id)

    async def _list_zones(self, now: float) -> list[str]:
        """Read from D1 now and then: a new zone has an alarm, it can wait some minutes for its first cron."""
        remembered = self.remembered
        if not is_waiting(remembered.until, now, REMEMBERED_S):
            remembered.ids, remembered.until = await self.zones.list_ids(), now + REMEMBERED_S
        return remembered.ids

    async def _delete_old_rows(self, now: float) -> None:
        """Keep the log for 30 days, purges and alerts for 90, and what deleted zones have removed for as long as a copy may live."""
        await self.database.batch(
            [
                ("DELETE FROM preload_log WHERE created_at < ?", [iso(now - LOG_KEPT_S)]),
                ("DELETE FROM purge_log WHERE created_at < ?", [now - PURGES_KEPT_S]),
                ("DELETE FROM preload_alerts WHERE raised_at < ?", [now - ALERTS_KEPT_S]),
                ("DELETE FROM removed_pages WHERE removed_at < ?", [now - REMOVED_KEPT_S]),
            ]
        )
