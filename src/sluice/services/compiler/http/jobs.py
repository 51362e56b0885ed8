"""Jobs over HTTP: hand one in, ask how it stands, fetch its result, cancel it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.errors import Conflict, NotFound
from sluice.core.ports import Clock
from sluice.services.compiler.cache.cache import ResultCache
from sluice.services.compiler.cache.records import Count
from sluice.services.compiler.cache.single_flight import Flown
from sluice.services.compiler.http.compile import list_reply
from sluice.services.compiler.jobs.jobs import Jobs
from sluice.services.compiler.jobs.messages import BatchMessage, CompileMessage, Message
from sluice.services.compiler.jobs.stats import QueueStats
from sluice.services.compiler.ports import Guarded
from sluice.services.compiler.requests import MAX_BODY_BYTES, AsyncBatchRequest, CompileRequest, priority_of
from sluice.services.compiler.workflows.items import Items
from sluice.web import Reply, Request, encode_json, parse_model, read_query

_NOTE: Final = (
    "The result is at /queue/results/{id}, and POST /compile with the same configuration finds it in the cache."
)
_FRESH: Final = {"Cache-Control": "no-store"}


class ResultQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    item: Annotated[str | None, Field(description="The id of an item of a batch: the reply is its list.")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueApi:
    """`draw` gives random letters for ids."""

    guard: Guarded
    jobs: Jobs
    items: Items
    stats: QueueStats
    cache: ResultCache
    clock: Clock
    draw: Callable[[], str]
    count: Count

    async def compile(self, request: Request) -> Reply:
        given = parse_model(CompileRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        message = CompileMessage(
            request_id=self._new_id("compile"),
            timestamp=self._now_ms(),
            priority=priority_of(given.priority),
            configuration=given.configuration.model_dump(mode="json", exclude_unset=True),
            pre_fetched_content=given.pre_fetched_content,
            benchmark=given.benchmark,
        )
        return await self._accepted(message, {})

    async def batch(self, request: Request) -> Reply:
        given = parse_model(AsyncBatchRequest, await self.guard(request, max_bytes=MAX_BODY_BYTES))
        message = BatchMessage(
            request_id=self._new_id("batch"),
            timestamp=self._now_ms(),
            priority=priority_of(given.priority),
            requests=given.requests,
        )
        return await self._accepted(message, {"batchSize": len(given.requests)})

    async def counts(self, _request: Request) -> Reply:
        history, depths = await self.stats.history(), await self.stats.depths()
        told = await self.stats.counts() | {"history": history, "depthHistory": depths}
        return Reply.json(told, headers=_FRESH)

    async def history(self, _request: Request) -> Reply:
        told = {"history": await self.stats.history(), "depthHistory": await self.stats.depths()}
        return Reply.json(told, headers=_FRESH)

    async def results(self, request: Request) -> Reply:
        wanted = read_query(request, ResultQuery)
        request_id = request.params["id"]
        if (job := await self.jobs.find(request_id)) is None:
            raise NotFound(f"there is no job {request_id}")
        if job["kind"] != "compile":
            return await self._batch_results(request, job, wanted.item)
        if job["state"] != "completed":
            return Reply.json(_unfinished(job), headers=_FRESH)
        return await self._list(request, job, job["cache_key"])

    async def cancel(self, request: Request) -> Reply:
        request_id = request.params["id"]
        if await self.jobs.cancel(request_id):
            self.count("jobs", "cancelled")
            note = "A job that had not begun never will; the result of one under way is dropped."
            return Reply.json({"success": True, "message": f"Job {request_id} is cancelled", "note": note})
        if (job := await self.jobs.find(request_id)) is None:
            raise NotFound(f"there is no job {request_id}")
        raise Conflict(f"job {request_id} is {job['state']} already")

    async def _accepted(self, message: Message, more: dict[str, Any]) -> Reply:
        await self.jobs.accept(message)
        self.count("jobs", "enqueued")
        request_id = str(message.request_id)
        told = {
            "success": True,
            "message": "The job is queued",
            "note": _NOTE.format(id=request_id),
            "requestId": request_id,
            **more,
            "priority": message.priority,
        }
        return Reply.json(told, 202, {"Location": f"/queue/results/{request_id}", **_FRESH})

    async def _list(self, request: Request, job: dict[str, Any], key: str) -> Reply:
        """The stored reply under another head."""
        if (file := await self.cache.find(key)) is None:
            error = "The result is not in the cache any more; compile it again"
            told = {"success": False, "status": "cache_miss", "error": error, "jobInfo": _info(job)}
            return Reply.json(told, headers=_FRESH)
        head = {"success": True, "status": "completed", "jobInfo": _info(job)}
        told_file = file.with_head((encode_json(head)[:-1] + ",").encode())
        return list_reply(request, Flown(file.compiled, "cached", told_file), "json")

    async def _batch_results(self, request: Request, job: dict[str, Any], item: str | None) -> Reply:
        outcomes = await self.items.outcomes(job["request_id"])
        if item is not None:
            outcome = outcomes.get(item)
            if outcome is None or not outcome.success or outcome.cache_key is None:
                raise NotFound(f"job {job['request_id']} has no list for the item {item[:80]}")
            return await self._list(request, job, outcome.cache_key)
        told = _unfinished(job) if job["state"] != "completed" else _finished(job)
        return Reply.json(told | {"results": [one.as_json() for one in outcomes.values()]}, headers=_FRESH)

    def _new_id(self, kind: str) -> str:
        return f"{kind}-{self._now_ms()}-{self.draw()}"

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _finished(job: dict[str, Any]) -> dict[str, Any]:
    return {"success": True, "status": "completed", "jobInfo": _info(job)}


def _unfinished(job: dict[str, Any]) -> dict[str, Any]:
    told = {"success": False, "status": job["state"], "jobInfo": _info(job)}
    return told | ({"error": job["error"]} if job["error"] else {})


def _info(job: dict[str, Any]) -> dict[str, Any]:
    return {
        "requestId": job["request_id"],
        "configName": job["config_name"],
        "priority": job["priority"],
        "attempts": job["attempts"],
        "duration": job["duration_ms"],
        "timestamp": job["finished_ms"] or job["created_ms"],
    }
