"""The options of callers reach the compiler by every way, and no list answers a caller with others."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import fields, replace
from typing import Any

import pytest

from fakes.workflows import FakeStep, NonRetryableError
from sluice.core.compiler.events import ignore_event
from sluice.platform.workflows import Steps
from sluice.services.compiler.cache.compile_order import CallerOptions, CompileOrder
from sluice.services.compiler.cache.compiled_list import CompressedList
from sluice.services.compiler.cache.list_compiler import ListCompiler
from sluice.services.compiler.jobs.queue_messages import parse_message
from sluice.services.compiler.limits.allowance import FetchAllowance
from sluice.services.compiler.live import socket_messages
from sluice.services.compiler.live.socket_api import compile_for_socket
from sluice.services.compiler.live.stream import StreamApi
from sluice.services.compiler.requests import BatchItem, CompileRequest
from unit.services.compiler.test_jobs import CONFIGURATION, deliver
from unit.services.compiler.world import World, configuration
from unit.web.calls import post, read_stream

CONTENT = {"k": "||a.example^"}
NAMES = list(CallerOptions.__annotations__)
ALL: dict[str, Any] = dict.fromkeys(NAMES, True) | {"pre_fetched_content": CONTENT}


@pytest.mark.parametrize(
    ("model", "more"),
    [
        (CompileRequest, {}),
        (BatchItem, {"id": "1"}),
        (socket_messages.SocketCompileMessage, {"type": "compile", "sessionId": "s"}),
    ],
)
def test_every_way_takes_every_option(model: type[CallerOptions], more: dict[str, Any]):
    """A request, an item of a batch or workflow and a message of a socket become an order with all their options."""
    sent = CallerOptions(**ALL).model_dump(by_alias=True) | {"configuration": CONFIGURATION} | more
    order = CompileOrder.of(model.model_validate(sent), configuration(), trigger="sync")
    assert order.caller_options == CallerOptions(**ALL)


async def test_queued_job_keeps_every_option():
    """The message of a job says what its request said."""
    world = World()
    keys = replace(world.service.keys, new_id=lambda: "0")
    await replace(world.service.queue_api, guard=admitting(SENT), keys=keys).submit(post(b""))
    [(_, body)] = world.sent
    message = parse_message(body)
    assert isinstance(message, CallerOptions)
    assert message.list_caller_options() == ALL


def admitting(body: dict[str, Any]) -> Any:
    """A guard that lets this body pass."""

    async def admit(_request: object, **_limits: object) -> Any:
        return body

    guard: Any = admit
    guard.charge_sources = lambda *_arguments: asyncio.sleep(0)
    return guard


# What an order says that is no part of a list's key, each with another value than `ORDER` has.
OUTSIDE_OF_THE_KEY: dict[str, Any] = {
    "trigger": "batch",  # recorded
    "form": "text",  # a form of what is stored
    "ttl_s": 1,  # how long it is stored
    "fresh": True,  # whether what is stored will do
    "client": "203.0.113.7",  # who waits for a turn
    "allowance": FetchAllowance(7),  # a list that needs more fetches is none
}
IN_THE_KEY = {"configuration", "caller_options"}
# A list with a report is not stored.
FOR_ONE_CALLER: dict[str, Any] = {"detailed": True}
ORDER = CompileOrder(configuration=configuration(), trigger="sync")
SENT = {"configuration": CONFIGURATION, **CallerOptions(**ALL).model_dump(by_alias=True)}
BATCH = {"requests": [{"id": "1", **SENT}]}


async def compile_now(world: World) -> None:
    await replace(world.service.compile_api, guard=admitting(SENT)).compile(post(b""))


async def compile_batch(world: World) -> None:
    await read_stream(await replace(world.service.compile_api, guard=admitting(BATCH)).compile_batch(post(b"")))


async def stream(world: World) -> None:
    api = StreamApi(
        guard=admitting(SENT), compiler=world.compiler, log=world.log, record=world.service.request_metrics.record
    )
    await read_stream(await api.stream(post(b"")))


async def ask_socket(world: World) -> None:
    message = socket_messages.SocketCompileMessage.model_validate({"type": "compile", "sessionId": "s", **SENT})
    await compile_for_socket(world.compiler, "client", message, ignore_event)


async def consume(world: World) -> None:
    answer = await deliver(world, {"type": "compile", "requestId": "j1", **SENT})
    assert answer.answer == "ack"


async def consume_batch(world: World) -> None:
    answer = await deliver(world, {"type": "batch-compile", "requestId": "j1", **BATCH})
    assert answer.answer == "ack"


async def run_workflow(world: World) -> None:
    steps = Steps(FakeStep(), NonRetryableError)
    assert (await world.service.workflows.compilation.run("w1", SENT, steps))["success"]


async def run_batch_workflow(world: World) -> None:
    steps = Steps(FakeStep(), NonRetryableError)
    assert (await world.service.workflows.batch.run("w1", BATCH, steps))["success"]


@pytest.mark.parametrize(
    "way",
    [
        compile_now,
        compile_batch,
        stream,
        ask_socket,
        consume,
        consume_batch,
        run_workflow,
        run_batch_workflow,
    ],
)
async def test_every_option_reaches_the_compiler(
    way: Callable[[World], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
):
    """By each way from a caller to the compiler, the order that arrives there has all that the caller has said."""
    compiled: list[CallerOptions] = []
    compile_list = ListCompiler.compile

    async def note(self: ListCompiler, order: CompileOrder, **more: Any) -> CompressedList:
        compiled.append(order.caller_options)
        return await compile_list(self, order, **more)

    monkeypatch.setattr(ListCompiler, "compile", note)
    await way(World())
    assert compiled == [CallerOptions(**ALL)]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pre_fetched_content"])
@pytest.mark.parametrize("content", [{}, CONTENT], ids=["shared", "sent"])
async def test_every_option_has_its_own_key(name: str, content: dict[str, str]):
    """A list with an option is stored where nobody without it finds it, and the option shows in it."""
    world = World()
    options: dict[str, Any] = {"pre_fetched_content": content, name: ALL[name]}
    plain = await world.compiler.compile(replace(ORDER, caller_options=CallerOptions(pre_fetched_content=content)))
    changed = await world.compiler.compile(replace(ORDER, caller_options=CallerOptions(**options)))
    assert plain.summary.cache_key != changed.summary.cache_key
    assert drop_key(plain) != drop_key(changed)


def drop_key(compiled: CompressedList) -> dict[str, Any]:
    """Return the members of the reply without the key, which is another one in any case."""
    members: dict[str, Any] = {**compiled.reply_members()}
    del members["cacheKey"]
    return members


def test_every_member_of_an_order_is_known():
    """A member that is not in the key leaves the list as it is, or the list is not stored; one that travels is no exception."""
    assert {each.name for each in fields(CompileOrder)} == {*OUTSIDE_OF_THE_KEY, *FOR_ONE_CALLER, *IN_THE_KEY}
    assert replace(ORDER, **FOR_ONE_CALLER).is_for_caller_alone
    assert not ORDER.is_for_caller_alone


@pytest.mark.parametrize("name", OUTSIDE_OF_THE_KEY)
async def test_what_is_outside_of_the_key_leaves_the_list_as_it_is(name: str):
    """Who asks with another value gets the same bytes from the cache, so the list must be the same."""
    plain = await World().compiler.compile(ORDER)
    changed = await World().compiler.compile(replace(ORDER, **{name: OUTSIDE_OF_THE_KEY[name]}))
    assert getattr(ORDER, name) != OUTSIDE_OF_THE_KEY[name]
    assert (plain.members, plain.text) == (changed.members, changed.text)
