"""The site's own timers: a site that is served from copies never runs them, so the minute's cron asks for their path."""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError, TimedOut
from sluice.core.ports import Clock
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.warming.origin import AGENT, Origin
from sluice.services.preload.zone.outbox import Outbox

TIMEOUT_S: Final = 10.0
MAX_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class OriginCron:
    zone_id: str
    origin: Origin
    outbox: Outbox
    clock: Clock

    async def call(self, config: ZoneConfig) -> None:
        """Request the configured path, if there is one. The request waits for no limit, but the pages that follow make room for it."""
        if config.origin_cron_path is None:
            return
        url = config.site_url + config.origin_cron_path
        if failure := await self._fetch(url, config):
            self.outbox.add_log(self.zone_id, url, "cron_failed", now=self.clock.now(), detail=failure[:500])

    async def _fetch(self, url: str, config: ZoneConfig) -> str | None:
        """Return what went wrong; None when nothing did."""
        try:
            response = await self.origin.fetch_granted(
                url,
                config,
                grant_id=self.origin.grants.grant(self.clock.now()),
                headers=(("user-agent", AGENT),),
                max_bytes=MAX_BYTES,
                timeout_s=TIMEOUT_S,
            )
        except TimedOut:
            return None  # it has begun, and goes on without us
        except SluiceError as error:
            return str(error)
        return f"status {response.status}" if response.status >= 400 else None
