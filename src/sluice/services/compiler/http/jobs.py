"""Background jobs over HTTP: submit one, ask for its status, fetch its result, cancel it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import Conflict, NotFound
from sluice.core.models import parse_model
from sluice.core.ports import Clock, NewId
from sluice.services.compiler.cache.compilation_records import Count
from sluice.services.compiler.cache.list_cache import ListCache
from sluice.services.compiler.cache.served_list import ServedList
from sluice.services.compiler.http.compile import build_list_reply
from sluice.services.compiler.jobs.dead_letter_store import DeadLetterStore
from sluice.services.compiler.jobs.job_store import Job, JobStore
from sluice.services.compiler.jobs.messages import BatchMessage, CompileMessage, Message
from sluice.services.compiler.jobs.queue_stats import QueueStats
from sluice.services.compiler.limits.allowance import count_sent_files, count_sent_sources, share_fetches
from sluice.services.compiler.ports import CountingGuard
from sluice.services.compiler.requests import MAX_BODY_BYTES, AsyncBatchRequest, CompileRequest, parse_priority
from sluice.services.compiler.workflows.batch_items import ItemRunner
from sluice.web import QueryReader, Reply, Request, encode_json
from sluice.web.admin import is_operator, require_admin
from sluice.web.negotiate import choose_media_type

_NOTE: Final = (
    "The result is at /queue/results/{id}, and POST /compile with the same configuration finds it in the cache."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueApi:
    guard: CountingGuard
    jobs: JobStore
    items: ItemRunner
    stats: QueueStats
    dead_letters: DeadLetterStore
    admin_token: str
    cache: ListCache
    find_workflow_job: Callable[[str], Awaitable[Job | None]]
    clock: Clock
    new_id: NewId
    count: Count

    async def submit(self, request: Request) -> Reply:
        body = parse_model(CompileRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        message = CompileMessage(
            request_id=self._new_request_id("compile"),
            timestamp=self._now_ms(),
            priority=parse_priority(body.priority),
            configuration=body.configuration.model_dump(mode="json", exclude_unset=True),
            pre_fetched_content=body.pre_fetched_content,
            benchmark=body.benchmark,
        )
        return await self._accept(message, {})

    async def submit_batch(self, request: Request) -> Reply:
        body = parse_model(AsyncBatchRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        share_fetches([count_sent_files(item.configuration) for item in body.requests])
        await self.guard.charge_sources(request, sum(count_sent_sources(item.configuration) for item in body.requests))
        message = BatchMessage(
            request_id=self._new_request_id("batch"),
            timestamp=self._now_ms(),
            priority=parse_priority(body.priority),
            requests=body.requests,
        )
        return await self._accept(message, {"batchSize": len(body.requests)})

    async def show_stats(self, _request: Request) -> Reply:
        history, depths = await self.stats.load_history(), await self.stats.load_depths()
        values = await self.stats.load_counts() | {"history": history, "depthHistory": depths}
        return Reply.json(values)

    async def show_history(self, request: Request) -> Reply:
        """Shows ids and names to the operator alone: whoever holds an id owns the job."""
        is_named = is_operator(request, self.admin_token)
        history = await (self.stats.load_named_history() if is_named else self.stats.load_history())
        values = {"history": history, "depthHistory": await self.stats.load_depths()}
        return Reply.json(values)

    async def show_dead_letters(self, request: Request) -> Reply:
        """Replies to the operator alone: letters hold ids, names and sources of callers."""
        require_admin(request, self.admin_token)
        return Reply.json({"deadLetters": [letter.as_json() for letter in await self.dead_letters.load_newest()]})

    async def show_result(self, request: Request) -> Reply:
        item = read_item(request)
        job = await self._find_job(request.params["id"])
        if job.kind != "compile":
            return await self._build_batch_reply(request, job, item)
        if job.state != "completed" or job.cache_key is None:
            return Reply.json(_job_as_json(job))
        return await self._build_list_reply(request, job, job.cache_key)

    async def cancel(self, request: Request) -> Reply:
        request_id = request.params["id"]
        if await self.jobs.cancel(request_id):
            self.count("jobs", "cancelled")
            note = "A job that had not begun never will; the result of one under way is dropped."
            return Reply.json({"success": True, "message": f"Job {request_id} is cancelled", "note": note})
        job = await self._find_job(request_id)
        raise Conflict(f"job {request_id} is {job.state} already")

    async def _find_job(self, request_id: str) -> Job:
        """Finds a job by its id, which is all that its owner needs."""
        job = await self.jobs.find(request_id) or await self.find_workflow_job(request_id)
        if job is None:
            raise NotFound(f"there is no job {request_id}")
        return job

    async def _accept(self, message: Message, extra: dict[str, Any]) -> Reply:
        await self.jobs.accept(message)
        self.count("jobs", "enqueued")
        request_id = str(message.request_id)
        values = {
            "success": True,
            "message": "The job is queued",
            "note": _NOTE.format(id=request_id),
            "requestId": request_id,
            **extra,
            "priority": message.priority,
        }
        return Reply.json(values, 202, {"Location": f"/queue/results/{request_id}"})

    async def _build_list_reply(self, request: Request, job: Job, key: str) -> Reply:
        """Replies with the stored list, as text or under a head that describes the job."""
        media_type = choose_media_type(request.headers.get("accept"), ("application/json", "text/plain"))
        if media_type == "text/plain" and (text := await self.cache.find_text(key)):
            return build_list_reply(request, ServedList(text.summary, "cached", text), "text")
        if (file := await self.cache.find_reply(key)) is None:
            error = "The result is no longer in the cache; compile it again"
            values = {"success": False, "status": "cache_miss", "error": error, "jobInfo": _info_as_json(job)}
            return Reply.json(values)
        head = {"success": True, "status": "completed", "jobInfo": _info_as_json(job)}
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
        return Reply.json(_job_as_json(job) | {"results": results})

    def _new_request_id(self, kind: str) -> str:
        """Returns an id that nobody can guess: whoever knows it owns the job."""
        return f"{kind}-{self._now_ms()}-{self.new_id()}"

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def read_item(request: Request) -> str | None:
    """Return `?item=`, the id of an item of a batch."""
    query = QueryReader(request)
    item = query.text("item")
    query.check()
    return item


def _job_as_json(job: Job) -> dict[str, Any]:
    is_completed = job.state == "completed"
    values = {"success": is_completed, "status": job.state, "jobInfo": _info_as_json(job)}
    return values | ({"error": job.error} if job.error and not is_completed else {})


def _info_as_json(job: Job) -> dict[str, Any]:
    return {
        "requestId": job.request_id,
        "configName": job.config_name,
        "priority": job.priority,
        "attempts": job.attempts,
        "duration": job.duration_ms,
        "timestamp": job.finished_ms or job.created_ms,
    }
