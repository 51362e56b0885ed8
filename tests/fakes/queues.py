"""A queue whose messages wait until a test takes them as a batch."""

import json
from dataclasses import dataclass, field
from typing import Any

from fakes.binding import Fake, JsError, check_sendable


@dataclass
class FakeMessage:
    """One delivery; `answer` is the consumer's reaction to it."""

    id: str
    body: Any
    attempts: int = 1
    delay_s: int = 0
    answer: str | None = None

    def ack(self) -> None:
        self.answer = "ack"

    def retry(self, options: dict[str, int] | None = None) -> None:
        self.answer = "retry"
        self.delay_s = _read_delay(options or {})


@dataclass
class FakeBatch:
    messages: list[FakeMessage]
    queue: str = "fake"


@dataclass
class _Sent:
    waiting: list[FakeMessage] = field(default_factory=list)
    count: int = 0


class FakeQueue(Fake):
    def __init__(self) -> None:
        super().__init__()
        self._sent = _Sent()

    @property
    def waiting(self) -> list[FakeMessage]:
        return self._sent.waiting

    async def send(self, body: object, options: dict[str, int]) -> None:
        message, delay = _encode_body(body), _read_delay(options)
        with self.operation("send"):
            self._accept(message, delay)

    async def sendBatch(self, messages: list[dict[str, Any]], options: dict[str, int]) -> None:  # noqa: N802 - as bound
        if not 1 <= len(messages) <= 100:
            raise JsError("sendBatch() takes 1 to 100 messages", "TypeError")
        bodies, delay = [_encode_body(message["body"]) for message in messages], _read_delay(options)
        if sum(len(body.encode()) + 100 for body in bodies) > 256_000:
            raise JsError("Queue sendBatch failed: Payload Too Large")
        with self.operation("sendBatch", f"{len(bodies)} messages"):
            for body in bodies:
                self._accept(body, delay)

    def deliver(self, limit: int = 10) -> FakeBatch:
        """Take the next messages off the queue; pass the batch to `settle` afterwards."""
        batch = FakeBatch(self._sent.waiting[:limit])
        del self._sent.waiting[:limit]
        return batch

    def settle(self, batch: FakeBatch, *, failed: bool = False) -> None:
        """Requeue messages as the platform does after the handler: retried ones, and unanswered ones if it failed."""
        for message in batch.messages:
            if message.answer == "retry" or (failed and message.answer is None):
                redelivery = FakeMessage(message.id, message.body, message.attempts + 1, message.delay_s)
                self._sent.waiting.append(redelivery)

    def _accept(self, body: str, delay_s: int) -> None:
        self._sent.count += 1
        self._sent.waiting.append(FakeMessage(f"message-{self._sent.count}", json.loads(body), delay_s=delay_s))


def _encode_body(body: object) -> str:
    check_sendable(body)
    encoded = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(encoded.encode()) + 100 > 128_000:
        raise JsError("Queue send failed: message length exceeds limit of 128000 bytes")
    return encoded


def _read_delay(options: dict[str, int]) -> int:
    delay = options.get("delaySeconds", 0)
    if not 0 <= delay <= 86_400:
        raise JsError("Queue send failed: delay must be between 0 and 86400 seconds")
    return delay
