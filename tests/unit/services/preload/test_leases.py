"""A lease names its attempt: who stalls past it settles nothing of another's work."""

from collections.abc import Callable
from typing import Any

import pytest

from fakes.objects import FakeStorage
from sluice.core.preload.queue_entries import QueueEntry
from sluice.core.preload.warming_outcomes import Failed, FetchAgain, Gone, OriginHealth, Outcome, Retry, Stored
from sluice.platform.durable_objects import Sql
from sluice.services.preload.warming.drain import LEASE_S
from sluice.services.preload.warming.settle_page import Attempt
from sluice.services.preload.zone.schema import STATEMENTS, create_tables
from unit.services.preload.world import SITE, World

OUTCOMES: dict[str, Callable[[], Outcome]] = {
    "stored": Stored,
    "gone": lambda: Gone("status 404"),
    "retry": lambda: Retry("status 500"),
    "failed": lambda: Failed("status 403"),
    "again": lambda: FetchAgain("purged"),
}


async def start() -> tuple[World, str]:
    world = await World().register()
    return world, await world.enqueue("/a")


def lease(world: World) -> QueueEntry:
    entry = world.services.queue.lease(world.clock.now(), LEASE_S)
    assert entry is not None
    return entry


def settle(world: World, entry: QueueEntry, outcome: Outcome) -> None:
    attempt = Attempt(outcome, OriginHealth.NEUTRAL, 200, 5.0, None)
    world.services.settler.settle(entry, world.zone_config, attempt, era=0, now=world.clock.now())


def show_rows(world: World) -> dict[str, Any]:
    tables = ("entry", "membership", "batch", "dead", "outbox", "result", "page", "late", "queue_tally")
    return {table: world.sql.rows(f"SELECT * FROM {table}") for table in tables}  # noqa: S608


@pytest.mark.parametrize("late", OUTCOMES)
@pytest.mark.parametrize("in_time", ["stored", "retry", "failed"])
async def test_late_end(late: str, in_time: str):
    """The first attempt ends while the second one holds the page, or after it: nothing changes by that."""
    world, batch_id = await start()
    first = lease(world)
    world.clock.advance(LEASE_S + 1)
    world.services.queue.reclaim(world.clock.now())
    second = lease(world)
    assert (second.id, second.lease) == (first.id, first.lease + 1)
    before = show_rows(world)
    settle(world, first, OUTCOMES[late]())
    assert show_rows(world) == before
    settle(world, second, OUTCOMES[in_time]())
    before = show_rows(world)
    settle(world, first, OUTCOMES[late]())
    assert show_rows(world) == before
    batch = await world.batch(batch_id)
    results = ("queued", "done", "failed", "gone", "skipped", "dropped", "cancelled")
    assert batch["total"] == 1 == sum(batch[name] for name in results)  # type: ignore[literal-required]
    assert len(before["result"]) == 1


async def test_nobody_else_has_begun():
    """An attempt that ends after its lease, when nobody has leased the page since, is what became of the page."""
    world, batch_id = await start()
    first = lease(world)
    world.clock.advance(LEASE_S + 1)
    world.services.queue.reclaim(world.clock.now())
    settle(world, first, Stored())
    assert (await world.batch(batch_id))["done"] == 1
    assert world.services.queue.depth == 0


async def test_page_that_is_wanted_again():
    """A page that starts anew after it was wanted again has another lease than any before."""
    world, _ = await start()
    first = lease(world)
    world.clock.advance(LEASE_S + 1)
    world.services.queue.reclaim(world.clock.now())
    second = lease(world)
    world.services.queue.mark_wanted_again([f"{SITE}/a"])
    settle(world, second, Stored())
    third = lease(world)
    settle(world, first, Stored())
    assert world.services.queue.is_held(third)
    assert world.services.queue.depth == 1


def test_tables_of_an_earlier_version():
    """A queue of the version before leases had numbers is taken over with its pages."""
    sql = Sql(FakeStorage())
    for statement in STATEMENTS:
        sql.execute(statement.replace("      lease INTEGER NOT NULL DEFAULT 0,\n", ""))
    assert "lease" not in str(sql.value("SELECT sql FROM sqlite_master WHERE name = 'entry'"))
    sql.run("INSERT INTO entry (url, variant, priority, enqueued_at, trigger_name) VALUES ('u', '', 1, 0, 'manual')")
    for _ in range(2):
        create_tables(sql)
    assert sql.rows("SELECT url, lease FROM entry") == [{"url": "u", "lease": 0}]
