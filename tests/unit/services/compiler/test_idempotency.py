"""A request that is sent again with its Idempotency-Key gets the first reply and starts nothing more, whatever happened in between."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import count
from typing import Any

import pytest

from fakes.binding import Crash, JsError
from sluice.services.compiler.guard.idempotency import KEPT_S
from sluice.services.compiler.http.jobs import QueueApi
from sluice.web import App, Reply, Route, read_json
from unit.services.compiler.published.list_bench import TOKEN, ListBench, make_list
from unit.services.compiler.published.test_lists_api import SOURCE, Client, definition
from unit.services.compiler.test_workflow_api import STARTS, Api
from unit.services.compiler.world import URL, World
from unit.web.calls import call, parsed

KEY = "5d0b3c0e-0c43-4b0a-9d63-3c7a9bb2f6b4"
LIST = {"name": "T", "sources": [{"source": URL}]}
JOBS = [
    ("/compile/async", {"configuration": LIST}),
    ("/compile/batch/async", {"requests": [{"id": "1", "configuration": LIST}]}),
]


class Guard:
    """Lets every request pass."""

    async def __call__(self, request: Any, *, max_bytes: int, optional_body: bool = False) -> Any:
        del optional_body
        return await read_json(request, max_bytes=max_bytes)

    async def charge_sources(self, _request: Any, _sources: int) -> None:
        """Charge nothing."""


class Jobs(World):
    """The routes of jobs."""

    def open_api(self) -> QueueApi:
        ids = (f"{number:032x}" for number in count(len(self.sent) + 1))
        keys = replace(self.service.keys, new_id=lambda: next(ids))
        return replace(self.service.queue_api, guard=Guard(), keys=keys)

    async def post(self, path: str, body: Any, key: str | None = KEY, client: str = "192.0.2.1") -> Reply:
        api = self.open_api()
        routes = [Route("POST", JOBS[0][0], api.submit), Route("POST", JOBS[1][0], api.submit_batch)]
        headers = {"CF-Connecting-IP": client} | ({"Idempotency-Key": key} if key is not None else {})
        return await App(routes, on_error=_raise).handle(call("POST", path, headers, json.dumps(body).encode()))

    async def count_jobs(self) -> int:
        return len(await self.database.all("select 1 from compile_jobs"))


def _raise(error: Exception, _request: object) -> None:
    raise error


@pytest.mark.parametrize(("path", "body"), JOBS)
async def test_repeated_job(path: str, body: Any):
    """The same reply for 24 hours, and one job; a day later the key is as good as new."""
    world = Jobs()
    first = await world.post(path, body)
    world.clock.advance(KEPT_S - 1)
    again = await world.post(path, dict(reversed(body.items())))
    assert (first.status, first.header("x-idempotent-replayed")) == (202, None)
    assert (again.status, again.header("x-idempotent-replayed")) == (202, "true")
    assert (again.body, again.header("location")) == (first.body, first.header("location"))
    assert (await world.count_jobs(), len(world.sent), world.counts["jobs", "enqueued"]) == (1, 1, 1)
    world.clock.advance(1)
    assert parsed(await world.post(path, body))["requestId"] != parsed(first)["requestId"]


async def test_other_body_is_refused():
    """A key stands for one body."""
    world = Jobs()
    await world.post(*JOBS[0])
    reply = await world.post("/compile/async", {"configuration": {**LIST, "name": "U"}})
    assert (reply.status, "another body" in parsed(reply)["detail"]) == (409, True)
    assert await world.count_jobs() == 1


async def test_key_of_somebody_else():
    """From another address, and on another route, a known key starts work of its own, and reveals no id."""
    world = Jobs()
    first = await world.post(*JOBS[0])
    other = await world.post(*JOBS[0], client="192.0.2.2")
    refused = await world.post("/compile/async", {"configuration": {**LIST, "name": "U"}}, client="192.0.2.3")
    assert (other.header("x-idempotent-replayed"), refused.status) == (None, 202)
    assert parsed(first)["requestId"] != parsed(other)["requestId"]
    assert (await world.post(*JOBS[1])).status == 202


async def test_without_a_key():
    """Each request is a job of its own."""
    world = Jobs()
    await world.post(*JOBS[0], key=None)
    await world.post(*JOBS[0], key=None)
    assert await world.count_jobs() == 2
    assert await world.database.all("select * from idempotency_keys") == []


@pytest.mark.parametrize("key", ["", "x" * 129, "two words", "é"])
async def test_bad_key(key: str):
    """A key has 1 to 128 visible characters."""
    world = Jobs()
    reply = await world.post(*JOBS[0], key=key)
    assert (reply.status, parsed(reply)["errors"][0]["path"]) == (400, "Idempotency-Key")
    assert await world.count_jobs() == 0


@pytest.mark.parametrize(("path", "body"), JOBS)
async def test_requests_at_the_same_time(path: str, body: Any):
    """Requests that meet get the same reply, and start one job."""
    world = Jobs()
    both = asyncio.Barrier(2)
    run = world.database.run

    async def meet(sql: str, *params: object) -> Any:
        if "insert into compile_jobs" in sql:
            await both.wait()
        return await run(sql, *params)

    world.database.run = meet  # type: ignore[method-assign]
    first, second = await asyncio.gather(world.post(path, body), world.post(path, body))
    assert (first.status, first.body) == (202, second.body)
    assert (await world.count_jobs(), len(world.sent), world.counts["jobs", "enqueued"]) == (1, 1, 1)


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(("path", "body"), JOBS)
async def test_crash_before_the_reply(path: str, body: Any, before: bool):
    """After a crash at any operation, the repeated request gets the job that was stored, if one was."""
    for operation in count(1):
        world = Jobs()
        world.d1_fake.fail_at(operation, before=before)
        try:
            await world.post(path, body)
        except Crash:
            world.start()
        else:
            assert operation > 4
            return
        stored = [row["request_id"] for row in await world.database.all("select request_id from compile_jobs")]
        replies = [await world.post(path, body) for _ in range(2)]
        assert [reply.status for reply in replies] == [202, 202]
        assert {parsed(reply)["requestId"] for reply in replies} >= set(stored)
        assert await world.count_jobs() == 1


async def test_reply_that_cannot_be_stored():
    """The caller gets the reply all the same, and again: the id of the job is that of the key."""
    world = Jobs()
    run = world.database.run

    async def refuse(sql: str, *params: object) -> Any:
        world.d1_fake.failure = JsError("D1_ERROR: busy") if "set reply" in sql else None
        return await run(sql, *params)

    world.database.run = refuse  # type: ignore[method-assign]
    first = await world.post(*JOBS[0])
    world.d1_fake.failure = None
    assert (await world.post(*JOBS[0])).body == first.body
    assert "idempotency.reply_not_stored" in world.log.names()
    assert await world.count_jobs() == 1


async def test_cleaning():
    """The hourly cron deletes what has expired."""
    world = Jobs()
    await world.post(*JOBS[0])
    assert world.service.keys in world.service.schedule.stores
    world.clock.advance(KEPT_S)
    await world.service.keys.delete_expired()
    assert await world.database.all("select * from idempotency_keys") == []


@pytest.mark.parametrize(("kind", "path", "body"), STARTS)
async def test_repeated_workflow(kind: Any, path: str, body: Any):
    """A workflow is started once; after a failed start the same request starts it under the same id."""
    api = Api()
    headers = (("Idempotency-Key", KEY),)
    api.engines[kind].full = True
    assert (await api.post(f"/workflow/{path}", body, headers)).status == 503
    api.engines[kind].full = False
    first, again = [await api.post(f"/workflow/{path}", body, headers) for _ in range(2)]
    assert (first.status, again.body, again.header("x-idempotent-replayed")) == (202, first.body, "true")
    assert api.find_created(kind).id == parsed(first)["workflowId"]


async def test_operator_and_stranger_of_one_address():
    """The operator's health check is not told to a stranger who has the key and the address."""
    api = Api()
    headers = (("Idempotency-Key", KEY),)
    first = await api.post("/workflow/health-check", None, (*headers, ("Authorization", "Bearer operator")))
    assert (await api.post("/workflow/health-check", None, headers)).body != first.body


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
async def test_crash_while_a_workflow_starts(before: bool):
    """After a crash at any operation of the database or the engine, the repeated request makes no second instance."""
    for fake in ("d1", "engine"):
        for operation in count(1):
            api = Api()
            crashing = api.engines["compilation"] if fake == "engine" else api.d1
            crashing.fail_at(operation, before=before)
            body, headers = STARTS[0][2], (("Idempotency-Key", KEY),)
            try:
                await api.post("/workflow/compile", body, headers)
            except Crash:
                reply = await api.post("/workflow/compile", body, headers)
                assert api.find_created("compilation").id == parsed(reply)["workflowId"]
            else:
                assert operation > 1
                break


