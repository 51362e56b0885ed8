"""Public figures of the service: its usage, and whether a Turnstile challenge must be solved first."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypedDict

from sluice.core.ports import Clock
from sluice.core.timestamps import Timestamp, iso
from sluice.services.compiler.metrics.prometheus import CONTENT_TYPE, format_counters, format_gauges
from sluice.services.compiler.metrics.request_metrics import WINDOW_S, WINDOWS, EndpointMetrics, RequestMetrics
from sluice.services.compiler.settings import Settings
from sluice.web import CachePolicy, Handler, Reply, Request, share_reply
from sluice.web.operations import Media, Operation, ReplyDoc, describe

if TYPE_CHECKING:
    from sluice.services.compiler.metrics.gauges import Gauge

_CHALLENGE: Final = CachePolicy(max_age_s=3600, tags=("turnstile",))


class RequestFigures(TypedDict):
    window: str
    timestamp: Timestamp
    endpoints: dict[str, EndpointMetrics]


class TurnstileConfig(TypedDict):
    siteKey: str | None
    enabled: bool


SHOW_METRICS: Final = Operation(
    "showMetrics",
    "Requests of the last 30 minutes",
    {200: ReplyDoc("Counts, times and errors of each endpoint.", RequestFigures)},
    tag="Figures",
    problems=(429,),
)
SHOW_PROMETHEUS: Final = Operation(
    "showPrometheusMetrics",
    "Counters for Prometheus",
    {200: ReplyDoc("The text format 0.0.4.", Media("text/plain"))},
    tag="Figures",
    problems=(429,),
)
SHOW_TURNSTILE: Final = Operation(
    "showTurnstileConfig",
    "Whether a Turnstile challenge must be solved",
    {200: ReplyDoc("The site key, if one is set.", TurnstileConfig)},
    tag="About",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsApi:
    metrics: RequestMetrics
    load_gauges: Callable[[], Awaitable[Sequence[Gauge]]]
    clock: Clock

    @describe(SHOW_METRICS)
    async def show_metrics(self, _request: Request) -> Reply:
        figures: RequestFigures = {
            "window": f"{WINDOW_S * WINDOWS // 60} minutes",
            "timestamp": iso(self.clock.now()),
            "endpoints": await self.metrics.load_endpoints(),
        }
        return Reply.json(figures)

    @describe(SHOW_PROMETHEUS)
    async def show_prometheus(self, _request: Request) -> Reply:
        page = format_counters(await self.metrics.load_counters()) + format_gauges(await self.load_gauges())
        return Reply.text(page, headers={"Content-Type": CONTENT_TYPE})


def serve_turnstile(settings: Settings) -> Handler:
    @describe(SHOW_TURNSTILE)
    async def show_turnstile(_request: Request) -> Reply:
        config = TurnstileConfig(siteKey=settings.turnstile_site_key or None, enabled=settings.is_turnstile_enabled)
        return share_reply(Reply.json(config), _CHALLENGE)

    return show_turnstile
