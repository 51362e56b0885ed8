"""What everyone may know of the service: how it is used, and whether a challenge must be solved first."""

from typing import Final

from sluice.core.ports import Clock
from sluice.core.timestamps import iso
from sluice.services.compiler.http.docs import endpoints as docs
from sluice.services.compiler.metrics.prometheus import CONTENT_TYPE, exposition
from sluice.services.compiler.metrics.requests import WINDOW_S, WINDOWS, RequestMetrics
from sluice.web import Reply, Request, Route

_FRESH: Final = {"Cache-Control": "no-cache"}
_AN_HOUR: Final = {"Cache-Control": "public, max-age=3600"}


def routes(metrics: RequestMetrics, clock: Clock, *, site_key: str, turnstile_enabled: bool) -> list[Route]:
    async def as_json(_request: Request) -> Reply:
        endpoints = await metrics.endpoints()
        window = f"{WINDOW_S * WINDOWS // 60} minutes"
        return Reply.json({"window": window, "timestamp": iso(clock.now()), "endpoints": endpoints}, headers=_FRESH)

    async def as_text(_request: Request) -> Reply:
        page = exposition(await metrics.counters())
        return Reply.text(page, headers={"Content-Type": CONTENT_TYPE, **_FRESH})

    async def turnstile_config(_request: Request) -> Reply:
        return Reply.json({"siteKey": site_key or None, "enabled": turnstile_enabled}, headers=_AN_HOUR)

    return [
        Route("GET", "/metrics", as_json, doc=docs.METRICS),
        Route("GET", "/metrics/prometheus", as_text, doc=docs.PROMETHEUS),
        Route("GET", "/api/turnstile-config", turnstile_config, doc=docs.TURNSTILE),
    ]
