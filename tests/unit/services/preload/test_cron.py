"""The minute's cron: every zone once, old rows once an hour, and a zone that fails stops nobody."""

from typing import Any

from fakes.clock import ManualClock
from sluice.core.errors import Unavailable
from sluice.core.ports import Statement
from sluice.services.preload.cron import PreloadCron
from sluice.services.preload.zone.calls import RemoteZone, ZoneCalls
from unit.services.preload.world import ListLog


class TwoZones:
    """The first of two zones fails."""

    def __init__(self) -> None:
        self.ticks: list[tuple[str, str]] = []

    def get(self, zone_id: str) -> ZoneCalls:
        return RemoteZone(zone_id, self._send, lambda: None)

    async def list_ids(self) -> list[str]:
        return ["a", "b"]

    async def is_registered(self, zone_id: str) -> bool:
        return zone_id in {"a", "b"}

    async def _send(self, zone_id: str, name: str, _arguments: str) -> str:
        self.ticks.append((zone_id, name))
        if zone_id == "a":
            raise Unavailable("the object is away")
        return '{"reply": null}'


class StatementList:
    def __init__(self) -> None:
        self.statements: list[Statement] = []

    async def batch(self, statements: list[Statement]) -> None:
        self.statements += statements


async def run_cron(now: float) -> tuple[TwoZones, StatementList, ListLog]:
    zones, database, log = TwoZones(), StatementList(), ListLog()
    unused: Any = database
    await PreloadCron(zones, unused, ManualClock(now), log).run()
    return zones, database, log


async def test_every_zone():
    """A zone that fails is logged, and the next one has its turn."""
    zones, _, log = await run_cron(1_800_000_000 + 1800)
    assert zones.ticks == [("a", "tick"), ("b", "tick")]
    assert [(name, fields["zone"]) for name, fields in log.lines] == [("tick.failed", "a")]


async def test_old_rows():
    """In the first minute of an hour, log lines of more than 30 days and purges and alerts of more than 90 days go."""
    hour = 1_800_000_000
    for now, count in ((hour + 59, 3), (hour + 60, 0), (hour + 3599, 0), (hour + 3600, 3)):
        _, database, _ = await run_cron(now)
        assert len(database.statements) == count
    _, database, _ = await run_cron(hour)
    assert [list(params) for _, params in database.statements] == [
        ["2026-12-16T08:00:00.000Z"],
        [hour - 90 * 86_400],
        [hour - 90 * 86_400],
    ]
