"""The consumer of both queues and of the dead letters: every message ends acknowledged or retried, and is counted."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.errors import Invalid, SluiceError, Unavailable
from sluice.core.ports import Clock, Log
from sluice.services.compiler.cache.cache import SYNC_TTL_S
from sluice.services.compiler.cache.records import Count
from sluice.services.compiler.cache.results import Compiled
from sluice.services.compiler.jobs.jobs import LEASE_S, MAX_TRIES, Jobs
from sluice.services.compiler.jobs.messages import (
    BatchMessage,
    CompileMessage,
    Message,
    WarmMessage,
    is_unknown,
    read_message,
)
from sluice.services.compiler.workflows.items import CompileOne, Item, Items

T = TypeVar("T")
MAX_DELAY_S: Final = 3600

# An item as it was sent: its id, its configuration, its content.
Given = tuple[str, dict[str, Any], dict[str, str]]


class Delivery(Protocol):
    """One message as the queue delivers it."""

    @property
    def id(self) -> str: ...

    @property
    def body(self) -> Any: ...

    @property
    def attempts(self) -> int: ...

    def ack(self) -> None: ...
    def retry(self, delay_s: int | None = None) -> None: ...


class _Cancelled(Exception):
    """The job was cancelled while it ran."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumer:
    jobs: Jobs
    items: Items
    compile: CompileOne
    clock: Clock
    log: Log
    count: Count

    async def handle(self, deliveries: Sequence[Delivery]) -> Counter[str]:
        """Work on the messages one after another; the number of each outcome."""
        self.log.event("queue.batch", messages=len(deliveries))
        outcomes: Counter[str] = Counter()
        for place, delivery in enumerate(deliveries, 1):
            began_s = self.clock.now()
            outcome = await self._handle_one(delivery)
            outcomes[outcome] += 1
            self.count("queue_messages", outcome)
            duration_ms = round((self.clock.now() - began_s) * 1000)
            place_of = f"{place}/{len(deliveries)}"
            self.log.event("queue.message", id=delivery.id, place=place_of, outcome=outcome, duration_ms=duration_ms)
        self.log.event("queue.batch_done", **outcomes)
        return outcomes

    async def bury(self, deliveries: Sequence[Delivery]) -> None:
        """Record each job whose message was given up."""
        for delivery in deliveries:
            message = read_message(delivery.body)
            if message and message.request_id:
                await self.jobs.bury(message.request_id)
                self.count("jobs", "failed")
            self.log.event("queue.dead_letter", id=delivery.id, request_id=message.request_id if message else None)
            delivery.ack()

    async def _handle_one(self, delivery: Delivery) -> str:
        """Acknowledge what can never be done: coming back would not help it."""
        if is_unknown(delivery.body):
            delivery.ack()
            return "unknown"
        if (message := read_message(delivery.body)) is None:
            delivery.ack()
            return "malformed"
        if message.request_id is None:
            message = message.model_copy(update={"request_id": f"message-{delivery.id}"})
        try:
            return await self._job(message, str(message.request_id), delivery)
        except SluiceError as error:
            # The database itself failed: nothing is recorded, so the message must come again.
            self.log.error("queue.message_failed", error, id=delivery.id)
            delivery.retry(_delay_s(delivery.attempts))
            return "retried"

    async def _job(self, message: Message, request_id: str, delivery: Delivery) -> str:
        await self.jobs.adopt(message)
        if (attempt := await self.jobs.claim(request_id)) is None:
            delivery.ack()
            return "skipped"
        began_s = self.clock.now()
        try:
            compiled = await self._while_held(request_id, self._run(message, request_id))
        except _Cancelled:
            delivery.ack()
            return "cancelled"
        except SluiceError as error:
            return await self._failed(request_id, error, attempt, delivery, began_s)
        duration_ms = round((self.clock.now() - began_s) * 1000)
        done = await self.jobs.complete(request_id, duration_ms=duration_ms, compiled=compiled)
        delivery.ack()
        self.count("jobs", "completed" if done else "cancelled")
        self._tell(request_id, message, compiled, duration_ms)
        return "acked" if done else "cancelled"

    async def _failed(
        self, request_id: str, error: SluiceError, attempt: int, delivery: Delivery, began_s: float
    ) -> str:
        """Try again where that may help; the queue itself counts the tries and moves the message on after the last."""
        self.log.event("job.failed", request_id=request_id, attempt=attempt, reason=str(error))
        if not error.retryable or attempt > MAX_TRIES:
            duration_ms = round((self.clock.now() - began_s) * 1000)
            await self.jobs.fail(request_id, str(error), duration_ms)
            self.count("jobs", "failed")
            delivery.ack()
            return "failed"
        delay_s = _delay_s(delivery.attempts)
        await self.jobs.release(request_id, str(error), delay_s)
        delivery.retry(delay_s)
        return "retried"

    async def _run(self, message: Message, request_id: str) -> Compiled | None:
        match await self.jobs.content_of(message):
            case CompileMessage(configuration=given, pre_fetched_content=content):
                configuration = parse_configuration(given)
                return await self.compile(configuration, content=content, ttl_s=SYNC_TTL_S, path="queue")
            case BatchMessage(requests=requests):
                await self._items(
                    request_id, [(item.id, item.configuration, item.pre_fetched_content) for item in requests], "queue"
                )
            case WarmMessage(configurations=configurations):
                numbered: list[Given] = [(str(place), given, {}) for place, given in enumerate(configurations)]
                await self._items(request_id, numbered, "warming")
        return None

    async def _items(self, owner: str, given: Sequence[Given], path: str) -> None:
        """Items that are no configurations are rejected; the rest run, and what failed of them is tried again."""
        valid: list[Item] = []
        for item_id, configuration, content in given:
            try:
                valid.append(Item(id=item_id, configuration=parse_configuration(configuration), content=content))
            except Invalid as error:
                await self.items.reject(owner, item_id, str(error))
        outcomes = await self.items.run(owner, valid, ttl_s=SYNC_TTL_S, path=path)
        failed = [outcome for outcome in outcomes if not outcome.success]
        self.log.event("batch.done", request_id=owner, successful=len(valid) - len(failed), failed=len(failed))
        if failed:
            told = "; ".join(f"{outcome.id}: {outcome.error}" for outcome in failed[:3])
            raise Unavailable(f"{len(failed)} of {len(given)} items failed: {told}")

    async def _while_held(self, request_id: str, work: Coroutine[Any, Any, T]) -> T:
        """Do the work, telling every few seconds that it is still under way, and stop when it was cancelled."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=LEASE_S / 3))[0]:
                if not await self.jobs.renew(request_id):
                    raise _Cancelled
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _tell(self, request_id: str, message: Message, compiled: Compiled | None, duration_ms: int) -> None:
        self.log.event(
            "job.done",
            request_id=request_id,
            kind=message.type,
            list=message.name,
            rules=compiled.rule_count if compiled else None,
            entry=compiled.cache_key if compiled else None,
            duration_ms=duration_ms,
        )


def _delay_s(attempts: int) -> int:
    """2, 4, 8 … seconds."""
    return min(1 << max(attempts, 1), MAX_DELAY_S)
