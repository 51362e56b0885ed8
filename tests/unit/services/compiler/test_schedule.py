"""The crons: warming every six hours, health checks, sweeps and clean-up every hour."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any

import pytest

from fakes.clock import ManualClock
from sluice.core.errors import Invalid, NotAccepted, Unavailable
from sluice.services.compiler.cron import WARMING_CRON, CompilerCron
from sluice.services.compiler.guard.idempotency import Ticket
from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations
from sluice.services.compiler.workflows.starter import create_patiently
from unit.services.compiler.test_jobs import message
from unit.services.compiler.test_workflow_api import Api
from unit.services.compiler.world import World

HOURLY = "0 * * * *"


class Store:
    def __init__(self) -> None:
        self.calls = 0

    async def delete_expired(self) -> None:
        self.calls += 1


async def ignore_lists(_scheduled_ms: int) -> None:
    """No list is due."""


def schedule(world: World, api: Api, stores: list[Store]) -> CompilerCron:
    return CompilerCron(
        starter=api.starter,
        jobs=world.jobs,
        configurations=warm_configurations,
        sources=health_sources,
        stores=stores,
        run_due_lists=ignore_lists,
        log=world.log,
    )


def instances(api: Api) -> dict[str, list[Any]]:
    return {kind: list(engine.instances) for kind, engine in api.engines.items() if engine.instances}


async def test_warming():
    """The six-hour cron starts the warming of its time and nothing else."""
    world, api, stores = World(), Api(), [Store()]
    await schedule(world, api, stores).run(WARMING_CRON, 1_800_000_000_000)
    assert instances(api) == {"cache-warming": ["cache-warm-scheduled-1800000000000"]}
    assert stores[0].calls == 0


async def test_hourly():
    """The hourly cron starts a health check, resends lost jobs and cleans every store."""
    world, api, stores = World(), Api(), [Store(), Store()]
    await world.jobs.accept(message())
    world.clock.advance(31)
    await schedule(world, api, stores).run(HOURLY, 1_800_000_000_000)
    assert instances(api) == {"health-monitoring": ["health-check-scheduled-1800000000000"]}
    assert len(world.sent) == 2
    assert [store.calls for store in stores] == [1, 1]


async def test_malformed_variable_does_not_stop_the_cleaning():
    """If HEALTH_SOURCES cannot be read, no check is started, and everything else is done and the mistake is logged."""
    world, api, stores = World(), Api(), [Store(), Store()]
    broken = replace(schedule(world, api, stores), sources=partial(health_sources, "not JSON"))
    await broken.run("0 * * * *", 1_800_000_000_000)
    assert instances(api) == {}
    assert [store.calls for store in stores] == [1, 1]
    assert "schedule.failed" in world.log.names()


@pytest.mark.parametrize("cron", [WARMING_CRON, HOURLY])
async def test_start_that_is_lost_is_repeated(cron: str, monkeypatch: pytest.MonkeyPatch):
    """What a cron could not start is tried again until it exists; nobody else would ask for it."""
    world, api = World(), Api()
    engine = api.engines["cache-warming" if cron == WARMING_CRON else "health-monitoring"]
    engine.full = True
    sleep = api.clock.sleep

    async def make_room(seconds: float) -> None:
        engine.full = engine.full and seconds < 10
        await sleep(seconds)

    monkeypatch.setattr(api.clock, "sleep", make_room)
    await schedule(world, api, []).run(cron, 1_800_000_000_000)
    assert len(engine.instances) == 1
    assert world.log.names().count("schedule.failed") == 0


class Creation:
    """Creates an instance, after so many failures."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.tries = 0

    async def __call__(self) -> None:
        self.tries += 1
        if self.failures:
            raise self.failures.pop(0)


DOWN = Unavailable("the engine is down")


@pytest.mark.parametrize(
    ("failures", "tries", "error"),
    [
        ([], 1, None),
        ([DOWN], 2, None),
        ([DOWN, DOWN], 3, None),
        ([DOWN, DOWN, DOWN], 3, Unavailable),
        ([Invalid("odd")], 1, Invalid),
        ([DOWN, Invalid("odd")], 2, Invalid),
    ],
    ids=str,
)
async def test_start_that_nobody_would_ask_for_again(
    failures: list[Exception], tries: int, error: type[Exception] | None
):
    """It is created once; an outage is waited for twice, and what cannot work is not tried again."""
    clock, create = ManualClock(), Creation(*failures)
    if error:
        with pytest.raises(error):
            await create_patiently(create, clock)
    else:
        await create_patiently(create, clock)
    assert (create.tries, clock.slept) == (tries, [5.0, 25.0][: tries - 1])


