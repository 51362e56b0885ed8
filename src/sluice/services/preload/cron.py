"""The minute's cron: every zone in turn, and once an hour the deletion of old rows in D1."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Database, Log
from sluice.core.timestamps import iso
from sluice.services.preload.zone.calls import Zones

LOG_KEPT_S: Final = 30 * 86_400
PURGES_KEPT_S: Final = 90 * 86_400
ALERTS_KEPT_S: Final = 90 * 86_400


@dataclass(frozen=True, slots=True)
class PreloadCron:
    zones: Zones
    database: Database
    clock: Clock
    log: Log

    async def run(self) -> None:
        """A zone that fails does not stop the others."""
        now = self.clock.now()
        for zone_id in await self.zones.list_ids():
            try:
                await self.zones.get(zone_id).tick()
            except SluiceError as error:
                self.log.error("tick.failed", error, zone=zone_id)
        if int(now) % 3600 < 60:
            await self._delete_old_rows(now)

    async def _delete_old_rows(self, now: float) -> None:
        """Keeps the log for 30 days, purges and alerts for 90."""
        await self.database.batch(
            [
                ("DELETE FROM preload_log WHERE created_at < ?", [iso(now - LOG_KEPT_S)]),
                ("DELETE FROM purge_log WHERE created_at < ?", [now - PURGES_KEPT_S]),
                ("DELETE FROM preload_alerts WHERE raised_at < ?", [now - ALERTS_KEPT_S]),
            ]
        )
