"""The workflows over HTTP: nothing starts that could not run, and runs can be followed."""

import json
from typing import Any

import pytest

from fakes.binding import Crash, JsError
from fakes.workflows import FakeWorkflows
from sluice.core.errors import TooManyRequests
from sluice.core.ports import HeaderPairs
from sluice.core.variables import Secret
from sluice.platform.workflows import Workflows
from sluice.services.compiler.guard.idempotency import IdempotencyKeys
from sluice.services.compiler.health.store import HealthStore
from sluice.services.compiler.http.workflows import WorkflowApi
from sluice.services.compiler.workflows.defaults import health_sources, warm_configurations
from sluice.services.compiler.workflows.params_store import MAX_INLINE_BYTES
from sluice.services.compiler.workflows.run_events import (
    WorkflowRun,
    step_completed,
    workflow_completed,
    workflow_started,
)
from sluice.services.compiler.workflows.starter import ApiType, WorkflowStarter
from sluice.services.compiler.workflows.workflow_jobs import find_workflow_job
from sluice.web import App, Reply, Request, Route, read_json
from sluice.web.admin import OperatorGate
from unit.services.compiler.workflow_bench import Bench, configuration
from unit.web.calls import call, get, parsed

TYPES: tuple[ApiType, ...] = ("compilation", "batch-compilation", "cache-warming", "health-monitoring")
TOKEN = "the-operators-token"
ITEM = {"id": "1", "configuration": configuration("a")}
SOURCE = {"name": "A", "url": "https://lists.example/a.txt"}


def routes(api: WorkflowApi) -> list[Route]:
    return [
        Route("POST", "/workflow/compile", api.start_compilation),
        Route("POST", "/workflow/batch", api.start_batch),
        Route("POST", "/workflow/cache-warm", api.start_warming),
        Route("POST", "/workflow/health-check", api.start_health_check),
        Route("GET", "/workflow/status/:type/:id", api.show_status),
        Route("GET", "/workflow/events/:id", api.show_events),
        Route("GET", "/workflow/metrics", api.show_metrics),
        Route("GET", "/health/latest", api.show_latest_health),
    ]


class Api(Bench):
    """A guard that lets every request pass until `closed` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False
        self.charged: list[int] = []
        self.engines = {kind: FakeWorkflows() for kind in TYPES}
        self.drawn = 0
        self.starter = WorkflowStarter(
            instances={kind: Workflows(engine, self.clock.sleep) for kind, engine in self.engines.items()},
            params_store=self.params_store,
            clock=self.clock,
        )
        api = WorkflowApi(
            guard=self,
            starter=self.starter,
            builds=self.starter.instances["compilation"],
            event_log=self.event_log,
            health=HealthStore(database=self.database, clock=self.clock),
            configurations=warm_configurations,
            sources=health_sources,
            keys=IdempotencyKeys(database=self.database, clock=self.clock, new_id=self.random_hex, log=self.log),
            operators=OperatorGate(Secret(TOKEN), self.clock),
            clock=self.clock,
        )
        self.app = App(routes(api), on_error=self.on_error)

    def random_hex(self) -> str:
        self.drawn += 1
        return f"{self.drawn:032x}"

    def on_error(self, error: Exception, _request: Request) -> None:
        raise AssertionError("a defect") from error

    async def charge_sources(self, _request: Request, sources: int) -> None:
        self.charged.append(sources)

    async def __call__(self, request: Request, *, max_bytes: int, optional_body: bool = False) -> Any:
        if self.closed:
            raise TooManyRequests("slow down", 60)
        if optional_body and not await request.read_body(1):
            return {}
        return await read_json(request, max_bytes=max_bytes)

    async def post(self, path: str, body: object = None, headers: HeaderPairs = ()) -> Reply:
        content = b"" if body is None else json.dumps(body).encode()
        return await self.app.handle(call("POST", path, headers, content))

    async def get(self, path: str) -> Reply:
        return await self.app.handle(get(path))

    def find_created(self, kind: ApiType) -> Any:
        [instance] = self.engines[kind].instances.values()
        return instance

    @property
    def idle(self) -> bool:
        return not any(engine.instances for engine in self.engines.values())


async def test_compile():
    """A compilation is accepted with the documented id and parameters."""
    api = Api()
    body = {"configuration": configuration("a"), "benchmark": True, "priority": "high"}
    reply = await api.post("/workflow/compile", body)
    assert reply.status == 202
    assert parsed(reply) == {
        "success": True,
        "message": "Compilation workflow started",
        "workflowId": "wf-compile-1800000000000-00000000000000000000000000000001",
        "workflowType": "compilation",
    }
    instance = api.find_created("compilation")
    assert instance.params == body | {"requestId": instance.id, "queuedAt": 1_800_000_000_000}


async def test_batch():
    """A batch reports its size; the workflow rejects an invalid configuration in it."""
    api = Api()
    reply = await api.post("/workflow/batch", {"requests": [ITEM, {"id": "2", "configuration": {}}]})
    body = parsed(reply)
    assert (reply.status, body["workflowType"], body["batchSize"]) == (202, "batch-compilation", 2)
    assert body["workflowId"].startswith("wf-batch-")
    assert api.find_created("batch-compilation").params["batchId"] == body["workflowId"]


async def test_warm():
    """The configurations of the request are warmed, or the defaults if there is no body."""
    api = Api()
    body = parsed(await api.post("/workflow/cache-warm", {"configurations": [configuration("a")]}))
    assert (body["workflowType"], body["configurationsCount"]) == ("cache-warming", 1)
    assert body["workflowId"].startswith("wf-cache-warm-")
    assert api.find_created("cache-warming").params["configurations"] == [configuration("a")]
    defaults = Api()
    assert parsed(await defaults.post("/workflow/cache-warm"))["configurationsCount"] == "default"
    names = [item["name"] for item in defaults.find_created("cache-warming").params["configurations"]]
    assert names == ["EasyList", "EasyPrivacy", "AdGuard Base"]


async def test_health_check():
    """The sources of the request are checked, or the defaults if there is no body."""
    api = Api()
    body = parsed(await api.post("/workflow/health-check", {"sources": [SOURCE], "alertOnFailure": False}))
    assert (body["workflowType"], body["sourcesCount"]) == ("health-monitoring", 1)
    assert body["workflowId"].startswith("wf-health-")
    params = api.find_created("health-monitoring").params
    assert (params["sources"], params["alertOnFailure"]) == ([SOURCE | {"expectedMinRules": 100}], False)
    defaults = Api()
    assert parsed(await defaults.post("/workflow/health-check"))["sourcesCount"] == "default"
    assert len(defaults.find_created("health-monitoring").params["sources"]) == 5


@pytest.mark.parametrize(
    ("sources", "headers", "private"),
    [
        (None, (), True),
        (None, (("Authorization", f"Bearer {TOKEN}"),), False),
        ([SOURCE], (("Authorization", f"Bearer {TOKEN}"),), True),
    ],
    ids=["stranger", "operator", "named"],
)
async def test_only_the_operator_checks_for_good(sources: Any, headers: HeaderPairs, private: bool):
    """A stranger's check changes no history and raises no alert, whichever sources it names."""
    api = Api()
    await api.post("/workflow/health-check", {"sources": sources}, headers)
    assert api.find_created("health-monitoring").params["private"] is private


