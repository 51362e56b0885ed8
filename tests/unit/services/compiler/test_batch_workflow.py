"""A batch in chunks of three: a bad item costs none of the others, a crash costs none that is done."""

from collections.abc import Mapping
from typing import Any

from fakes.binding import JsError
from fakes.workflows import FakeStep, NonRetryableError
from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import Unavailable
from sluice.platform.workflows import Steps
from sluice.services.compiler.workflows.batch import ALL_FAILED, BatchCompilationWorkflow
from sluice.services.compiler.workflows.batch_items import Item
from sluice.services.compiler.workflows.params_store import MAX_INLINE_BYTES
from unit.services.compiler.workflow_bench import Bench, FakeCompiler, configuration, crash_points, repeated

ID = "wf-batch-1-abc"
NAMES = ("a", "b", "c", "d")


def params(*names: str, **more: Any) -> dict[str, Any]:
    requests = [{"id": f"id-{name}", "configuration": configuration(name)} for name in names]
    return {"batchId": ID, "requests": requests, "queuedAt": 1, **more}


class Workflow(Bench):
    def __init__(self, compiler: FakeCompiler | None = None) -> None:
        super().__init__(compiler or FakeCompiler())
        self.done: dict[str, int] = {}
        self.workflow = BatchCompilationWorkflow(
            items=self.items, params_store=self.params_store, reporter=self.reporter
        )

    async def crashed(self) -> None:
        names = [item.removeprefix("id-") for item in await self.items.load_outcomes(ID)]
        self.done = {name: self.compiler.made[name] for name in names}

    async def outcome(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return await self.finished(lambda steps: self.workflow.run(ID, given, steps))


async def test_success():
    """All items are told in order, without their rules."""
    bench = Workflow()
    outcome = await bench.outcome(params(*NAMES))
    assert outcome.pop("totalDurationMs") >= 0
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
    assert {(call["ttl_s"], call["trigger"]) for call in bench.compiler.calls} == {(86_400, "workflow")}


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
    assert (await bench.kept("workflow:batch:metrics"))["completed"] == 1
    assert [point[0] for point in bench.analytics.points] == [
        "workflow_started",
        "workflow_completed",
        "batch_compilation",
    ]


async def test_bad_items_are_rejected():
    """The rest run; the bad one says which field is wrong."""
    bench = Workflow(FakeCompiler({"c": Unavailable("down")}))
    given = params("a", "c")
    given["requests"].insert(1, {"id": "bad", "configuration": {"name": "bad", "sources": []}})
    outcome = await bench.outcome(given)
    assert [(result["id"], result["success"], result.get("error")) for result in outcome["results"]] == [
        ("id-a", True, None),
        ("bad", False, "sources needs at least 1"),
        ("id-c", False, "down"),
    ]
    assert (outcome["success"], outcome["successful"], outcome["failed"]) == (True, 1, 2)


async def test_none_valid():
    """A batch of nothing but mistakes is told as such and runs nothing."""
    bench = Workflow()
    given = {"requests": [{"id": "x", "configuration": {}}, {"id": "y", "configuration": {"name": "y"}}]}
    outcome = await bench.outcome(given)
    assert (outcome["success"], outcome["error"], outcome["failed"]) == (False, ALL_FAILED, 2)
    assert [result["id"] for result in outcome["results"]] == ["x", "y"]
    assert (await bench.types(ID))[-1] == "workflow:failed"
    assert bench.compiler.calls == []


async def test_malformed_envelope():
    """Parameters that are no batch fail with the field."""
    outcome = await Workflow().outcome({"requests": []})
    assert (outcome["success"], outcome["error"]) == (False, "requests needs at least 1")


async def test_content_goes_with_its_item():
    """What was sent along reaches the compilation of its item alone."""
    bench = Workflow()
    given = params("a", "b")
    given["requests"][1]["preFetchedContent"] = {"x": "||x^"}
    await bench.outcome(given)
    assert {call["name"]: call["content"] for call in bench.compiler.calls} == {"a": {}, "b": {"x": "||x^"}}


async def test_large_batch():
    """What is too large for the engine stands in the bucket until the end."""
    bench = Workflow()
    given = params("a")
    given["requests"][0]["preFetchedContent"] = {"x": "y" * (MAX_INLINE_BYTES + 1)}
    packed = await bench.params_store.store(ID, given)
    assert "requests" not in packed
    assert (await bench.outcome(packed))["successful"] == 1
    assert [found.key async for found in bench.bucket.objects()] == []


async def test_a_lost_chunk_does_not_take_the_others_along():
    """Of a chunk whose step failed for good, the items that were done count; the others tell why not."""
    bench = Workflow()

    class Deaf(FakeStep):
        def do(self, name: str, *, config: dict[str, Any]) -> Any:
            decorate = super().do(name, config=config)
            if name != "compile-chunk-1":
                return decorate

            def failing(_work: Any) -> Any:
                async def run() -> Any:
                    done = Item("id-a", Configuration.model_validate(configuration("a")))
                    await bench.items.run(ID, [done], ttl_s=1, trigger="sync")
                    raise JsError("PythonError: Traceback\nsluice.core.errors.Unavailable: D1 is down")

                return run

            return failing

    outcome = await bench.workflow.run(ID, params(*NAMES), Steps(Deaf(), NonRetryableError))
    assert [result["success"] for result in outcome["results"]] == [True, False, False, True]
    assert outcome["results"][1]["error"] == "compile-chunk-1: D1 is down"
    failed = [event["step"] for event in await bench.events(ID) if event["type"] == "workflow:step:failed"]
    assert failed == ["compile-chunk-1"]
    assert (await bench.types(ID))[-1] == "workflow:completed"


async def test_crash_at_any_operation():
    """Every item is done in the end; none that was recorded before the crash is compiled again."""
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
        assert {item: bench.compiler.made[item] for item in bench.done} == bench.done
        events = await bench.events(ID)
        assert repeated(events) == []
        assert events[-1]["type"] == "workflow:completed"
