"""Public figures of the service: its usage, and whether a Turnstile challenge must be solved first."""

from dataclasses import dataclass
from typing import Final

from sluice.core.ports import Clock
from sluice.core.timestamps import iso
from sluice.services.compiler.metrics.prometheus import CONTENT_TYPE, format_counters
from sluice.services.compiler.metrics.request_metrics import WINDOW_S, WINDOWS, RequestMetrics
from sluice.services.compiler.settings import Settings
from sluice.web import Reply, Request

_NO_CACHE: Final = {"Cache-Control": "no-cache"}
_ONE_HOUR: Final = {"Cache-Control": "public, max-age=3600"}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsApi:
    metrics: RequestMetrics
    clock: Clock

    async def show_metrics(self, _request: Request) -> Reply:
        values = {
            "window": f"{WINDOW_S * WINDOWS // 60} minutes",
            "timestamp": iso(self.clock.now()),
            "endpoints": await self.metrics.load_endpoints(),
        }
        return Reply.json(values, headers=_NO_CACHE)

    async def show_prometheus(self, _request: Request) -> Reply:
        page = format_counters(await self.metrics.load_counters())
        return Reply.text(page, headers={"Content-Type": CONTENT_TYPE, **_NO_CACHE})


async def show_turnstile(settings: Settings, _request: Request) -> Reply:
    values = {"siteKey": settings.turnstile_site_key or None, "enabled": settings.is_turnstile_enabled}
    return Reply.json(values, headers=_ONE_HOUR)
