"""Whether the site's agent is there: it says so itself, and the minute's cron asks for it now and then.

When it goes, all copies are purged in the same step, without an await: nobody tells of changes any more.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Log
from sluice.core.preload.purges import Purge
from sluice.core.preload.site_agent import LeaveReason, Presence, SiteAgent, judge_presence
from sluice.core.preload.zone_config import ZoneConfig
from sluice.services.preload.serving.purging import Purger
from sluice.services.preload.warming.origin import AGENT, Origin
from sluice.services.preload.zone.state import ZoneState

TIMEOUT_S: Final = 10.0
MAX_BYTES: Final = 1024 * 1024  # a site without its agent answers with a whole page


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentWatch:
    zone_id: str
    state: ZoneState
    purger: Purger
    origin: Origin
    clock: Clock
    log: Log
    create_id: Callable[[str], str]
    review_alerts: Callable[[float], None]

    def mark_present(self, presence_path: str | None) -> None:
        """Note that the agent has said that it is there."""
        self._change(self.state.agent.mark_present(presence_path, self.clock.now()))

    def mark_away(self, reason: LeaveReason) -> None:
        """Note that the agent has said that it leaves."""
        self._change(self.state.agent.mark_away(reason, self.clock.now()))

    def request_check(self) -> None:
        """Note that something has happened that the agent would have prevented: the site is asked for it soon."""
        self._change(self.state.agent.request_check())

    async def look_if_due(self, config: ZoneConfig) -> None:
        """Ask the site for its agent."""
        path = self.state.agent.presence_path
        if path is not None and self.state.agent.is_due(self.clock.now()):
            presence = await self._ask(config.site_url + path, config)
            self._change(self.state.agent.record_presence(presence, self.clock.now()))

    async def _ask(self, url: str, config: ZoneConfig) -> Presence:
        try:
            response = await self.origin.fetch_granted(
                url,
                config,
                grant_id=self.origin.grants.grant(self.clock.now()),
                headers=(("user-agent", AGENT), ("cache-control", "no-cache")),
                max_bytes=MAX_BYTES,
                timeout_s=TIMEOUT_S,
            )
        except SluiceError:
            return Presence.UNKNOWN
        return judge_presence(response.status, response.headers)

    def _change(self, agent: SiteAgent) -> None:
        before = self.state.agent
        if agent == before:
            return
        self.state.put_agent(agent)
        if agent.is_away and not before.is_away:
            self.purger.accept(self._build_purge())
        if agent.is_away != before.is_away:
            self.review_alerts(self.clock.now())
            event = "agent.away" if agent.is_away else "agent.back"
            self.log.event(event, zone=self.zone_id, reason=agent.reason or before.reason)

    def _build_purge(self) -> Purge:
        purge_id = self.create_id("purge")
        return Purge(
            purge_id=purge_id,
            idempotency_key=purge_id,
            nonce="",
            tags=(),
            urls=(),
            everything=True,
            created_at=self.clock.now(),
        )
