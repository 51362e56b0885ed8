"""What a zone's object does when its clock was set back: no stored time stops it for longer than its own rule could.

A new object cannot know what the clock showed before, so it looks at every stored time once; a living one notices it
when its alarm rings, or with the minute's cron. Purges have numbers and nonces go by the clock of the requests that
carry them, so neither is touched.
"""

from dataclasses import dataclass, replace
from typing import Any, Final

from sluice.core.waits import clamp_wait
from sluice.services.preload.warming.drain import LEASE_S
from sluice.services.preload.warming.settle_page import MAX_HOLD_S
from sluice.services.preload.zone.operator_calls import KEY_OVERLAP_S
from sluice.services.preload.zone.services import ZoneServices

MAX_WEBHOOK_WAIT_S: Final = 3600.0
# Values of the zone's state that say when something was done last.
DONE_AT: Final = (
    *("scheduled_at", "replayed_at", "crawled_at", "forgot_at"),
    *("published_at", "mirrored_at"),
)
# The same as a member of a value.
NOTED_AT: Final = ("circle", "origin_check")


@dataclass(slots=True)
class ClockWatch:
    services: ZoneServices
    _latest: float = 0.0

    def look(self) -> None:
        """Shorten all waits if the clock shows less than it did at the last look."""
        now = self.services.now()
        if now < self._latest:
            self.clamp_waits()
        self._latest = now

    def clamp_waits(self) -> None:
        """Shorten all waits to the longest that could begin now; a write for each that is longer."""
        services, now = self.services, self.services.now()
        services.queue.clamp_waits(now, LEASE_S)
        services.crawl.clamp_waits(now)
        services.admission.clamp_waits(now)
        services.alerts.clamp_waits(now)
        if changes := dict(self._list_changes(now)):
            services.state.put(**changes)
        self._latest = now

    def _list_changes(self, now: float) -> list[tuple[str, Any]]:
        """Return the values of the zone's state that have to change."""
        state, breaker = self.services.state, self.services.state.breaker
        failures, due_at = state.get("webhook_failures", default=(0, 0.0))
        keys = state.get("signing_keys", default=[])
        noted = [(name, value) for name in NOTED_AT if (value := state.get(name))]
        clamped: list[tuple[str, Any]] = [
            *((name, clamp_wait(state.get(name, default=0), now, 0)) for name in DONE_AT),
            *((name, {**value, "at": clamp_wait(value["at"], now, 0)}) for name, value in noted),
            ("hold_until", clamp_wait(state.get("hold_until", default=0.0), now, MAX_HOLD_S)),
            ("webhook_failures", [failures, clamp_wait(due_at, now, MAX_WEBHOOK_WAIT_S)]),
            ("signing_keys", [_clamp_key(each, now) for each in keys]),
            ("breaker", replace(breaker, open_until=clamp_wait(breaker.open_until, now, breaker.backoff_s)).as_json()),
        ]
        return [(name, value) for name, value in clamped if state.get(name) is not None and value != state.get(name)]


def _clamp_key(key: dict[str, Any], now: float) -> dict[str, Any]:
    """Return a signing key that stays valid for no longer than one that is replaced now."""
    return key if key["until"] is None else {**key, "until": clamp_wait(key["until"], now, KEY_OVERLAP_S)}
