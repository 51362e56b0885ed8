"""How messages are grouped, and how a consumer answers them."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.queues import FakeQueue
from sluice.core.errors import Invalid, TooLarge
from sluice.platform.queues import MAX_MESSAGE_BYTES, Producer, read_messages


async def test_batches_hold_a_hundred():
    """120 small messages are two batches."""
    fake = FakeQueue()
    await Producer(fake).send_many([{"n": n} for n in range(120)])
    assert [subject for _, subject in fake.operations] == ["100 messages", "20 messages"]


async def test_batches_hold_256_kilobytes():
    """Large messages are grouped by their size."""
    fake = FakeQueue()
    await Producer(fake).send_many(["x" * 100_000] * 5)
    assert [subject for _, subject in fake.operations] == ["2 messages", "2 messages", "1 messages"]


async def test_batches_leave_room_for_what_the_platform_adds():
    """A hundred messages whose bodies alone would just fit one batch are sent in two."""
    fake = FakeQueue()
    await Producer(fake).send_many(["x" * 2_500] * 100)
    assert [subject for _, subject in fake.operations] == ["98 messages", "2 messages"]


@given(st.lists(st.integers(0, MAX_MESSAGE_BYTES - 2), max_size=12), st.integers(0, 250))
def test_any_sizes_are_split_within_the_limits(sizes, small):
    """Whatever the sizes, the strict queue takes every batch, and all arrive in order."""
    fake = FakeQueue()
    lengths = sizes + [1] * small
    asyncio.run(Producer(fake).send_many("x" * length for length in lengths))
    assert [len(message.body) for message in fake.waiting] == lengths


async def test_one_oversized_message_keeps_all_back():
    """Nothing is sent when one message is too large, wherever it stands."""
    fake = FakeQueue()
    with pytest.raises(TooLarge, match="message 150"):
        await Producer(fake).send_many([*range(150), "é" * 64_000])
    assert fake.waiting == []


async def test_delay_reaches_the_queue():
    """A delay is passed on with one message and with many."""
    fake = FakeQueue()
    await Producer(fake).send("a", delay_s=5)
    await Producer(fake).send_many(["b"], delay_s=86_400)
    assert [message.delay_s for message in fake.waiting] == [5, 86_400]


async def test_consumer_answers():
    """An acknowledged message is gone; a retried one comes again, counted and later."""
    fake = FakeQueue()
    await Producer(fake).send_many(["keep", "again"])
    batch = fake.deliver()
    kept, again = read_messages(batch)
    kept.ack()
    again.retry(delay_s=30)
    fake.settle(batch)
    assert [(message.body, message.attempts, message.delay_s) for message in fake.waiting] == [("again", 2, 30)]


async def test_failed_handler_redelivers_the_unanswered():
    """When the handler fails, what it had not answered comes again."""
    fake = FakeQueue()
    await Producer(fake).send_many(["done", "lost"])
    batch = fake.deliver()
    read_messages(batch)[0].ack()
    fake.settle(batch, failed=True)
    assert [message.body for message in read_messages(fake.deliver())] == ["lost"]


async def test_retry_delay_is_checked():
    """A delay of more than a day is refused here, not by the platform later."""
    fake = FakeQueue()
    await Producer(fake).send("x")
    with pytest.raises(Invalid, match="86400"):
        read_messages(fake.deliver())[0].retry(delay_s=86_401)
