"""The options of callers reach the compiler by every way, and no list answers a caller with others."""

from dataclasses import replace
from typing import Any

import pytest

from sluice.services.compiler.cache.compile_order import CallerOptions, CompileOrder
from sluice.services.compiler.cache.compiled_list import CompressedList
from sluice.services.compiler.jobs.queue_messages import parse_message
from sluice.services.compiler.live import socket_messages
from sluice.services.compiler.requests import BatchItem, CompileRequest
from unit.services.compiler.test_jobs import CONFIGURATION
from unit.services.compiler.world import World, configuration
from unit.web.calls import post

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

    async def admit(_request: object, **_limits: object) -> Any:
        return {"configuration": CONFIGURATION, **ALL}

    guard: Any = admit
    keys = replace(world.service.keys, new_id=lambda: "0")
    await replace(world.service.queue_api, guard=guard, keys=keys).submit(post(b""))
    [(_, body)] = world.sent
    message = parse_message(body)
    assert isinstance(message, CallerOptions)
    assert message.list_caller_options() == ALL


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pre_fetched_content"])
@pytest.mark.parametrize("content", [{}, CONTENT], ids=["shared", "sent"])
async def test_every_option_has_its_own_key(name: str, content: dict[str, str]):
    """A list with an option is stored where nobody without it finds it, and the option shows in it."""
    world = World()
    order = CompileOrder(configuration=configuration(), trigger="sync")
    options: dict[str, Any] = {"pre_fetched_content": content, name: ALL[name]}
    plain = await world.compiler.compile(replace(order, caller_options=CallerOptions(pre_fetched_content=content)))
    changed = await world.compiler.compile(replace(order, caller_options=CallerOptions(**options)))
    assert plain.summary.cache_key != changed.summary.cache_key
    assert drop_key(plain) != drop_key(changed)


def drop_key(compiled: CompressedList) -> dict[str, Any]:
    """Return the members of the reply without the key, which is another one in any case."""
    members: dict[str, Any] = {**compiled.reply_members()}
    del members["cacheKey"]
    return members