LISTS: list[tuple[str, Callable[[Client], Awaitable[Reply]]]] = [
    ("put", lambda client: client("PUT", "/lists/my-list", definition(), _admin(KEY))),
    ("rebuild", lambda client: client("POST", "/lists/my-list/rebuild", None, _admin(KEY))),
    ("rollback", lambda client: client("POST", "/lists/my-list/rollback", {"version": 1}, _admin(KEY))),
]


def _admin(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {TOKEN}", "idempotency-key": key}


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(("what", "send"), LISTS, ids=[what for what, _ in LISTS])
async def test_repeated_build(what: str, send: Callable[[Client], Awaitable[Reply]], before: bool):
    """A build is started once, also after a crash at any operation of the database or the engine."""
    for fake in ("d1", "engine"):
        for operation in count(1):
            bench = ListBench({SOURCE: make_list(20)})
            client = Client(bench)
            if what != "put":
                await client("PUT", "/lists/my-list", definition(), _admin("first"))
                await bench.run_all()
            known = len(bench.engine.instances)
            crashing = bench.engine if fake == "engine" else bench.d1
            crashing.fail_at(operation, before=before)
            is_crashed = False
            try:
                await send(client)
            except Crash:
                is_crashed = True
            crashing.fail_at(10**9, before=True)
            first, again = await send(client), await send(client)
            assert first.status in {201, 202}
            assert (again.body, again.header("x-idempotent-replayed")) == (first.body, "true")
            assert len(bench.engine.instances) == known + 1
            assert len(await bench.builds.load_waiting()) == 1
            if not is_crashed:
                break
