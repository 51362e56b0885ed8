"""Warming requests that come back.

An alarm has no zone. So Cloudflare takes its request for a page through the front door, where the zone's route brings
it to this Worker again. The request proves whose it is (`core/preload/request_signing.py: sign_warming`), and is sent
on once: while a request of the zone is handled, its own address is the origin's. The reply goes back as it is: not from
a copy, not counted, not queued. The proof is taken off, so that a second pass is a loop. `Cache-Tag` and its like
travel back under another name, because the front door keeps them.
"""

from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Invalid, SluiceError
from sluice.core.ports import Clock
from sluice.core.preload.caching.cache_keys import normalise_address
from sluice.core.preload.caching.proxy_headers import change_request_headers, pack_reply_headers
from sluice.core.preload.request_signing import PROXY_HEADER, WARMING_HEADER, is_recent_warming, proves_warming
from sluice.core.preload.zone_config import netloc_of
from sluice.services.preload.ports import SendToOrigin
from sluice.services.preload.serving.failure_pages import status_of
from sluice.services.preload.serving.origin_requests import ZoneKeys
from sluice.services.preload.serving.replies import build_passed_reply
from sluice.web import Reply, Request

TIMEOUT_S: Final = 100.0  # who warms stops waiting before


@dataclass(frozen=True, slots=True)
class WarmingLoopback:
    """Recognises and passes on the warming requests of one zone."""

    keys: ZoneKeys
    clock: Clock
    send: SendToOrigin

    async def answer(self, request: Request, page_url: str) -> Reply | None:
        """Return the origin's reply to a warming request for this page; None for a request that is not the zone's own."""
        return await self._pass_on(request, page_url) if await self._is_own(request, page_url) else None

    async def _is_own(self, request: Request, page_url: str) -> bool:
        """Return whether the zone's key has signed this request for the page a moment ago."""
        proof, now = request.headers.get(WARMING_HEADER), self.clock.now()
        if proof is None or not is_recent_warming(proof, now):
            return False
        try:
            place = normalise_address(page_url)
        except Invalid:
            return False
        if proves_warming(proof, await self.keys.list_all(), method=request.method, place=place):
            return True
        # The key may have been replaced since this isolate asked for it.
        return proves_warming(proof, await self.keys.reload_all(), method=request.method, place=place)

    async def _pass_on(self, request: Request, page_url: str) -> Reply:
        """Return the origin's reply, or a failure without one; neither names this proxy."""
        scheme = page_url.partition(":")[0]
        changes = change_request_headers(request.headers, host=netloc_of(page_url), scheme=scheme, drop_analytics=False)
        changes |= {WARMING_HEADER: None, "x-forwarded-for": None}  # there is no visitor
        changes.pop(PROXY_HEADER, None)  # it is ours
        try:
            url = request.url.partition("#")[0]
            response = await self.send(url, changes, timeout_s=TIMEOUT_S, is_repeatable=False)
        except SluiceError as error:
            return Reply(status_of(error))
        return build_passed_reply(request, response, pack_reply_headers(response.headers))
