"""A batch goes to the consumer or to the dead letters, and the statistics are published afterwards."""

from typing import Any

import pytest

from sluice.core.errors import SluiceError, Unavailable
from sluice.platform.storage.kv import KV
from sluice.services.compiler.jobs.dead_letters import DEAD_LETTER_QUEUE
from sluice.services.compiler.jobs.message_delivery import MAX_DELAY_S, retry_delay_s
from sluice.services.compiler.jobs.queue_handler import PriorityQueues, QueueHandler
from sluice.services.compiler.jobs.queue_stats import PublishThrottle, QueueStats, QueueStatsPublisher
from unit.services.compiler.test_jobs import Delivered, consumer, dead_letters, message, state
from unit.services.compiler.world import World


def handler(world: World, published: Any = None, turn: PublishThrottle | None = None) -> QueueHandler:
    stats = QueueStats(database=world.database, clock=world.clock)
    kv = published or KV(world.kv_fake, world.clock)
    return QueueHandler(
        consumer=consumer(world),
        dead_letters=dead_letters(world),
        publisher=QueueStatsPublisher(stats=stats, published=kv, log=world.log, turn=turn or PublishThrottle()),
    )


@pytest.mark.parametrize(
    ("queue", "expected"),
    [("adblock-compiler-worker-queue", "completed"), (DEAD_LETTER_QUEUE, "failed")],
)
async def test_queue_decides(queue: str, expected: str):
    """Messages of a work queue run; those of the dead-letter queue fail their jobs."""
    world = World()
    await world.jobs.accept(message())
    delivery = Delivered(world.sent[0][1])
    await handler(world).handle_batch(queue, [delivery])
    assert (await state(world), delivery.answer) == (expected, "ack")
    assert (await KV(world.kv_fake, world.clock).get_json("queue:stats"))[expected] == 1


async def test_many_jobs_are_counted_rarely():
    """With many jobs in the last day the statistics wait for their turn, because counting reads them all."""
    world, turn = World(), PublishThrottle()
    kv = KV(world.kv_fake, world.clock)
    await world.database.run(
        """with recursive number (n) as (select 1 union all select n + 1 from number where n < 3000)
        insert into compile_jobs (request_id, kind, priority, state, config_name, message, created_ms)
        select n, 'compile', 'standard', 'queued', 'n', '{}', ? from number""",
        round(world.clock.now() * 1000),
    )
    await handler(world, turn=turn).handle_batch("queue", [])
    assert turn.due_at == world.clock.now() + 3
    world.clock.advance(2)
    await world.database.run("delete from compile_jobs")
    await handler(world, turn=turn).handle_batch("queue", [])
    assert (await kv.get_json("queue:stats"))["enqueued"] == 3000
    world.clock.advance(1)
    await handler(world, turn=turn).handle_batch("queue", [])
    assert (await kv.get_json("queue:stats"))["enqueued"] == 0


async def test_publishing_is_best_effort():
    """Statistics that cannot be published are logged, and the batch is still handled."""

    class Broken:
        async def put_json(self, *_arguments: object, **_options: object) -> None:
            raise Unavailable("KV is down")

    world = World()
    await world.jobs.accept(message())
    await handler(world, Broken()).handle_batch("queue", [Delivered(world.sent[0][1])])
    assert await state(world) == "completed"
    assert "stats.unpublished" in world.log.names()


@pytest.mark.parametrize("nonsense", [None, {"type": "fold"}, {"type": "compile"}])
async def test_dead_letter_without_a_job(nonsense: Any):
    """A dead letter without a request id is acknowledged and logged."""
    world = World()
    letter = Delivered(nonsense)
    await dead_letters(world).record([letter])
    assert letter.answer == "ack"
    [(name, fields)] = [event for event in world.log.events if event[0] == "queue.dead_letter"]
    assert (name, fields["id"], fields["request_id"]) == ("queue.dead_letter", "m1", None)
    assert isinstance(fields["error"], SluiceError)


async def test_priority_chooses_the_queue():
    """High priority has its own queue."""

    class Sender:
        def __init__(self) -> None:
            self.bodies: list[object] = []

        async def send(self, body: object) -> None:
            self.bodies.append(body)

    high, standard = Sender(), Sender()
    queues = PriorityQueues({"high": high, "standard": standard}.__getitem__)
    await queues.send("high", {"a": 1})
    await queues.send("standard", {"b": 2})
    assert (high.bodies, standard.bodies) == ([{"a": 1}], [{"b": 2}])


def test_backoff():
    """The delay doubles with each attempt, up to an hour."""
    assert [retry_delay_s(attempts) for attempts in (0, 1, 2, 3, 4, 5)] == [2, 2, 4, 8, 16, 32]
    assert retry_delay_s(100) == MAX_DELAY_S
