"""The API document of adblock-compiler, and what is declared at its routes."""

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from pydantic import BaseModel

from documents import build_worker_document, list_routes
from sluice.core.errors import Invalid
from sluice.core.models import parse_model
from sluice.services.compiler.cache.compile_order import CallerOptions, CompileOrder
from sluice.services.compiler.cache.compiled_list import CACHED_HEAD, FRESH_HEAD, SHARED_HEAD
from sluice.services.compiler.cache.list_cache import SYNC_TTL_S
from sluice.services.compiler.guard.turnstile import MAX_TOKEN_CHARS
from sluice.services.compiler.http.catalog import ENDPOINTS
from sluice.services.compiler.http.list_operations import NAME
from sluice.services.compiler.jobs.queue_messages import CompileMessage
from sluice.services.compiler.requests import BatchItem, CompileRequest
from sluice.web import Request
from sluice.web.operations import Operation, find_operation
from unit.services.compiler.published.list_bench import ListBench, make_list
from unit.services.compiler.published.test_lists_api import ADMIN, Client, read
from unit.services.compiler.test_jobs import CONFIGURATION, deliver
from unit.services.compiler.world import LIST, URL, World, configuration
from unit.web.calls import post, read_stream
from workerd.api_document import ApiDocument

OPERATIONS = {operation.name: operation for operation in map(find_operation, list_routes("adblock-compiler"))}
DOCUMENT = ApiDocument(build_worker_document("adblock-compiler"))
GUARDED = {operation.name for operation in OPERATIONS.values() if operation.body_extras}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_example_is_valid(operation: Operation):
    """Every documented body has an example that the model of the handler accepts."""
    assert operation.summary
    assert (operation.body is None) == (operation.example is None)
    if operation.body:
        assert issubclass(operation.body, BaseModel)
        parse_model(operation.body, dict(operation.example))


def test_catalog_is_complete():
    """GET /api names every route, except pages and the second way to cancel a job."""
    routes = {f"{route.method} {route.pattern}" for route in list_routes("adblock-compiler")}
    assert routes - {"GET /", "GET /openapi.json", "DELETE /queue/cancel/:id"} == ENDPOINTS.keys()


def test_no_other_option_is_taken():
    """What a request has beside the options of callers is known here: by some ways nothing else reaches the compiler.

    A list with a report is made while its caller waits, as the document says; jobs and workflows make none.
    """
    own = {
        model: model.model_fields.keys() - CallerOptions.model_fields.keys()
        for model in (CompileRequest, BatchItem, CompileMessage)
    }
    assert own == {
        CompileRequest: {"configuration", "priority", "report"},
        BatchItem: {"configuration", "id"},
        CompileMessage: {"configuration", "priority", "type", "request_id", "timestamp", "content_key"},
    }
    assert "makes none" in str(CompileRequest.model_fields["report"].description)


def test_bodies_of_compilations_may_have_a_token():
    """What passes the guard is documented with the Turnstile token that the guard takes out; nothing else is."""
    assert {
        "compileList",
        "compileBatch",
        "streamCompilation",
        "enqueueList",
        "enqueueBatch",
        "startCompilation",
        "startBatch",
        "startCacheWarming",
        "startHealthCheck",
    } == GUARDED
    schemas = DOCUMENT.told["components"]["schemas"]
    with_token = {name for name, schema in schemas.items() if "turnstileToken" in schema.get("properties", {})}
    assert with_token == {"AsyncBatchRequest", "BatchRequest", "CompileRequest", "HealthRequest", "WarmRequest"}
    assert schemas["CompileRequest"]["properties"]["turnstileToken"]["maxLength"] == MAX_TOKEN_CHARS


async def test_stored_list_is_as_documented():
    """The bytes that are stored of a compiled list are those of the documented reply, with all that may be in it."""
    world = World({URL: [LIST, f"{LIST}||other.example^\n@@||x.example^"]})
    order = CompileOrder(configuration=configuration(URL), trigger="sync")
    await world.compiler.store(await world.compiler.compile(order), SYNC_TTL_S)
    compiled = await world.compiler.compile(replace(order, detailed=True))
    check("POST", "/compile", json.loads(FRESH_HEAD + compiled.members.inflate()), {"report", "previousVersion"})
    measured = await world.compiler.compile(replace(order, caller_options=CallerOptions(benchmark=True)))
    check("POST", "/compile", json.loads(CACHED_HEAD + compiled.members.inflate()), {"cached"})
    check("POST", "/compile", json.loads(SHARED_HEAD + measured.members.inflate()), {"metrics", "deduplicated"})


