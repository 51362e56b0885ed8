"""The consumer of both queues: every message ends acknowledged or retried, and is counted."""

import asyncio
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from sluice.core.compiler.configuration import parse_configuration
from sluice.core.errors import Invalid, SluiceError, Unavailable, Unusable
from sluice.core.ports import Clock, Log
from sluice.core.timestamps import elapsed_ms
from sluice.services.compiler.cache.compilation_records import Count, Trigger
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import ListSummary
from sluice.services.compiler.jobs.chunk_log import ChunkLog
from sluice.services.compiler.jobs.dead_letters import DeadLetterRecorder
from sluice.services.compiler.jobs.job_store import LEASE_S, MAX_TRIES, JobStore
from sluice.services.compiler.jobs.message_delivery import MessageDelivery, retry_delay_s
from sluice.services.compiler.jobs.queue_messages import (
    BatchMessage,
    CompileMessage,
    MalformedMessage,
    Message,
    UnknownMessage,
    WarmMessage,
    parse_message,
)
from sluice.services.compiler.limits.allowance import (
    MAX_FETCHES,
    OPERATOR_FETCHES,
    FetchAllowance,
    count_sent_files,
    share_fetches,
)
from sluice.services.compiler.limits.spent_fetches import SpentFetches
from sluice.services.compiler.requests import BatchItem
from sluice.services.compiler.workflows.batch_items import CompileOne, Item, ItemRunner

T = TypeVar("T")

MessageOutcome = Literal["acked", "cancelled", "failed", "malformed", "retried", "skipped", "unknown"]


