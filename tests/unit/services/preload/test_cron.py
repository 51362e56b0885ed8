"""The minute's cron: every zone once, old rows once an hour, and a zone that fails stops nobody."""

from functools import partial
from typing import Any

from fakes.clock import ManualClock
from sluice.core.errors import NotFound, Unavailable
from sluice.core.ports import Statement
from sluice.core.remote import Message, connect
from sluice.services.preload.cron import REMEMBERED_S, PreloadCron
from sluice.services.preload.zone.calls import ZoneList
from sluice.services.preload.zone.zone_object import ZoneCalls
from unit.services.preload.world import ListLog


class TwoZones:
    """The first of two zones fails."""

    def __init__(self, error: Exception) -> None:
        self.ticks: list[tuple[str, str]] = []
        self.error = error
        self.listings = 0

    def get(self, zone_id: str) -> ZoneCalls:
        return connect(ZoneCalls, partial(self._send, zone_id))

    async def list_ids(self) -> list[str]:
        self.listings += 1
        return ["a", "b"]

    async def is_registered(self, zone_id: str) -> bool:
        return zone_id in {"a", "b"}

    async def forget(self, zone_id: str) -> None:
        self.ticks.append((zone_id, "forget"))

    async def _send(self, zone_id: str, name: str, _message: Message) -> Message:
        self.ticks.append((zone_id, name))
        if zone_id == "a":
            raise self.error
        return '{"result": null}'


class StatementList:
    def __init__(self) -> None:
        self.statements: list[Statement] = []

    async def batch(self, statements: list[Statement]) -> None:
        self.statements += statements


async def run_cron(
    now: float, error: Exception | None = None, remembered: ZoneList | None = None
) -> tuple[TwoZones, StatementList, ListLog]:
    zones = TwoZones(error or Unavailable("the object is away"))
    database, log = StatementList(), ListLog()
    unused: Any = database
    await PreloadCron(zones, remembered or ZoneList(), unused, ManualClock(now), log).run()
    return zones, database, log


async def test_every_zone():
    """A zone that fails is logged, and the next one has its turn."""
    zones, _, log = await run_cron(1_800_000_000 + 1800)
    assert zones.ticks == [("a", "tick"), ("b", "tick")]
    assert [(name, fields["zone"]) for name, fields in log.lines] == [("tick.failed", "a")]


async def test_forgotten_zone():
    """A zone whose object has no configuration leaves the list, without an error."""
    zones, _, log = await run_cron(1_800_000_000 + 1800, NotFound("the zone a is not registered"))
    assert zones.ticks == [("a", "tick"), ("a", "forget"), ("b", "tick")]
    assert log.lines == []


async def test_remembered_zones():
    """An isolate reads the list of zones every five minutes, not every minute."""
    remembered = ZoneList()
    half_past = 1_800_000_000 + 1800
    for after_s, listings in ((0, 1), (60, 0), (REMEMBERED_S - 1, 0), (REMEMBERED_S, 1)):
        zones, _, _ = await run_cron(half_past + after_s, remembered=remembered)
        assert (zones.listings, len(zones.ticks)) == (listings, 2)


async def test_old_rows():
    """In the first minute of an hour, log lines of more than 30 days, purges and alerts of more than 90 and old removals go."""
    hour = 1_800_000_000
    for now, count in ((hour + 59, 4), (hour + 60, 0), (hour + 3599, 0), (hour + 3600, 4)):
        _, database, _ = await run_cron(now)
        assert len(database.statements) == count
    _, database, _ = await run_cron(hour)
    assert [list(params) for _, params in database.statements] == [
        ["2026-12-16T08:00:00.000Z"],
        [hour - 90 * 86_400],
        [hour - 90 * 86_400],
        [hour - 2 * 365 * 86_400],
    ]
