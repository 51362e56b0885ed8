"""What becomes of jobs that failed for good: a dead letter and an error line for each, and the end of the job."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Log, Statement
from sluice.services.compiler.cache.compilation_records import Count
from sluice.services.compiler.jobs.dead_letter_store import DeadLetterStore, StoredLetter, read_letters
from sluice.services.compiler.jobs.job_store import JobStore
from sluice.services.compiler.jobs.message_delivery import MessageDelivery
from sluice.services.compiler.jobs.queue_messages import MalformedMessage, UnknownMessage, parse_message

DEAD_LETTER_QUEUE: Final = "adblock-compiler-dlq"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetterRecorder:
    jobs: JobStore
    store: DeadLetterStore
    log: Log
    count: Count

    async def record(self, deliveries: Sequence[MessageDelivery]) -> None:
        """Record the job of each message that the queue gave up as failed."""
        for delivery in deliveries:
            request_id = _request_id(delivery)
            if request_id:
                await self._end(request_id, self.store.add_job(request_id), self.jobs.fail_dead_letter(request_id))
            else:
                given_up = SluiceError("the queue gave up a message that is no job")
                self.log.error("queue.dead_letter", given_up, id=delivery.id, request_id=None)
            delivery.ack()

    async def record_failure(self, request_id: str, attempt: int, error: SluiceError, duration_ms: int) -> bool:
        """Record a job as failed that no retry can help; False if it was cancelled, or a later attempt was claimed."""
        letters = self.store.add_job(request_id, attempt, str(error))
        return await self._end(request_id, letters, self.jobs.fail(request_id, attempt, str(error), duration_ms))

    async def record_hopeless_items(self, request_id: str) -> None:
        """Record the items of a batch that no retry can help."""
        self._log_letters(await self.store.add_hopeless_items(request_id))

    async def _end(self, request_id: str, letters: Sequence[Statement], end: Statement) -> bool:
        """Add the letters and end the job in one transaction: neither is there without the other."""
        rows = await self.jobs.finish(request_id, [*letters, end])
        if rows is None:
            return False
        self._log_letters(read_letters(rows))
        self.count("jobs", "failed")
        return True

    def _log_letters(self, letters: Sequence[StoredLetter]) -> None:
        for letter in letters:
            item = {"item": letter.item_id} if letter.item_id else {}
            self.log.error(
                "queue.dead_letter",
                SluiceError(letter.reason),
                request_id=letter.request_id,
                **item,
                list=letter.config_name,
                attempts=letter.attempts,
            )


def _request_id(delivery: MessageDelivery) -> str | None:
    match parse_message(delivery.body):
        case UnknownMessage() | MalformedMessage():
            return None
        case message:
            return message.request_id
