"""The claims about queues; the subject is a `Queue`, both ends of one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from contract.raises import raises
from sluice.core.errors import Invalid, TooLarge
from sluice.platform.queues import Producer


@dataclass
class Queue:
    """`received(mark, count)` waits for that many bodies whose "mark" is this, and returns them."""

    producer: Producer
    received: Callable[[str, int], Awaitable[list[Any]]]


async def check_body_arrives(queue: Queue, unique: str):
    """A message arrives as plain dict and list."""
    body = {"mark": unique, "list": [1, None, True, 1.5, "é"], "nested": {}}
    await queue.producer.send(body, delay_s=0)
    received = await queue.received(unique, 1)
    assert received == [body]
    assert type(received[0]["nested"]) is dict


async def check_many_arrive(queue: Queue, unique: str):
    """More messages than one batch takes all arrive once."""
    await queue.producer.send_many([{"mark": unique, "n": n} for n in range(120)])
    received = await queue.received(unique, 120)
    assert sorted(body["n"] for body in received) == list(range(120))
    await queue.producer.send_many([])


async def check_large_ones_are_split(queue: Queue, unique: str):
    """Messages that together exceed a batch are sent in several."""
    await queue.producer.send_many([{"mark": unique, "filler": "x" * 100_000} for _ in range(4)])
    assert len(await queue.received(unique, 4)) == 4


async def check_limits_are_refused(queue: Queue, unique: str):
    """A message too large, not JSON, or delayed by more than a day is refused, and with it all sent together."""
    with raises(TooLarge, "127900"):
        await queue.producer.send({"mark": unique, "filler": "x" * 128_000})
    with raises(TooLarge, "message 1"):
        await queue.producer.send_many([{"mark": unique}, {"mark": unique, "filler": "é" * 64_000}])
    for body in ((1, 2), {"mark": unique, "a": [b"x"]}, {"mark": unique, 1: 2}, 2**53, float("nan")):
        with raises(Invalid):
            await queue.producer.send(body)
    with raises(Invalid, "86400"):
        await queue.producer.send({"mark": unique}, delay_s=86_401)


async def check_exact_limit_is_taken(queue: Queue, unique: str):
    """A message of exactly the limit is taken and arrives."""
    empty = len(f'{{"mark":"{unique}","filler":""}}')
    await queue.producer.send({"mark": unique, "filler": "x" * (127_900 - empty)})
    assert len(await queue.received(unique, 1)) == 1
