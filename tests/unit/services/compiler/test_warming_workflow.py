"""Warming: only entries that expire soon, slowly, and never twice because of a crash."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import Unavailable
from sluice.services.compiler.workflows.defaults import warm_configurations
from sluice.services.compiler.workflows.warming import NEXT_RUN_S, CacheWarmingWorkflow
from unit.services.compiler.workflow_bench import Bench, FakeCompiler, configuration, crash_points, find_repeated

ID = "cache-warm-scheduled-1"


def params(*names: str) -> dict[str, Any]:
    return {"runId": ID, "configurations": [configuration(name) for name in names], "scheduled": True}


class Workflow(Bench):
    def __init__(self, compiler: FakeCompiler | None = None) -> None:
        super().__init__(compiler or FakeCompiler())
        self.compiled_before: dict[str, int] = {}
        self.ends: dict[str, float] = {}
        self.workflow = CacheWarmingWorkflow(
            items=self.items,
            find_expiry=self.expires_at,
            load_defaults=warm_configurations,
            params_store=self.params_store,
            reporter=self.reporter,
            clock=self.clock,
        )

    async def expires_at(self, configuration: Configuration) -> float | None:
        return self.ends.get(configuration.name)

    async def on_crash(self) -> None:
        names = ["abc"[int(item)] for item in await self.items.load_outcomes(ID)]
        self.compiled_before = {name: self.compiler.compilations[name] for name in names}

    async def outcome(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        return await self.finish(lambda steps: self.workflow.run(ID, sent, steps))


async def test_fresh_entries_are_skipped():
    """An entry that outlives the next scheduled run is skipped; one that does not, or is missing, is compiled."""
    bench = Workflow()
    next_run_s = bench.clock.now() + NEXT_RUN_S
    bench.ends = {"fresh": next_run_s + 1, "ending": next_run_s}
    bench.compiler.on_compiled = lambda: bench.clock.advance(1.5)
    outcome = await bench.outcome(params("fresh", "ending", "missing"))
    assert bench.compiler.compilations == {"ending": 1, "missing": 1}
    at_once = await Workflow().outcome(params("ending", "missing"))
    longer_ms = outcome.pop("totalDurationMs") - at_once["totalDurationMs"]
    assert longer_ms == pytest.approx(1_500 * 2, abs=20)
    assert (outcome["success"], outcome["warmed"], outcome["failed"], outcome["skipped"]) == (True, 2, 0, 1)
    assert [(result["name"], result["success"]) for result in outcome["results"]] == [
        ("ending", True),
        ("missing", True),
    ]
    assert {(order.ttl_s, order.trigger) for order in bench.compiler.orders} == {(86_400, "warming")}


async def test_all_fresh():
    """Without a stale entry the run ends at once."""
    bench = Workflow()
    bench.ends = {"a": bench.clock.now() + 86_400}
    outcome = await bench.outcome(params("a"))
    assert (outcome["warmed"], outcome["skipped"], outcome["results"]) == (0, 1, [])
    assert list(bench.step.configs) == ["check-cache-status", "update-warming-metrics"]


async def test_steps_pauses_and_events():
    """Chunks of two, one list at a time, two seconds between lists and ten between chunks."""
    bench = Workflow()
    await bench.outcome(params("a", "b", "c"))
    assert [(name, config["retries"], config["timeout"] / 1000) for name, config in bench.step.configs.items()] == [
        ("check-cache-status", {"limit": 1, "delay": 1000, "backoff": "linear"}, 30),
        ("warm-chunk-1", {"limit": 2, "delay": 30_000, "backoff": "exponential"}, 900),
        ("warm-chunk-2", {"limit": 2, "delay": 30_000, "backoff": "exponential"}, 900),
        ("update-warming-metrics", {"limit": 1, "delay": 1000, "backoff": "linear"}, 10),
    ]
    assert bench.compiler.most_at_once == 1
    assert 2.0 in bench.clock.slept
    assert bench.step.slept_ms == [10_000]
    events = [(e["type"], e.get("step"), e.get("progress"), e.get("data")) for e in await bench.events(ID)]
    assert events == [
        ("workflow:started", None, 0, {"configurationCount": 3, "scheduled": True}),
        ("workflow:step:completed", "check-cache-status", 10, {"toWarm": 3, "skipped": 0}),
        ("workflow:step:started", "warm-chunk-1", None, {"configurationCount": 2}),
        ("workflow:step:completed", "warm-chunk-1", 48, {"warmed": 2, "failed": 0}),
        ("workflow:step:started", "warm-chunk-2", None, {"configurationCount": 1}),
        ("workflow:step:completed", "warm-chunk-2", 85, {"warmed": 1, "failed": 0}),
        ("workflow:completed", None, 100, {"warmed": 3, "failed": 0, "skipped": 0}),
    ]
    assert (await bench.read_published("workflow:cache-warm:metrics"))["completed"] == 1


async def test_defaults():
    """Without configurations the popular lists are warmed."""
    bench = Workflow()
    await bench.outcome({})
    assert set(bench.compiler.compilations) == {"EasyList", "EasyPrivacy", "AdGuard Base"}


async def test_malformed_variable():
    """Lists that the request names are warmed although WARM_CONFIGURATIONS is malformed; a run without lists says so."""
    bench = Workflow()
    bench.workflow = replace(bench.workflow, load_defaults=partial(warm_configurations, "{"))
    assert (await bench.outcome(params("a")))["warmed"] == 1
    assert "WARM_CONFIGURATIONS" in (await bench.outcome({}))["error"]


async def test_a_failed_list_does_not_stop_the_others():
    """The failed list has a reason, and the others are warmed."""
    bench = Workflow(FakeCompiler({"a": Unavailable("down")}))
    outcome = await bench.outcome(params("a", "b"))
    assert (outcome["warmed"], outcome["failed"]) == (1, 1)
    assert outcome["results"][0]["error"] == "down"


async def test_bad_parameters():
    """An invalid configuration fails the run with its field."""
    outcome = await Workflow().outcome({"configurations": [{"name": "x"}]})
    assert (outcome["success"], outcome["error"]) == (False, "configurations[0].sources is required")


async def test_crash_at_any_operation():
    """Every stale list is warmed in the end; none that was stored is compiled again."""
    sent = params("a", "b", "c")
    whole = Workflow()
    expected = await whole.outcome(sent)
    counts = {name: len(fake.operations) for name, fake in whole.fakes.items()}
    for name, number, before in crash_points(counts):
        bench = Workflow()
        bench.fakes[name].fail_at(number, before=before)
        outcome = await bench.outcome(sent)
        assert {**outcome, "totalDurationMs": 0} == {**expected, "totalDurationMs": 0}
        assert {item: bench.compiler.compilations[item] for item in bench.compiled_before} == bench.compiled_before
        assert find_repeated(await bench.events(ID)) == []