async def test_batch_is_as_documented():
    """So is what is streamed of a batch: a list, and the reason why there is none."""
    world = World()
    items = {"list": {"name": "T", "sources": [{"source": URL}]}, "none": {"name": "T"}}
    requests = [{"id": name, "configuration": item} for name, item in items.items()]

    async def admit(_request: object, **_limits: object) -> Any:
        return {"requests": requests}

    async def charge(_request: object, _sources: int) -> None: ...

    guard: Any = admit
    guard.charge_sources = charge
    reply = await replace(world.service.compile_api, guard=guard).compile_batch(post(b""))
    body = json.loads(await read_stream(reply))
    check("POST", "/compile/batch", body, {"success", "results"})
    assert [result["success"] for result in body["results"]] == [True, False]
    assert body["results"][1]["errors"]


async def test_results_of_jobs_are_as_documented():
    """So is what is told of a job: its list, under a head that is joined to stored bytes, and the results of a batch."""
    world = World()
    await deliver(world, {"type": "compile", "requestId": "one", "configuration": CONFIGURATION})
    items = [{"id": "list", "configuration": CONFIGURATION}, {"id": "none", "configuration": {"name": "T"}}]
    await deliver(world, {"type": "batch-compile", "requestId": "many", "requests": items})
    path = "/queue/results/{id}"
    for job_id, query, members in (
        ("one", "", {"jobInfo", "rules"}),
        ("many", "", {"jobInfo", "results"}),
        ("many", "?item=list", {"jobInfo", "rules"}),
    ):
        request = Request("GET", f"https://sluice.example/queue/results/{job_id}{query}", params={"id": job_id})
        reply = await world.service.queue_api.show_result(request)
        assert isinstance(reply.body, bytes)
        check("GET", path, json.loads(reply.body), members)


async def test_published_list_is_as_documented():
    """So is what builds have stored of a published list."""
    sources = ["https://a.example/list.txt", "https://b.example/list.txt"]
    client = Client(ListBench({sources[0]: make_list(20), sources[1]: make_list(10)}))
    value = {"configuration": {"name": "L", "sources": [{"source": each} for each in sources]}, "formats": ["hosts"]}
    check("PUT", "/lists/{name}", read(await client("PUT", "/lists/my-list?dryRun=1", value, ADMIN)), {"sources"})
    await client("PUT", "/lists/my-list", value, ADMIN)
    await client.bench.run_all()
    client.bench.sites.answers[sources[0]] = make_list(21)
    await client.bench.rebuild("my-list")
    for path, members in {
        "": {"sources", "formats", "lastBuild"},
        "/overlap": {"sources", "pairs"},
        "/versions": {"versions"},
        "/diff?from=1&to=2": {"added"},
        "/why?domain=a1.example": {"sources"},
    }.items():
        reply = read(await client("GET", f"/lists/my-list{path}"))
        assert all(reply[member] for member in members), path
        check("GET", f"/lists/{{name}}{path.partition('?')[0]}", reply, members)


def check(method: str, path: str, reply: dict[str, Any], members: set[str]) -> None:
    """A reply has these members, and all of it is documented."""
    assert members <= reply.keys()
    told = DOCUMENT.operation(method, path).told["responses"]["200"]["content"]["application/json"]
    assert DOCUMENT.mistakes(told["schema"], reply, closed=True) == []


@pytest.mark.parametrize("name", ["a", "0", "my-list", "a" * 64, "patches-2"])
def test_documented_name_is_taken(name: str):
    """A name that fits the documented pattern is none that is refused, and the other way round."""
    assert re.search(NAME.schema["pattern"], name)
    assert NAME.parse(name) == name


@pytest.mark.parametrize("name", ["", "A", "-a", "a-", "a" * 65, "patches", "a.txt"])
def test_refused_name_is_not_documented(name: str):
    """Nor does a name that is refused fit the pattern."""
    assert not re.search(NAME.schema["pattern"], name)
    with pytest.raises(Invalid):
        NAME.parse(name)
