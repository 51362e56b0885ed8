"""A batch in chunks of three: a bad item does not affect the others, and a crash repeats no finished item."""

from collections.abc import Mapping
from typing import Any

import pytest

from fakes.binding import JsError
from fakes.workflows import FakeStep, NonRetryableError
from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import Unavailable
from sluice.platform.workflows import Steps
from sluice.services.compiler.workflows.batch import ALL_FAILED
from sluice.services.compiler.workflows.batch_items import Item
from sluice.services.compiler.workflows.params_store import MAX_INLINE_BYTES
from unit.services.compiler.workflow_bench import Bench, FakeCompiler, configuration, crash_points, find_repeated
from unit.services.compiler.world import order

ID = "wf-batch-1-abc"
NAMES = ("a", "b", "c", "d")


def params(*names: str, **more: Any) -> dict[str, Any]:
    requests = [{"id": f"id-{name}", "configuration": configuration(name)} for name in names]
    return {"batchId": ID, "requests": requests, "queuedAt": 1, **more}


class Workflow(Bench):
    def __init__(self, compiler: FakeCompiler | None = None) -> None:
        super().__init__(compiler or FakeCompiler())
        self.compiled_before: dict[str, int] = {}
        self.workflow = self.service.workflows.batch

    async def on_crash(self) -> None:
        names = [item.removeprefix("id-") for item in await self.items.load_outcomes(ID)]
        self.compiled_before = {name: self.compiler.compilations[name] for name in names}

    async def outcome(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        return await self.finish(lambda steps: self.workflow.run(ID, sent, steps))


async def test_success():
    """All items are reported in order, without their rules."""
    bench = Workflow()
    outcome = await bench.outcome(params(*NAMES))
    slow = Workflow()
    slow.compiler.on_compiled = lambda: slow.clock.advance(1.5)
    # Events of the same moment are a millisecond apart.
    longer_ms = (await slow.outcome(params(*NAMES)))["totalDurationMs"] - outcome.pop("totalDurationMs")
    assert longer_ms == pytest.approx(1_500 * len(NAMES), abs=20)
    assert outcome == {
        "success": True,
        "batchId": ID,
        "totalRequests": 4,
        "successful": 4,
        "failed": 0,
        "results": [
            {
                "id": f"id-{name}",
                "success": True,
                "durationMs": 0,
                "ruleCount": 7,
                "cacheKey": f"cache:{name}",
                "cached": False,
            }
            for name in NAMES
        ],
    }
    assert {(order.ttl_s, order.trigger) for order in bench.compiler.orders} == {(86_400, "workflow")}


async def test_steps_and_events():
    """Chunks of three, each a step with its own events; progress 10, then to 80, then 100."""
    bench = Workflow()
    await bench.outcome(params(*NAMES))
    assert [(name, config["retries"], config["timeout"] / 1000) for name, config in bench.step.configs.items()] == [
        ("validate-batch", {"limit": 1, "delay": 1000, "backoff": "linear"}, 30),
        ("compile-chunk-1", {"limit": 2, "delay": 5000, "backoff": "exponential"}, 600),
        ("compile-chunk-2", {"limit": 2, "delay": 5000, "backoff": "exponential"}, 600),
        ("update-batch-metrics", {"limit": 1, "delay": 1000, "backoff": "linear"}, 10),
    ]
    events = [(e["type"], e.get("step"), e.get("progress"), e.get("data")) for e in await bench.events(ID)]
    counts = {"totalRequests": 4, "successful": 4, "failed": 0}
    assert events == [
        ("workflow:started", None, 0, {"batchSize": 4, "requestCount": 4}),
        ("workflow:step:completed", "validate-batch", 10, {"validCount": 4, "rejectedCount": 0}),
        ("workflow:step:started", "compile-chunk-1", None, {"itemCount": 3}),
        ("workflow:step:completed", "compile-chunk-1", 45, {"chunkSuccess": 3, "chunkFailed": 0}),
        ("workflow:step:started", "compile-chunk-2", None, {"itemCount": 1}),
        ("workflow:step:completed", "compile-chunk-2", 80, {"chunkSuccess": 1, "chunkFailed": 0}),
        ("workflow:completed", None, 100, counts),
    ]
    assert {event["workflowType"] for event in await bench.events(ID)} == {"batch"}
    assert (await bench.read_published("workflow:batch:metrics"))["completed"] == 1
    assert [point[0] for point in bench.analytics.points] == [
        "workflow_started",
        "workflow_completed",
        "batch_compilation",
    ]


async def test_bad_items_are_rejected():
    """The other items run; the bad one names the wrong field."""
    bench = Workflow(FakeCompiler({"c": Unavailable("down")}))
    sent = params("a", "c")
    sent["requests"].insert(1, {"id": "bad", "configuration": {"name": "bad", "sources": []}})
    outcome = await bench.outcome(sent)
    assert [(result["id"], result["success"], result.get("error")) for result in outcome["results"]] == [
        ("id-a", True, None),
        ("bad", False, "sources needs at least 1"),
        ("id-c", False, "down"),
    ]
    assert (outcome["success"], outcome["successful"], outcome["failed"]) == (True, 1, 2)


async def test_none_valid():
    """A batch without a valid item fails with a reason and compiles nothing."""
    bench = Workflow()
    sent = {"requests": [{"id": "x", "configuration": {}}, {"id": "y", "configuration": {"name": "y"}}]}
    outcome = await bench.outcome(sent)
    assert (outcome["success"], outcome["error"], outcome["failed"]) == (False, ALL_FAILED, 2)
    assert [result["id"] for result in outcome["results"]] == ["x", "y"]
    assert (await bench.types(ID))[-1] == "workflow:failed"
    assert bench.compiler.orders == []


async def test_malformed_envelope():
    """Parameters that are not a batch fail with the field."""
    outcome = await Workflow().outcome({"requests": []})
    assert (outcome["success"], outcome["error"]) == (False, "requests needs at least 1")


async def test_content_goes_with_its_item():
    """The content of an item reaches the compilation of that item alone."""
    bench = Workflow()
    sent = params("a", "b")
    sent["requests"][1]["preFetchedContent"] = {"x": "||x^"}
    await bench.outcome(sent)
    assert {order.configuration.name: order.content for order in bench.compiler.orders} == {"a": {}, "b": {"x": "||x^"}}


async def test_large_batch():
    """Parameters that are too large for the engine are in the bucket until the end."""
    bench = Workflow()
    sent = params("a")
    sent["requests"][0]["preFetchedContent"] = {"x": "y" * (MAX_INLINE_BYTES + 1)}
    start_params = await bench.params_store.store(ID, sent)
    assert "requests" not in start_params
    assert (await bench.outcome(start_params))["successful"] == 1
    assert [stored.key async for stored in bench.bucket.objects()] == []


async def test_failed_chunk_does_not_affect_the_others():
    """Items of a failed step that were compiled count; the others have a reason."""
    bench = Workflow()

    class Deaf(FakeStep):
        def do(self, name: str, *, config: dict[str, Any]) -> Any:
            decorate = super().do(name, config=config)
            if name != "compile-chunk-1":
                return decorate

            def fail_step(_work: Any) -> Any:
                async def run() -> Any:
                    item = Item("id-a", order(Configuration.model_validate(configuration("a"))))
                    await bench.items.run(ID, [item])
                    raise JsError("PythonError: Traceback\nsluice.core.errors.Unavailable: D1 is down")

                return run

            return fail_step

    outcome = await bench.workflow.run(ID, params(*NAMES), Steps(Deaf(), NonRetryableError))
    assert [result["success"] for result in outcome["results"]] == [True, False, False, True]
    assert outcome["results"][1]["error"] == "compile-chunk-1: D1 is down"
    failed = [event["step"] for event in await bench.events(ID) if event["type"] == "workflow:step:failed"]
    assert failed == ["compile-chunk-1"]
    assert (await bench.types(ID))[-1] == "workflow:completed"


async def test_crash_at_any_operation():
    """Every item is compiled in the end; items stored before the crash are not compiled again."""
    whole = Workflow()
    expected = await whole.outcome(params(*NAMES))
    counts = {name: len(fake.operations) for name, fake in whole.fakes.items()}
    points = list(crash_points(counts))
    assert len(points) >= 40
    for name, number, before in points:
        bench = Workflow()
        bench.fakes[name].fail_at(number, before=before)
        outcome = await bench.outcome(params(*NAMES))
        assert {**outcome, "totalDurationMs": 0} == {**expected, "totalDurationMs": 0}
        assert {item: bench.compiler.compilations[item] for item in bench.compiled_before} == bench.compiled_before
        events = await bench.events(ID)
        assert find_repeated(events) == []
        assert events[-1]["type"] == "workflow:completed"


async def test_benchmark():
    """An item with `benchmark` is compiled with it, the others are not."""
    bench = Workflow()
    sent = params("a", "b")
    sent["requests"][1]["benchmark"] = True
    await bench.outcome(sent)
    assert [order.configuration.name for order in bench.compiler.orders if order.caller_options.benchmark] == ["b"]
