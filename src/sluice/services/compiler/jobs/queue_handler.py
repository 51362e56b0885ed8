"""What the Worker does with a batch from any of its queues."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sluice.services.compiler.jobs.consumer import QueueConsumer
from sluice.services.compiler.jobs.dead_letters import DEAD_LETTER_QUEUE, DeadLetterRecorder
from sluice.services.compiler.jobs.message_delivery import MessageDelivery
from sluice.services.compiler.jobs.queue_stats import QueueStatsPublisher
from sluice.services.compiler.requests import Priority


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueHandler:
    consumer: QueueConsumer
    dead_letters: DeadLetterRecorder
    publisher: QueueStatsPublisher

    async def handle_batch(self, queue: str, deliveries: Sequence[MessageDelivery]) -> None:
        """Run the jobs of a batch, or record the dead letters, and publish the statistics."""
        if queue == DEAD_LETTER_QUEUE:
            await self.dead_letters.record(deliveries)
        else:
            await self.consumer.consume(deliveries)
        await self.publisher.publish()


class QueueSender(Protocol):
    async def send(self, body: object) -> None: ...


@dataclass(frozen=True, slots=True)
class PriorityQueues:
    """The two queues that jobs are sent to; each is opened when it is used."""

    open: Callable[[Priority], QueueSender]

    async def send(self, priority: Priority, body: Mapping[str, Any]) -> None:
        await self.open(priority).send(dict(body))
