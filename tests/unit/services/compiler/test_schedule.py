"""The crons: warming every six hours, health checks, sweeps and clean-up every hour."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from sluice.services.compiler.cron import WARMING_CRON, CompilerCron
from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations
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