async def test_wrong_token_starts_no_check():
    """Who claims to be the operator and is not learns it."""
    api = Api()
    reply = await api.post("/workflow/health-check", None, (("Authorization", "Bearer guess"),))
    assert (reply.status, api.engines["health-monitoring"].instances) == (401, {})


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("compile", {}, "configuration"),
        ("compile", {"configuration": {"name": "x", "sources": []}}, "configuration.sources"),
        ("compile", {"configuration": configuration("a"), "colour": 1}, "colour"),
        ("compile", [], ""),
        ("batch", {"requests": []}, "requests"),
        ("batch", {"requests": [ITEM] * 101}, "requests"),
        ("batch", {"requests": [ITEM, ITEM]}, ""),
        ("batch", {"requests": [ITEM | {"id": ""}]}, "requests[0].id"),
        ("batch", {"requests": [ITEM | {"id": "x" * 129}]}, "requests[0].id"),
        ("batch", {"requests": [{"id": "1"}]}, "requests[0].configuration"),
        ("batch", {"requests": [ITEM | {"configuration": "x"}]}, "requests[0].configuration"),
        ("cache-warm", {"configurations": []}, "configurations"),
        ("cache-warm", {"configurations": [configuration("a")] * 51}, "configurations"),
        ("cache-warm", {"configurations": [{"name": "x"}]}, "configurations[0].sources"),
        ("cache-warm", {"lists": []}, "lists"),
        ("health-check", {"sources": []}, "sources"),
        ("health-check", {"sources": [SOURCE] * 51}, "sources"),
        ("health-check", {"sources": [SOURCE, SOURCE]}, ""),
        ("health-check", {"sources": [SOURCE | {"url": "https://x/" + "y" * 1024}]}, "sources[0].url"),
        ("health-check", {"sources": [SOURCE | {"url": "file:///etc/passwd"}]}, "sources[0].url"),
        ("health-check", {"sources": [SOURCE | {"expectedMinRules": "many"}]}, "sources[0].expectedMinRules"),
        ("health-check", {"alertOnFailure": "yes"}, "alertOnFailure"),
    ],
)
async def test_bad_requests(path: str, body: object, field: str):
    """A mistake is 400 with its field, and nothing is started."""
    api = Api()
    reply = await api.post(f"/workflow/{path}", body)
    assert reply.status == 400, parsed(reply)
    assert field in [error["path"] for error in parsed(reply)["errors"]]
    assert api.idle


