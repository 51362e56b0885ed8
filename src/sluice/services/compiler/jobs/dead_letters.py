"""Dead letters: messages that the queue gave up after their last retry."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Log
from sluice.services.compiler.cache.compilation_records import Count
from sluice.services.compiler.jobs.delivery import Delivery
from sluice.services.compiler.jobs.job_store import JobStore
from sluice.services.compiler.jobs.messages import MalformedMessage, UnknownMessage, parse_message

DEAD_LETTER_QUEUE: Final = "adblock-compiler-dlq"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetters:
    jobs: JobStore
    log: Log
    count: Count

    async def record(self, deliveries: Sequence[Delivery]) -> None:
        """Records the job of each message as failed."""
        for delivery in deliveries:
            request_id = _request_id(delivery)
            if request_id:
                await self.jobs.fail_dead_letter(request_id)
                self.count("jobs", "failed")
            given_up = SluiceError("the queue gave the message up after its last retry")
            self.log.error("queue.dead_letter", given_up, id=delivery.id, request_id=request_id)
            delivery.ack()


def _request_id(delivery: Delivery) -> str | None:
    match parse_message(delivery.body):
        case UnknownMessage() | MalformedMessage():
            return None
        case message:
            return message.request_id
