"""A site's agent, such as its WordPress plugin: it tells of every change, so without it no copy may be trusted.

When the plugin is deactivated, or stops with a fatal error, it says so with its signature in the same request (`PUT
…/agent`, `leaves`). One that cannot, because its file is broken or was deleted, is missed: the minute's cron asks for
it every two minutes at the `presence_path` that it named, and misses it after two replies without `X-Sluice-Agent`. A
site that fails or is being updated says nothing. Then all copies are purged, isolates pass everything through, nothing
is warmed, and the operator hears `agent_away`; the queue waits. The agent is back with its next introduction or answer.

WordPress behind an `origin_url` knows its visitors' host only from the plugin, so that leaves one small file in
`mu-plugins`. Where it cannot, each page redirects to itself. Such a reply is never stored: the visitor gets a short
page with 508 or a stale copy, and the operator `redirect_circle`. A redirect to itself that sets a cookie or asks to
wait is passed on.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Final, Literal

from sluice.core.headers import header_value
from sluice.core.ports import HeaderPairs
from sluice.core.waits import is_waiting

AGENT_HEADER: Final = "x-sluice-agent"  # in each reply of a site whose agent is there
LOOK_INTERVAL_S: Final = 110.0  # with every second of the minute's crons
EAGER_INTERVAL_S: Final = 50.0  # with each of them: while it is away or in doubt
MISSES: Final = 2  # a plugin that is just being updated is missed once

LeaveReason = Literal["deactivated", "failed", "missed"]
_MESSAGES: Final[dict[LeaveReason, str]] = {
    "deactivated": "the site's plugin was deactivated",
    "failed": "the site's plugin stopped with a fatal error",
    "missed": "the site does not answer for its plugin: it is deactivated, deleted, broken, or has another signing key",
}


class Presence(Enum):
    PRESENT = "present"
    ABSENT = "absent"
    UNKNOWN = "unknown"


def judge_presence(status: int, headers: HeaderPairs) -> Presence:
    """Return what the site's reply to a question for its agent says. A site that fails or refuses says nothing."""
    if header_value(headers, AGENT_HEADER):
        return Presence.PRESENT
    return Presence.ABSENT if status < 400 or status in {404, 410} else Presence.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteAgent:
    """What a zone knows of its site's agent. Without `presence_path` there is none, or one that cannot be asked."""

    presence_path: str | None = None
    away_since: float | None = None
    reason: LeaveReason | None = None
    misses: int = 0
    looked_at: float = 0.0
    is_doubted: bool = False

    @property
    def is_away(self) -> bool:
        return self.away_since is not None

    def is_due(self, now: float) -> bool:
        """Return whether the site should be asked for its agent."""
        is_eager = self.is_away or self.is_doubted or self.misses > 0
        interval_s = EAGER_INTERVAL_S if is_eager else LOOK_INTERVAL_S
        return self.presence_path is not None and not is_waiting(self.looked_at + interval_s, now, interval_s)

    def mark_present(self, presence_path: str | None, now: float) -> "SiteAgent":
        """Return the state with the agent there; one that names no path keeps the former one's."""
        return SiteAgent(presence_path=presence_path or self.presence_path, looked_at=now)

    def mark_away(self, reason: LeaveReason, now: float) -> "SiteAgent":
        """Return the state with the agent away; the first reason and time count."""
        if self.is_away:
            return self
        return replace(self, away_since=now, reason=reason, misses=0, looked_at=now, is_doubted=False)

    def record_presence(self, presence: Presence, now: float) -> "SiteAgent":
        """Return the state after the site was asked for its agent."""
        match presence:
            case Presence.PRESENT:
                return self.mark_present(None, now)
            case Presence.UNKNOWN:
                return replace(self, looked_at=now)
            case Presence.ABSENT:
                seen = replace(self, looked_at=now, misses=self.misses + 1)
                return seen.mark_away("missed", now) if seen.misses >= MISSES else seen

    def request_check(self) -> "SiteAgent":
        """Return the state in which the site is asked soon, after something that the agent would have prevented."""
        is_known = self.presence_path is not None and not self.is_away
        return replace(self, is_doubted=True) if is_known else self

    def explain(self) -> str | None:
        """Return what an operator should know; None while the agent is there."""
        if self.reason is None:
            return None
        return f"{_MESSAGES[self.reason]}: visitors get every page from the site's own server until it is active again"

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def from_json(cls, value: dict[str, Any] | None) -> "SiteAgent":
        return cls(**value) if value else cls()