@pytest.mark.parametrize("path", ["compile", "batch", "cache-warm", "health-check"])
async def test_guarded(path: str):
    """A client over its limit is refused before anything is read or started."""
    api = Api()
    api.closed = True
    reply = await api.post(f"/workflow/{path}", {"configuration": configuration("a")})
    assert (reply.status, reply.header("retry-after")) == (429, "60")
    assert api.idle


@pytest.mark.parametrize("path", ["compile", "batch"])
async def test_body_is_required(path: str):
    """Only where there are defaults may the body be missing."""
    assert (await Api().post(f"/workflow/{path}")).status == 400


async def test_large_content_goes_by_key():
    """The engine takes a megabyte; larger parameters are in the bucket."""
    api = Api()
    body = {"configuration": configuration("a"), "preFetchedContent": {"x": "y" * (MAX_INLINE_BYTES + 1)}}
    assert (await api.post("/workflow/compile", body)).status == 202
    params = api.find_created("compilation").params
    assert set(params) == {"requestId", "queuedAt", "parcel"}
    assert (await api.params_store.load(params))["preFetchedContent"] == body["preFetchedContent"]


STARTS: list[tuple[ApiType, str, Any]] = [
    ("compilation", "compile", {"configuration": configuration("a"), "preFetchedContent": {"x": "||y^"}}),
    ("batch-compilation", "batch", {"requests": [ITEM]}),
    ("cache-warming", "cache-warm", None),
    ("health-monitoring", "health-check", None),
]


@pytest.mark.parametrize(("kind", "path", "body"), STARTS)
async def test_what_is_not_stored_is_not_accepted(kind: ApiType, path: str, body: Any):
    """An engine that says yes and stores nothing, as Miniflare on a full disk, gives a 503 and leaves no content behind."""
    api = Api()
    api.engines[kind].full = True
    reply = await api.post(f"/workflow/{path}", body)
    assert (reply.status, parsed(reply)["title"]) == (503, "Not accepted")
    assert [key async for key in api.bucket.objects()] == []
    api.engines[kind].full = False
    assert (await api.post(f"/workflow/{path}", body)).status == 202
    assert api.find_created(kind)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("fake", ["r2", "engine"])
@pytest.mark.parametrize(("kind", "path", "body"), STARTS[:2])
async def test_crash_while_starting(kind: ApiType, path: str, body: Any, fake: str, before: bool):
    """After a crash at any operation, whoever got a 202 has an instance with its parameters."""
    for operation in range(1, 10):
        api = Api()
        crashing = api.engines[kind] if fake == "engine" else api.r2
        crashing.fail_at(operation, before=before)
        try:
            reply = await api.post(f"/workflow/{path}", body)
        except Crash:
            continue
        crashing.fail_at(10**9, before=True)
        assert reply.status == 202
        assert await api.params_store.load(api.find_created(kind).params)
        return
    pytest.fail("there are more operations than were tried")


async def test_ids_differ():
    """Two requests at the same time are two instances."""
    api = Api()
    ids = {parsed(await api.post("/workflow/health-check"))["workflowId"] for _ in range(20)}
    assert len(ids) == 20


async def test_status():
    """State, output and error of an instance."""
    api = Api()
    workflow_id = parsed(await api.post("/workflow/compile", {"configuration": configuration("a")}))["workflowId"]
    api.find_created("compilation").state = "complete"
    api.find_created("compilation").output = {"success": True}
    assert parsed(await api.get(f"/workflow/status/compilation/{workflow_id}")) == {
        "success": True,
        "workflowId": workflow_id,
        "workflowType": "compilation",
        "status": "complete",
        "output": {"success": True},
        "error": None,
    }


@pytest.mark.parametrize(
    ("state", "output", "error", "expected"),
    [
        ("queued", None, None, ("queued", None)),
        ("running", None, None, ("running", None)),
        ("waiting", None, None, ("running", None)),
        ("paused", None, None, ("running", None)),
        ("complete", {"success": True, "cacheKey": "k", "configName": "L"}, None, ("completed", None)),
        ("complete", {"success": False, "error": "no source"}, None, ("failed", "no source")),
        ("complete", None, None, ("failed", None)),
        ("errored", None, {"name": "Error", "message": "it broke"}, ("failed", "it broke")),
        ("terminated", None, None, ("cancelled", None)),
    ],
)
async def test_workflow_as_a_job(state: str, output: Any, error: Any, expected: tuple[str, str | None]):
    """Whoever polls a job sees a workflow's end as that of a job: completed only if its output says so."""
    api = Api()
    workflow_id = parsed(await api.post("/workflow/compile", {"configuration": configuration("a")}))["workflowId"]
    instance = api.find_created("compilation")
    instance.state, instance.output, instance.error = state, output, error
    job = await find_workflow_job(api.starter, workflow_id)
    assert job
    assert (job.request_id, job.kind, job.state) == (workflow_id, "compile", expected[0])
    assert (job.error or "").endswith(expected[1] or "")
    assert (job.error is None) == (expected[1] is None)
    assert (job.attempts, job.created_ms) == (1, round(api.clock.now() * 1000))
    values = output or {}
    assert (job.cache_key, job.config_name) == (values.get("cacheKey"), values.get("configName", ""))