class _LeaseLost(Exception):
    """The job was cancelled while it ran, or a later attempt was claimed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueConsumer:
    jobs: JobStore
    items: ItemRunner
    spent: SpentFetches
    dead_letters: DeadLetterRecorder
    compile: CompileOne
    clock: Clock
    log: Log
    count: Count

    async def consume(self, deliveries: Sequence[MessageDelivery]) -> Counter[str]:
        """Work on the messages one after another. Return the number of each outcome."""
        self.log.event("queue.batch", messages=len(deliveries))
        outcomes: Counter[str] = Counter()
        for number, delivery in enumerate(deliveries, 1):
            began_s = self.clock.now()
            outcome = await self._consume_one(delivery)
            outcomes[outcome] += 1
            self.count("queue_messages", outcome)
            place = f"{number}/{len(deliveries)}"
            duration_ms = self._since_ms(began_s)
            self.log.event("queue.message", id=delivery.id, place=place, outcome=outcome, duration_ms=duration_ms)
        self.log.event("queue.batch_done", **outcomes)
        return outcomes

    async def _consume_one(self, delivery: MessageDelivery) -> MessageOutcome:
        """Work on one message. One that can never be handled is acknowledged: delivering it again would not help."""
        match parse_message(delivery.body):
            case UnknownMessage(type=kind):
                self.log.event("queue.unknown_message", id=delivery.id, type=kind)
                delivery.ack()
                return "unknown"
            case MalformedMessage():
                delivery.ack()
                return "malformed"
            case message:
                return await self._handle_message(message, delivery)

    async def _handle_message(self, message: Message, delivery: MessageDelivery) -> MessageOutcome:
        if message.request_id is None:
            message = message.model_copy(update={"request_id": f"message-{delivery.id}"})
        try:
            return await self._run_job(message, str(message.request_id), delivery)
        except SluiceError as error:
            # The database itself failed and nothing is recorded, so the message must be delivered again.
            self.log.error("queue.message_failed", error, id=delivery.id)
            delivery.retry(retry_delay_s(delivery.attempts))
            return "retried"

    async def _run_job(self, message: Message, request_id: str, delivery: MessageDelivery) -> MessageOutcome:
        await self.jobs.accept_foreign(message)
        if (attempt := await self.jobs.claim(request_id)) is None:
            delivery.ack()
            return "skipped"
        began_s = self.clock.now()
        spent = (await self.spent.load(request_id)).get("", 0) if attempt > 1 else 0
        allowance = FetchAllowance(MAX_FETCHES, spent)
        try:
            summary = await self._hold_lease(request_id, attempt, self._compile(message, request_id, allowance))
        except _LeaseLost:
            delivery.ack()
            return await self._explain_loss(request_id)
        except SluiceError as error:
            await self.spent.add(request_id, "", allowance.used - spent)
            return await self._handle_failure(request_id, error, attempt, delivery, began_s)
        duration_ms = self._since_ms(began_s)
        recorded = await self.jobs.complete(request_id, attempt, duration_ms=duration_ms, summary=summary)
        delivery.ack()
        if not recorded:
            return await self._explain_loss(request_id)
        self.count("jobs", "completed")
        self._log_done(request_id, message, summary, duration_ms)
        return "acked"

    async def _explain_loss(self, request_id: str) -> MessageOutcome:
        """Return what became of an attempt that no longer holds its job."""
        job = await self.jobs.find(request_id)
        return "cancelled" if job and job.state == "cancelled" else "skipped"

    async def _handle_failure(
        self, request_id: str, error: SluiceError, attempt: int, delivery: MessageDelivery, began_s: float
    ) -> MessageOutcome:
        """Retry if that may help, else add a dead letter. The queue does that to a message after its last retry."""
        self.log.event("job.failed", request_id=request_id, attempt=attempt, reason=str(error))
        if not error.retryable or attempt > MAX_TRIES:
            recorded = await self.dead_letters.record_failure(request_id, attempt, error, self._since_ms(began_s))
            delivery.ack()
            return "failed" if recorded else await self._explain_loss(request_id)
        delay_s = retry_delay_s(delivery.attempts)
        await self.jobs.release(request_id, attempt, str(error), delay_s)
        delivery.retry(delay_s)
        return "retried"

    async def _compile(self, message: Message, request_id: str, allowance: FetchAllowance) -> ListSummary | None:
        match await self.jobs.load_content(message):
            case CompileMessage() as wanted:
                order = CompileOrder.of(wanted, parse_configuration(wanted.configuration), trigger="queue")
                return await self.compile(replace(order, allowance=allowance))
            case BatchMessage(requests=requests):
                shares = share_fetches([count_sent_files(item.configuration) for item in requests])
                await self._compile_items(request_id, requests, shares, "queue")
            case WarmMessage(configurations=configurations):
                numbered = [BatchItem(id=str(at), configuration=sent) for at, sent in enumerate(configurations)]
                await self._compile_items(request_id, numbered, [OPERATOR_FETCHES] * len(numbered), "warming")
        return None

    async def _compile_items(
        self, owner: str, sent: Sequence[BatchItem], fetches: Sequence[int], trigger: Trigger
    ) -> None:
        """Reject invalid configurations and compile the rest. The error for failed ones says whether a retry may help."""
        valid: list[Item] = []
        for item, max_fetches in zip(sent, fetches, strict=True):
            try:
                configuration = parse_configuration(item.configuration)
            except Invalid as error:
                await self.items.record_rejection(owner, item.id, str(error))
            else:
                order = CompileOrder.of(item, configuration, trigger=trigger, max_fetches=max_fetches)
                valid.append(Item(item.id, order))
        self.log.event("batch.start", request_id=owner, requests=len(sent), valid=len(valid))
        watch = ChunkLog(self.log, owner, len(valid))
        outcomes = await self.items.run(owner, valid, watch=watch)
        failed = [outcome for outcome in outcomes if not outcome.success]
        self.log.event("batch.done", request_id=owner, successful=len(valid) - len(failed), failed=len(failed))
        if len(valid) < len(sent) or any(outcome.permanent for outcome in failed):
            await self.dead_letters.record_hopeless_items(owner)
        if failed:
            reasons = "; ".join(f"{outcome.id}: {outcome.error}" for outcome in failed[:3])
            kind = Unusable if all(outcome.permanent for outcome in failed) else Unavailable
            raise kind(f"{len(failed)} of {len(sent)} items failed: {reasons}")

    async def _hold_lease(self, request_id: str, attempt: int, work: Coroutine[Any, Any, T]) -> T:
        """Do the work; meanwhile renew the lease of the job, and stop if it is lost."""
        task = asyncio.ensure_future(work)
        try:
            while not (await asyncio.wait({task}, timeout=LEASE_S / 3))[0]:
                if not await self.jobs.renew_lease(request_id, attempt):
                    raise _LeaseLost
            return task.result()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def _log_done(self, request_id: str, message: Message, summary: ListSummary | None, duration_ms: int) -> None:
        self.log.event(
            "job.done",
            request_id=request_id,
            kind=message.type,
            list=message.name,
            rules=summary.rule_count if summary else None,
            entry=summary.cache_key if summary else None,
            duration_ms=duration_ms,
        )

    def _since_ms(self, began_s: float) -> int:
        return round(elapsed_ms(began_s, self.clock.now()))