async def test_workflow_that_cannot_be_stored():
    """Its caller is told that nothing was started, and why when trying again would not help; its parameters are deleted."""
    for failure, expected in ((DOWN, NotAccepted), (Invalid("odd"), Invalid)):
        api = Api()

        class Engine:
            create = staticmethod(raiser(failure))

        starter = replace(api.starter, instances={"compilation": Engine()})  # type: ignore[dict-item]
        content = {"preFetchedContent": {"https://lists.example/a": "||a.example^"}}
        with pytest.raises(expected):
            await starter.start_requested("compilation", "requestId", content, Ticket("1-2", is_repeatable=False))
        assert [stored.key async for stored in api.bucket.objects()] == []
        with pytest.raises(expected):
            await starter.start_requested("compilation", "requestId", content, Ticket("1-2", is_repeatable=True))
        assert len([stored.key async for stored in api.bucket.objects()]) == 1, "another request may use it"


def raiser(error: Exception) -> Callable[..., Awaitable[None]]:
    async def fail(*_arguments: object) -> None:
        raise error

    return fail


NUMBERS = count(1)
HOUR_S, DAY_S = 3600, 24 * 3600
# Each kind of row by the time from which it is kept, and for how long.
LIVES: dict[tuple[str, str], tuple[int, dict[str, object]]] = {
    ("compile_jobs", "finished_ms"): (7 * DAY_S, {"state": "completed"}),
    ("compile_items", "recorded_ms"): (7 * DAY_S, {"success": 0, "cached": 0}),
    ("dead_letters", "failed_ms"): (7 * DAY_S, {}),
    ("spent_fetches", "at_ms"): (7 * DAY_S, {}),
    ("compilation_metadata", "at_ms"): (30 * DAY_S, {}),
    ("workflow_event_pages", "last_ms"): (HOUR_S, {}),
    ("workflow_runs", "started_ms"): (30 * DAY_S, {"type": "batch"}),
    ("source_attempts", "at_ms"): (30 * DAY_S, {"success": 0, "recheck": 0}),
    ("source_health", "last_attempt_ms"): (30 * DAY_S, {"status": "healthy"}),
    ("health_alerts", "opened_ms"): (30 * DAY_S, {}),
    ("published_builds", "requested_ms"): (90 * DAY_S, {"started_ms": 0, "ended_ms": 0}),
    ("published_counts", "at_ms"): (90 * DAY_S, {}),
    ("published_alerts", "created_ms"): (90 * DAY_S, {}),
}


async def add_row(world: World, table: str, **values: object) -> None:
    """Add a row whose other members are anything."""
    columns: list[Any] = await world.database.all(f"select * from pragma_table_info('{table}')")  # noqa: S608
    for column in columns:
        if (column["notnull"] or column["pk"]) and column["dflt_value"] is None and column["name"] not in values:
            is_number = column["type"] in {"INTEGER", "REAL"}
            values[column["name"]] = next(NUMBERS) if is_number else f"any{next(NUMBERS)}"
    names, marks = ", ".join(values), ", ".join("?" * len(values))
    row: list[Any] = list(values.values())
    await world.database.run(f"insert into {table} ({names}) values ({marks})", *row)  # noqa: S608 - own tables


@pytest.mark.parametrize(("table", "column"), list(LIVES))
async def test_everything_stored_ends(table: str, column: str):
    """The hourly cron deletes what is older than its kind may become, and nothing that is a millisecond younger."""
    world = World()
    now_ms = round(world.clock.now() * 1000)
    life_s, values = LIVES[table, column]
    for age_ms in (0, life_s * 1000, life_s * 1000 + 1):
        await add_row(world, table, **values | {column: now_ms - age_ms})
    for store in world.service.schedule.stores:
        await store.delete_expired()
    rows: list[Any] = await world.database.all(f"select {column} as at_ms from {table} order by 1")  # noqa: S608 - own tables
    assert [now_ms - row["at_ms"] for row in rows] == [life_s * 1000, 0]
