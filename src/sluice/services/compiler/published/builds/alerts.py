"""Alerts about lists: one when a list is no longer fresh, and one when it is again."""

from dataclasses import dataclass
from typing import Final, TypedDict

from sluice.core.compiler.published.versions import ListState
from sluice.core.json_text import encode_json
from sluice.core.net.webhook import post_alert
from sluice.core.ports import Clock, Database, Fetch, Statement
from sluice.core.timestamps import iso
from sluice.services.compiler.published.builds.build_queue import HOLDS
from sluice.services.compiler.published.list_store import PublishedList
from sluice.services.compiler.published.sources.source_outcomes import SourceFacts

_ADD: Final = (
    f"insert into published_alerts (id, payload, created_ms) select ?, ?, ? where {HOLDS} on conflict do nothing"
)
_NOTE: Final = f"update published_lists set alert_id = ? where name = ? and {HOLDS}"  # noqa: S608 - only constants


class StateChange(TypedDict):
    """What an alert says of the build; `sources` are those that are not as they should be."""

    state: ListState
    buildId: str
    reason: str
    sources: list[SourceFacts]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAlerts:
    """Stores and delivers the alerts of lists. `url` is the webhook; without one, nothing is sent."""

    database: Database
    fetch: Fetch
    clock: Clock
    url: str

    def open(self, known: PublishedList, build_id: str, is_fresh: bool, facts: StateChange) -> list[Statement]:
        """Return the statements that note a change, if the build holds its list; none if it was, or was not, fresh before."""
        if is_fresh == (known.alert_id is None):
            return []
        kind = "list-recovered" if is_fresh else "list-degraded"
        alert_id = f"{build_id}-{kind}"
        now_s = self.clock.now()
        payload = {"type": kind, "list": known.name, "alertId": alert_id, "timestamp": iso(now_s), **facts}
        return [
            (_ADD, (alert_id, encode_json(payload), round(now_s * 1000), build_id)),
            (_NOTE, (None if is_fresh else alert_id, known.name, build_id)),
        ]

    async def deliver(self) -> None:
        """Send every alert that was not sent yet, also of earlier builds whose webhook failed."""
        if not self.url:
            return
        rows = await self.database.all(
            "select id, payload from published_alerts where delivered_ms is null order by created_ms, id"
        )
        for row in rows:
            await post_alert(self.fetch, self.url, row["payload"], row["id"])
            now_ms = round(self.clock.now() * 1000)
            await self.database.run("update published_alerts set delivered_ms = ? where id = ?", now_ms, row["id"])
