"""Background jobs over HTTP: submit one, ask for its status, fetch its result, cancel it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from sluice.core.errors import Conflict, NotFound
from sluice.core.models import parse_model
from sluice.core.ports import Clock
from sluice.services.compiler.cache.compilation_records import Count
from sluice.services.compiler.cache.list_cache import ListCache
from sluice.services.compiler.cache.served_list import ServedList
from sluice.services.compiler.guard.guard import REFUSED, TOKEN
from sluice.services.compiler.guard.idempotency import IdempotencyKeys, Ticket
from sluice.services.compiler.http.compile import build_list_reply
from sluice.services.compiler.http.job_replies import (
    BatchSize,
    DeadLetters,
    JobAccepted,
    JobCancelled,
    JobHead,
    JobList,
    JobStatus,
    build_status,
    describe_job,
)
from sluice.services.compiler.jobs.dead_letter_store import DeadLetterStore
from sluice.services.compiler.jobs.job_store import Job, JobStore
from sluice.services.compiler.jobs.queue_messages import MAX_ID_CHARS, BatchMessage, CompileMessage, Message
from sluice.services.compiler.jobs.queue_stats import QueueCounts, QueueHistory, QueueStats
from sluice.services.compiler.limits.allowance import count_sent_files, count_sent_sources, share_fetches
from sluice.services.compiler.ports import CountingGuard
from sluice.services.compiler.requests import (
    BATCH_EXAMPLE,
    COMPILE_EXAMPLE,
    MAX_BODY_BYTES,
    AsyncBatchRequest,
    CompileRequest,
    parse_priority,
)
from sluice.services.compiler.workflows.batch_items import ItemRunner
from sluice.web import Reply, Request, encode_json
from sluice.web.admin import OperatorGate
from sluice.web.negotiate import choose_media_type
from sluice.web.operations import Media, Operation, ReplyDoc, describe
from sluice.web.parameters import PathParameter, Query, text

_NOTE: Final = (
    "The result is at /queue/results/{id}, and POST /compile with the same configuration finds it in the cache."
)

JOB: Final = PathParameter(
    "id",
    str,
    {"type": "string", "minLength": 1, "maxLength": MAX_ID_CHARS},
    "The `requestId` of a job, or the `workflowId` of a workflow. Whoever knows it owns the job.",
    "compile-1790000000000-0123456789abcdef0123456789abcdef",
)
ITEM: Final = text("item", about="The id of an item of a batch: the reply is its list.")


COMPILE_ASYNC: Final = Operation(
    "enqueueList",
    "Compile a list in the background",
    {202: ReplyDoc("The job is queued.", JobAccepted, {"Location": "The URL of its result."})},
    tag="Compile",
    body=CompileRequest,
    body_extras=TOKEN,
    example=COMPILE_EXAMPLE,
    problems=(*REFUSED, 503),
    is_repeatable=True,
)
COMPILE_BATCH_ASYNC: Final = Operation(
    "enqueueBatch",
    "Compile 1 to 100 lists in the background",
    {202: ReplyDoc("The job is queued.", JobAccepted, {"Location": "The URL of its results."})},
    tag="Compile",
    body=AsyncBatchRequest,
    body_extras=TOKEN,
    example=BATCH_EXAMPLE,
    problems=(*REFUSED, 503),
    is_repeatable=True,
)
SHOW_STATS: Final = Operation(
    "showQueueStats",
    "Statistics of the queues",
    {200: ReplyDoc("Counts and times of the last 24 hours, and the history.", QueueCounts)},
    tag="Queue",
    problems=(429,),
)
SHOW_HISTORY: Final = Operation(
    "showQueueHistory",
    "The last jobs, and the depth over time",
    {200: ReplyDoc("The last 50 jobs and 100 depths.", QueueHistory)},
    "Without the ids and names of jobs, which are for the operator: with the token they are there.",
    tag="Queue",
    problems=(429,),
)
LIST_DEAD_LETTERS: Final = Operation(
    "listDeadLetters",
    "The jobs that failed for good",
    {200: ReplyDoc("The newest 100.", DeadLetters)},
    "And the items of batches, each with its reason: the queue gave them up, or no retry could help. They are kept "
    "for a week.",
    tag="Queue",
    security=("admin",),
)
SHOW_RESULT: Final = Operation(
    "showJobResult",
    "The status of a job, and its list",
    {
        200: ReplyDoc(
            "The list of a completed job, else its status.",
            (JobList, JobStatus, Media("text/plain", "The list, a rule on each line.")),
        )
    },
    tag="Queue",
    path=(JOB,),
    query=Query(ITEM),
    problems=(404, 429),
)
CANCEL_JOB: Final = Operation(
    "cancelJob",
    "Cancel a job",
    {200: ReplyDoc("The job is cancelled.", JobCancelled)},
    "POST and DELETE do the same.",
    tag="Queue",
    path=(JOB,),
    problems=(404, 409),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueApi:
    guard: CountingGuard
    jobs: JobStore
    items: ItemRunner
    stats: QueueStats
    dead_letters: DeadLetterStore
    operators: OperatorGate
    cache: ListCache
    find_workflow_job: Callable[[str], Awaitable[Job | None]]
    keys: IdempotencyKeys
    clock: Clock
    count: Count

    @describe(COMPILE_ASYNC)
    async def submit(self, request: Request) -> Reply:
        sent = await self.guard(request, max_bytes=MAX_BODY_BYTES)
        body = parse_model(CompileRequest, sent)

        async def accept(ticket: Ticket) -> Reply:
            message = CompileMessage(
                request_id=f"compile-{ticket.unique}",
                timestamp=self._now_ms(),
                priority=parse_priority(body.priority),
                configuration=body.configuration.model_dump(mode="json", exclude_unset=True),
                **body.list_caller_options(),
            )
            return await self._accept(message, ticket, {})

        return await self.keys.run_once(request, sent, accept)

    @describe(COMPILE_BATCH_ASYNC)
    async def submit_batch(self, request: Request) -> Reply:
        sent = await self.guard(request, max_bytes=MAX_BODY_BYTES)
        body = parse_model(AsyncBatchRequest, sent)
        share_fetches([count_sent_files(item.configuration) for item in body.requests])
        await self.guard.charge_sources(request, sum(count_sent_sources(item.configuration) for item in body.requests))

        async def accept(ticket: Ticket) -> Reply:
            message = BatchMessage(
                request_id=f"batch-{ticket.unique}",
                timestamp=self._now_ms(),
                priority=parse_priority(body.priority),
                requests=body.requests,
            )
            return await self._accept(message, ticket, {"batchSize": len(body.requests)})

        return await self.keys.run_once(request, sent, accept)

    @describe(SHOW_STATS)
    async def show_stats(self, _request: Request) -> Reply:
        history, depths = await self.stats.load_history(), await self.stats.load_depths()
        stats: QueueCounts = {**await self.stats.load_counts(), "history": history, "depthHistory": depths}
        return Reply.json(stats)

    @describe(SHOW_HISTORY)
    async def show_history(self, request: Request) -> Reply:
        """Show ids and names to the operator alone: whoever holds an id owns the job."""
        is_named = await self.operators.recognise(request)
        history = await (self.stats.load_named_history() if is_named else self.stats.load_history())
        return Reply.json(QueueHistory(history=history, depthHistory=await self.stats.load_depths()))

    @describe(LIST_DEAD_LETTERS)
    async def show_dead_letters(self, request: Request) -> Reply:
        """Reply to the operator alone: letters hold ids, names and sources of callers."""
        await self.operators.admit(request)
        letters = await self.dead_letters.load_newest()
        return Reply.json(DeadLetters(deadLetters=[letter.as_json() for letter in letters]))

    @describe(SHOW_RESULT)
    async def show_result(self, request: Request) -> Reply:
        item = SHOW_RESULT.read(request)[ITEM]
        job = await self._find_job(JOB.read(request))
        if job.kind != "compile":
            return await self._build_batch_reply(request, job, item)
        if job.state != "completed" or job.cache_key is None:
            return Reply.json(build_status(job))
        return await self._build_list_reply(request, job, job.cache_key)

    @describe(CANCEL_JOB)
    async def cancel(self, request: Request) -> Reply:
        request_id = JOB.read(request)
        if await self.jobs.cancel(request_id):
            self.count("jobs", "cancelled")
            note = "A job that had not begun never will; the result of one under way is dropped."
            return Reply.json(JobCancelled(success=True, message=f"Job {request_id} is cancelled", note=note))
        job = await self._find_job(request_id)
        raise Conflict(f"job {request_id} is {job.state} already")

    @describe(CANCEL_JOB._replace(name="deleteJob"))
    async def cancel_by_delete(self, request: Request) -> Reply:
        return await self.cancel(request)

    async def _find_job(self, request_id: str) -> Job:
        """Find a job by its id, which is all that its owner needs."""
        job = await self.jobs.find(request_id) or await self.find_workflow_job(request_id)
        if job is None:
            raise NotFound(f"there is no job {request_id}")
        return job

    async def _accept(self, message: Message, ticket: Ticket, size: BatchSize) -> Reply:
        if await self.jobs.accept(message, is_repeatable=ticket.is_repeatable):
            self.count("jobs", "enqueued")
        request_id = str(message.request_id)
        accepted: JobAccepted = {
            "success": True,
            "message": "The job is queued",
            "note": _NOTE.format(id=request_id),
            "requestId": request_id,
            **size,
            "priority": message.priority,
        }
        return Reply.json(accepted, 202, {"Location": f"/queue/results/{request_id}"})

    async def _build_list_reply(self, request: Request, job: Job, key: str) -> Reply:
        """Reply with the stored list, as text or under a head that describes the job."""
        media_type = choose_media_type(request.headers.get("accept"), ("application/json", "text/plain"))
        if media_type == "text/plain" and (text := await self.cache.find_text(key)):
            return build_list_reply(request, ServedList(text.summary, "cached", text), "text")
        if (file := await self.cache.find_reply(key)) is None:
            error = "The result is no longer in the cache; compile it again"
            return Reply.json(JobStatus(success=False, status="cache_miss", error=error, jobInfo=describe_job(job)))
        head = JobHead(success=True, status="completed", jobInfo=describe_job(job))
        job_file = file.with_head((encode_json(head)[:-1] + ",").encode())
        return build_list_reply(request, ServedList(file.summary, "cached", job_file), "json")

    async def _build_batch_reply(self, request: Request, job: Job, item: str | None) -> Reply:
        outcomes = await self.items.load_outcomes(job.request_id)
        if item is not None:
            outcome = outcomes.get(item)
            if outcome is None or not outcome.success or outcome.cache_key is None:
                raise NotFound(f"job {job.request_id} has no list for the item {item[:80]}")
            return await self._build_list_reply(request, job, outcome.cache_key)
        results = [outcome.as_json() for outcome in outcomes.values()]
        return Reply.json({**build_status(job), "results": results})

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)
