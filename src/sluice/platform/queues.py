"""Queues: sends messages in batches within the platform's limits, and reads the messages of a delivered batch."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import Invalid
from sluice.platform.failures import translate_errors
from sluice.platform.values import measure_json, to_plain

# The platform's kilobyte has 1,000 bytes, and it adds about 100 bytes of its own to each message.
OVERHEAD_BYTES: Final = 100
MAX_MESSAGE_BYTES: Final = 128_000 - OVERHEAD_BYTES
MAX_BATCH_BYTES: Final = 256_000
MAX_BATCH: Final = 100
MAX_DELAY_S: Final = 24 * 60 * 60


class Producer:
    """The sending side of one queue."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    async def send(self, body: object, *, delay_s: int | None = None) -> None:
        measure_json(body, "message", MAX_MESSAGE_BYTES)
        with translate_errors("queue send"):
            await self._queue.send(body, _delay_options(delay_s))

    async def send_many(self, bodies: Iterable[object], *, delay_s: int | None = None) -> None:
        """Send all messages; if one is too large none is sent, but after a failure some may have been sent."""
        options = _delay_options(delay_s)
        for batch in list(_split_into_batches(bodies)):
            with translate_errors(f"queue send of {len(batch)} messages"):
                await self._queue.sendBatch([{"body": body} for body in batch], options)


@dataclass(frozen=True, slots=True)
class DeliveredMessage:
    """One delivered message; it counts as acknowledged if the handler ends without an error."""

    id: str
    body: Any
    attempts: int
    raw: Any

    def ack(self) -> None:
        """Acknowledge the message, so that it is not delivered again."""
        self.raw.ack()

    def retry(self, delay_s: int | None = None) -> None:
        """Ask for another delivery after the delay."""
        self.raw.retry(_delay_options(delay_s))


def read_messages(batch: Any) -> list[DeliveredMessage]:
    """Return the messages of a batch that the SDK gives to the consumer."""
    return [DeliveredMessage(raw.id, to_plain(raw.body), raw.attempts, raw) for raw in batch.messages]


def _split_into_batches(bodies: Iterable[object]) -> Iterator[list[object]]:
    batch: list[object] = []
    total = 0
    for index, body in enumerate(bodies):
        size = measure_json(body, f"message {index}", MAX_MESSAGE_BYTES) + OVERHEAD_BYTES
        if batch and (len(batch) == MAX_BATCH or total + size > MAX_BATCH_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(body)
        total += size
    if batch:
        yield batch


def _delay_options(delay_s: int | None) -> dict[str, int]:
    if delay_s is None:
        return {}
    if not 0 <= delay_s <= MAX_DELAY_S:
        raise Invalid(f"a message can be delayed by 0 to {MAX_DELAY_S} s, not {delay_s}")
    return {"delaySeconds": delay_s}
