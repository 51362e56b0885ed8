"""One list through its four steps, and what remains if something fails."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from fakes.binding import JsError
from fakes.workflows import FakeStep, NonRetryableError
from sluice.core.compiler.configuration import Configuration
from sluice.core.compiler.events import Emit
from sluice.core.compiler.sources.source_errors import SourceMissing, to_plain_error
from sluice.core.errors import SluiceError, TimedOut, Unavailable
from sluice.platform.workflows import Steps
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import CompressedList
from sluice.services.compiler.cache.handover import StepHandover
from sluice.services.compiler.cache.list_cache import cache_key
from sluice.services.compiler.workflows.compilation import CompilationWorkflow
from sluice.services.compiler.workflows.params_store import MAX_INLINE_BYTES
from unit.core.compiler.scripted import compiler
from unit.services.compiler.workflow_bench import Bench, configuration, crash_points, find_repeated

ID = "wf-compile-1-abc"
LISTED = configuration("list") | {"transformations": ["RemoveComments", "Deduplicate"]}
URL = LISTED["sources"][0]["source"]
PARAMS = {"requestId": ID, "configuration": LISTED, "queuedAt": 1_800_000_000_000}
STORY = [
    "workflow:started",
    "workflow:step:completed",
    "workflow:step:started",
    "workflow:progress",
    "source:fetch:started",
    "source:fetch:completed",
    "workflow:progress",
    "workflow:progress",
    "transformation:started",
    "transformation:completed",
    "transformation:started",
    "transformation:completed",
    "workflow:progress",
    "workflow:progress",
    "workflow:progress",
    "workflow:step:completed",
    "cache:stored",
    "workflow:completed",
]


class FakeListCompiler:
    """The real compiler over scripted sources, and a cache that is a dictionary."""

    def __init__(self, files: Mapping[str, Any]) -> None:
        self.files = files
        self.compilations: Counter[str] = Counter()
        self.cache: dict[str, tuple[CompressedList, int]] = {}
        self.fetches: list[int] = []
        self.on_compiled: Callable[[], None] = lambda: None

    async def compile(self, order: CompileOrder, *, emit: Emit) -> CompressedList:
        configuration, content = order.configuration, order.content
        self.fetches.append(order.allowance.left)
        order.allowance.used += 30
        assert order.trigger == "workflow"
        try:
            result = await compiler(self.files, emit=emit).compile_with_metrics(configuration, content=content)
        except SluiceError as error:
            raise to_plain_error(error) from error
        self.compilations[configuration.name] += 1
        self.on_compiled()
        key = "cache:private" if content else cache_key(configuration)
        return CompressedList.compress(
            result, cache_key=key, name=configuration.name, compiled_at="2027-01-15T08:00:00.000Z"
        )

    async def store(self, compiled: CompressedList, ttl_s: int) -> None:
        self.cache[compiled.summary.cache_key] = (compiled, ttl_s)


class Workflow(Bench):
    def __init__(self, files: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        self.list_compiler = FakeListCompiler(
            {URL: "! comment\n||a.example^\n||a.example^\n"} if files is None else files
        )
        self.handover = StepHandover(bucket=self.bucket, clock=self.clock)
        self.workflow = CompilationWorkflow(
            compiler=self.list_compiler,
            handover=self.handover,
            spent=self.spent,
            params_store=self.params_store,
            reporter=self.reporter,
            clock=self.clock,
        )

    async def outcome(self, params: Mapping[str, Any] = PARAMS) -> dict[str, Any]:
        return await self.finish(lambda steps: self.workflow.run(ID, params, steps))

    async def left_in_bucket(self) -> list[str]:
        return [stored.key async for stored in self.bucket.objects()]


async def test_success():
    """The result has the name, count and key of the list; the rules are in the cache for a day, nowhere else."""
    bench = Workflow()
    bench.list_compiler.on_compiled = lambda: bench.clock.advance(1.5)
    outcome = await bench.outcome()
    key = cache_key(Configuration.model_validate(LISTED))
    result, ttl_s = bench.list_compiler.cache[key]
    assert ttl_s == 86_400
    at_once = await Workflow().outcome()
    assert outcome["totalDurationMs"] - at_once["totalDurationMs"] == pytest.approx(1_500, abs=20)
    assert {name: outcome[name] for name in ("success", "requestId", "configName", "ruleCount", "cacheKey")} == {
        "success": True,
        "requestId": ID,
        "configName": "list",
        "ruleCount": result.summary.rule_count,
        "cacheKey": key,
    }
    assert set(outcome["steps"]) == {"validation", "sourceFetch", "transformation", "compilation", "caching"}
    assert outcome["steps"]["sourceFetch"]["sourceCount"] == 1
    assert outcome["steps"]["transformation"]["transformationCount"] == 2
    assert "rules" not in str(outcome)
    assert await bench.left_in_bucket() == []


async def test_steps_are_as_documented():
    """Steps have the documented names, retries, delays, backoff and timeouts."""
    bench = Workflow()
    await bench.outcome()
    policies = {
        name: (
            config["retries"]["limit"],
            config["retries"]["delay"] / 1000,
            config["retries"]["backoff"],
            config["timeout"] / 1000,
        )
        for name, config in bench.step.configs.items()
    }
    assert policies == {
        "validate": (1, 1, "linear", 30),
        "compile-sources": (3, 30, "exponential", 300),
        "cache-result": (2, 2, "linear", 30),
        "update-metrics": (1, 1, "linear", 10),
    }


async def test_events_and_progress():
    """All documented events come in order, with progress 10, 70, 90 and 100."""
    bench = Workflow()
    await bench.outcome()
    events = await bench.events(ID)
    assert [event["type"] for event in events] == STORY
    steps = [(event["step"], event["progress"]) for event in events if event["type"] == "workflow:step:completed"]
    assert steps == [("validate", 10), ("compile-sources", 70)]
    [stored] = [event for event in events if event["type"] == "cache:stored"]
    assert stored["progress"] == 90
    progress = [event["progress"] for event in events if "progress" in event]
    assert progress == sorted(progress)
    assert progress[-1] == 100


async def test_figures_are_published():
    """The run is counted, in the dataset and under the documented key."""
    bench = Workflow()
    await bench.outcome()
    assert [point[0] for point in bench.analytics.points] == ["workflow_started", "workflow_completed"]
    assert (await bench.read_published("workflow:compile:metrics"))["completed"] == 1


async def test_bad_configuration():
    """It fails in the first step, is not retried, and the outcome has the error."""
    bench = Workflow()
    outcome = await bench.outcome(PARAMS | {"configuration": {"name": "x", "sources": []}})
    assert (outcome["success"], outcome["failedStep"]) == (False, "validate")
    assert outcome["error"] == "configuration.sources needs at least 1"
    assert await bench.types(ID) == ["workflow:started", "workflow:step:failed", "workflow:failed"]
    assert bench.list_compiler.compilations == {}


async def test_source_is_down():
    """An outage is retried as often as documented and then reported; no event of a source is lost."""
    bench = Workflow({URL: Unavailable("down")})
    outcome = await bench.outcome()
    assert (outcome["success"], outcome["failedStep"]) == (False, "compile-sources")
    assert "down" in outcome["error"]
    types = Counter(await bench.types(ID))
    assert types["source:fetch:failed"] == 4
    assert (types["workflow:step:failed"], types["workflow:failed"]) == (1, 1)
    assert [point[0] for point in bench.analytics.points][-1] == "workflow_failed"
    assert [name for name, _ in bench.log.errors] == ["workflow.failed"]


async def test_source_is_missing():
    """A missing source is not retried."""
    bench = Workflow({URL: SourceMissing("gone")})
    outcome = await bench.outcome()
    assert "gone" in outcome["error"]
    assert (await bench.types(ID)).count("source:fetch:failed") == 1


async def test_private_content():
    """The list skips the caching step and is stored under a private key, which is in the outcome."""
    bench = Workflow({})
    outcome = await bench.outcome(PARAMS | {"preFetchedContent": {URL: "||b.example^\n"}})
    assert outcome["success"]
    assert outcome["cacheKey"] == "cache:private"
    assert "cache:private" in bench.list_compiler.cache
    assert "cache-result" not in bench.step.configs
    assert "cache:stored" not in await bench.types(ID)


async def test_large_parameters():
    """Parameters that are too large for the engine are in the bucket until the end."""
    bench = Workflow({})
    content = {URL: "||b.example^\n" * (MAX_INLINE_BYTES // 10)}
    packed = await bench.params_store.store(ID, PARAMS | {"preFetchedContent": content})
    assert set(packed) == {"requestId", "queuedAt", "parcel"}
    outcome = await bench.outcome(packed)
    assert outcome["success"]
    assert await bench.left_in_bucket() == []


async def test_lost_parameters():
    """Missing parameters fail the run with a clear error."""
    outcome = await Workflow().outcome({"parcel": "handover/params/x"})
    assert outcome["error"] == "the parameters handover/params/x are no longer stored; start the workflow again"


async def test_unreported_success_is_a_success():
    """If the last step cannot be stored, the list is still cached, and the log has the error."""
    bench = Workflow()

    class Deaf(FakeStep):
        def do(self, name: str, *, config: dict[str, Any]) -> Any:
            if name == "update-metrics":
                raise JsError("PythonError: Traceback\nsluice.core.errors.Unavailable: D1 is down")
            return super().do(name, config=config)

    outcome = await bench.workflow.run(ID, PARAMS, Steps(Deaf(), NonRetryableError))
    assert outcome["success"]
    assert [name for name, _ in bench.log.errors] == ["workflow.unreported"]


async def test_busy_dashboard():
    """A run does not wait long to publish its figures: they are in the database."""
    bench = Workflow()

    async def for_ever(*_args: Any, **_options: Any) -> None:
        await asyncio.Event().wait()

    bench.metrics.put_json = for_ever  # type: ignore[method-assign]
    hasty = replace(bench.reporter, patience_s=0)
    bench.workflow = replace(bench.workflow, reporter=hasty)
    assert (await bench.outcome())["success"]
    assert ("workflow.side_effect_skipped", {"what": "metrics", "waited_s": 0}) in bench.log.events
    assert bench.log.errors == []
    assert (await bench.event_log.load_metrics())["compilation"]["completed"] == 1


async def test_timed_out_step():
    """A step that takes too long fails like any other."""
    bench = Workflow({URL: TimedOut("https://lists.example did not answer within 30 s")})
    assert "did not answer" in (await bench.outcome())["error"]


async def test_pause_gets_through():
    """An error that is not a SluiceError reaches the engine."""
    bench = Workflow()

    class Paused(FakeStep):
        def do(self, name: str, *, config: dict[str, Any]) -> Any:
            raise RuntimeError(f"{name} paused by the user, {config}")

    with pytest.raises(RuntimeError, match="paused"):
        await bench.workflow.run(ID, PARAMS, Steps(Paused(), NonRetryableError))


async def test_crash_at_any_operation():
    """After a crash at any operation the list is cached, nothing is left over, and no event is stored twice."""
    whole = Workflow()
    expected = await whole.outcome()
    counts = {name: len(fake.operations) for name, fake in whole.fakes.items()}
    points = list(crash_points(counts))
    assert len(points) > 40
    for name, number, before in points:
        bench = Workflow()
        bench.fakes[name].fail_at(number, before=before)
        outcome = await bench.outcome()
        assert {**outcome, "totalDurationMs": 0, "steps": {}} == {**expected, "totalDurationMs": 0, "steps": {}}
        assert bench.list_compiler.compilations["list"] <= 2
        assert list(bench.list_compiler.cache) == [expected["cacheKey"]]
        assert await bench.left_in_bucket() == []
        events = await bench.events(ID)
        assert find_repeated(events) == []
        assert events[-1]["type"] == "workflow:completed"


async def test_all_attempts_share_the_fetches():
    """A retried step may cause only what the attempts before it have left."""
    bench = Workflow({URL: Unavailable("down")})
    await bench.outcome()
    assert bench.list_compiler.fetches == [100, 70, 40, 10]
