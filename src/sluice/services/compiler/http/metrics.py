"""Public figures of the service: its usage, and whether a Turnstile challenge must be solved first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sluice.core.ports import Clock
from sluice.core.timestamps import iso
from sluice.services.compiler.metrics.prometheus import CONTENT_TYPE, format_counters, format_gauges
from sluice.services.compiler.metrics.request_metrics import WINDOW_S, WINDOWS, RequestMetrics
from sluice.services.compiler.settings import Settings
from sluice.web import Reply, Request, Sharing, share_reply

if TYPE_CHECKING:
    from sluice.services.compiler.metrics.gauges import Gauge

_CHALLENGE: Final = Sharing(max_age_s=3600, tags=("turnstile",))


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsApi:
    metrics: RequestMetrics
    load_gauges: Callable[[], Awaitable[Sequence[Gauge]]]
    clock: Clock

    async def show_metrics(self, _request: Request) -> Reply:
        values = {
            "window": f"{WINDOW_S * WINDOWS // 60} minutes",
            "timestamp": iso(self.clock.now()),
            "endpoints": await self.metrics.load_endpoints(),
        }
        return Reply.json(values)

    async def show_prometheus(self, _request: Request) -> Reply:
        page = format_counters(await self.metrics.load_counters()) + format_gauges(await self.load_gauges())
        return Reply.text(page, headers={"Content-Type": CONTENT_TYPE})


async def show_turnstile(settings: Settings, _request: Request) -> Reply:
    values = {"siteKey": settings.turnstile_site_key or None, "enabled": settings.is_turnstile_enabled}
    return share_reply(Reply.json(values), _CHALLENGE)