@pytest.mark.parametrize("workflow_id", ["job-1", "wf-compile-1-00", "wf-health-1-00"])
async def test_no_workflow_is_no_job(workflow_id: str):
    """An id of another form, of no instance or of a health check is no job."""
    assert await find_workflow_job(Api().starter, workflow_id) is None


async def test_unknown_status():
    """An unknown id is 404; an unknown type is 400 and names the known ones."""
    api = Api()
    assert (await api.get("/workflow/status/compilation/wf-0")).status == 404
    reply = await api.get("/workflow/status/batch/wf-0")
    assert reply.status == 400
    assert all(kind in parsed(reply)["error"] for kind in TYPES)


async def test_events():
    """The events of a run after a time; progress and end are those of the whole run."""
    api = Api()
    run = WorkflowRun("wf-1", "batch")
    await api.event_log.emit(run, workflow_started("Go"), step_completed("validate-batch", 10))
    first = parsed(await api.get("/workflow/events/wf-1"))
    assert (first["success"], first["workflowType"], first["progress"], first["isComplete"]) == (
        True,
        "batch",
        10,
        False,
    )
    await api.event_log.emit(run, workflow_completed("Done"))
    since = first["events"][-1]["timestamp"]
    second = parsed(await api.get(f"/workflow/events/wf-1?since={since}"))
    assert [event["type"] for event in second["events"]] == ["workflow:completed"]
    assert (second["progress"], second["isComplete"]) == (100, True)


async def test_unknown_events():
    """An unknown id has no events, and a message says so."""
    body = parsed(await Api().get("/workflow/events/wf-0"))
    assert (body["success"], body["events"], body["isComplete"]) == (True, [], False)
    assert "message" in body


@pytest.mark.parametrize(
    "query", ["since=yesterday", "since=", "until=2026-01-01", "since=2026-01-01&since=2026-01-02"]
)
async def test_bad_queries(query: str):
    """An invalid time and an unknown parameter are 400."""
    assert (await Api().get(f"/workflow/events/wf-1?{query}")).status == 400


async def test_metrics():
    """Each workflow by its name, with null if it never ran."""
    api = Api()
    await api.event_log.emit(WorkflowRun("wf-1", "batch"), workflow_started("Go"), workflow_completed("Done"))
    body = parsed(await api.get("/workflow/metrics"))
    assert body["timestamp"] == "2027-01-15T08:00:00.000Z"
    assert set(body["workflows"]) == {"compilation", "batchCompilation", "cacheWarming", "healthMonitoring"}
    assert body["workflows"]["compilation"] is None
    assert body["workflows"]["batchCompilation"]["completed"] == 1


async def test_latest_before_any_check():
    """Before the first report there is none, and a message says so."""
    body = parsed(await Api().get("/health/latest"))
    assert (body["success"], body["data"]) == (True, None)
    assert "message" in body


async def test_scheduled():
    """A scheduled time starts one instance of each, however often the cron fires for it."""
    api = Api()
    for _ in range(2):
        assert (
            await api.starter.start_scheduled_warming(1_800_000_000_000, warm_configurations())
            == "cache-warm-scheduled-1800000000000"
        )
        assert (
            await api.starter.start_scheduled_check(1_800_000_000_000, health_sources())
            == "health-check-scheduled-1800000000000"
        )
    assert api.find_created("cache-warming").params["scheduled"]
    assert len(api.find_created("health-monitoring").params["sources"]) == 5


async def test_content_of_a_workflow_that_did_not_start_is_deleted():
    """What a caller has sent is not kept for a workflow that does not exist."""
    api = Api()

    async def refuse(_options: Any) -> None:
        raise JsError("the engine is down")

    api.engines["compilation"].create = refuse  # type: ignore[method-assign,assignment]
    body = {"configuration": configuration("a"), "preFetchedContent": {"mine": "||secret.example^"}}
    assert (await api.post("/workflow/compile", body)).status >= 500
    assert [stored.key async for stored in api.bucket.objects()] == []
