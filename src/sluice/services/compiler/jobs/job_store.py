"""Accepted jobs: a row first, a queue message second, so that a crash in between loses no job.

States: queued → running → completed | failed. A job goes back to queued before a retry, and can be cancelled while it is
queued or running. The number of an attempt names its lease: who has stalled until a later attempt was claimed settles nothing.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Literal, Self

from sluice.core.errors import NotAccepted, SluiceError
from sluice.core.json_text import JsonObject, encode_json, encode_utf8
from sluice.core.ports import Bucket, Clock, Database, DatabaseRow, Log, Statement
from sluice.services.compiler.cache.compiled_list import MAX_NAME_CHARS, ListSummary
from sluice.services.compiler.cache.list_cache import JOB_CONTENT_PREFIX
from sluice.services.compiler.jobs.message_delivery import retry_delay_s
from sluice.services.compiler.jobs.queue_messages import MalformedMessage, Message, UnknownMessage, parse_message
from sluice.services.compiler.requests import Priority, parse_priority

MAX_TRIES: Final = 5
LEASE_S: Final = 30.0
RETENTION_S: Final = 7 * 24 * 3600
# A queue takes 128,000 bytes; larger content is stored in R2 and sent as its key.
MAX_MESSAGE_BYTES: Final = 100_000
# When a sent message counts as lost: after 30 s, then each time after twice as long, up to an hour.
_FIRST_WAIT_S: Final = 30
_MAX_WAIT_S: Final = 3600
# A message from before a restart may have been lost with the process (Miniflare keeps messages in memory), or wait in a long
# queue: it is sent again once, if nobody has claimed the job so long after it was due.
_RESTART_WAIT_S: Final = 60
_UNSENT_GRACE_S: Final = 5
_MAX_RETRY_WAIT_S: Final = retry_delay_s(MAX_TRIES)
_RESENT_AT_ONCE: Final = 50
_MAX_ERROR_CHARS: Final = 1000

_INSERT: Final = """
insert into compile_jobs (request_id, kind, priority, state, config_name, message, created_ms)
values (?, ?, ?, 'queued', ?, ?, ?) on conflict do nothing
"""
_CLAIM: Final = """
update compile_jobs
set state = 'running', attempts = attempts + 1, started_ms = coalesce(started_ms, ?1), lease_ms = ?2
where request_id = ?3 and (state = 'queued' or (state = 'running' and lease_ms < ?1))
returning attempts
"""
_FINISH: Final = """
update compile_jobs
set state = ?, finished_ms = ?, duration_ms = ?, cache_key = ?, rule_count = ?, error = ?, lease_ms = null, message = '{}'
where request_id = ? and state in ('queued', 'running') and attempts = coalesce(?, attempts)
"""
# The clock was set back: nothing waits longer than what begins now.
_CLAMP: Final = f"""
update compile_jobs
set lease_ms = min(lease_ms, ?1 + {round(LEASE_S * 1000)}), sent_ms = min(sent_ms, ?1 + {_MAX_RETRY_WAIT_S * 1000})
where state in ('queued', 'running')
  and (lease_ms > ?1 + {round(LEASE_S * 1000)} or sent_ms > ?1 + {_MAX_RETRY_WAIT_S * 1000})
"""  # noqa: S608 - only constants
_DUE: Final = f"""
select request_id, priority, message from compile_jobs
where (state = 'queued' and sent_ms is null
    and created_ms not between ?1 - {_UNSENT_GRACE_S * 1000} and ?1 + {_UNSENT_GRACE_S * 1000})
   or (state = 'queued' and sent_ms + min({_FIRST_WAIT_S} << min(max(sends - 1, 0), 7), {_MAX_WAIT_S}) * 1000 < ?1)
   or (state = 'queued' and sent_ms < ?2 + {_RESTART_WAIT_S * 1000} and sent_ms + {_RESTART_WAIT_S * 1000} < ?1)
   or (state = 'running' and lease_ms < ?1)
order by created_ms limit {_RESENT_AT_ONCE}
"""  # noqa: S608 - only constants

# No attempt holds the job: one whose lease has ended holds nothing.
UNLEASED: Final = "(state = 'queued' or (state = 'running' and lease_ms < {now}))"
_FINISH_UNLEASED: Final = f"""
update compile_jobs
set state = 'failed', finished_ms = ?1, lease_ms = null, message = '{{}}',
    error = coalesce(error, 'the queue gave up after the last retry')
where request_id = ?2 and {UNLEASED.format(now="?1")}
"""  # noqa: S608 - only constants

JobKind = Literal["compile", "batch-compile", "cache-warm"]
JobState = Literal["queued", "running", "completed", "failed", "cancelled"]
Send = Callable[[Priority, JsonObject], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """The row of a job."""

    request_id: str
    kind: JobKind
    priority: Priority
    state: JobState
    config_name: str
    attempts: int
    duration_ms: int | None
    cache_key: str | None
    error: str | None
    created_ms: int
    finished_ms: int | None

    @classmethod
    def from_row(cls, row: DatabaseRow) -> Self:
        return cls(**{name: row[name] for name in cls.__slots__})


@dataclass(frozen=True, slots=True, kw_only=True)
class JobStore:
    """Stores jobs and sends their messages. `arm_sweeper` makes sure that a sweep follows, even if this process ends."""

    database: Database
    bucket: Bucket
    send: Send
    arm_sweeper: Callable[[], Awaitable[None]]
    clock: Clock
    log: Log

    async def accept(self, message: Message, *, is_repeatable: bool = False) -> bool:
        """Store a job and send it; False if there is one with its id. Once this returns, the job will run: if sending fails, the sweep sends it.

        The id of a repeatable one belongs to other requests too, so a failure here leaves alone what they have stored.
        """
        if is_repeatable and await self.find(_id(message)):
            return False
        try:
            body = await self._store(message)
        except SluiceError as error:
            if not is_repeatable:
                with suppress(SluiceError):  # what stays in R2 expires
                    await self.bucket.delete(JOB_CONTENT_PREFIX + _id(message))
            if error.retryable:
                raise NotAccepted("the job could not be stored, so it was not accepted: try again later") from error
            raise
        if body is None:
            return False
        try:
            await self._dispatch(_id(message), parse_priority(message.priority), body)
        except SluiceError as error:
            self.log.error("job.not_sent", error, request_id=message.request_id)
        return True

    async def _store(self, message: Message) -> JsonObject | None:
        """Return the body of the message; None if the job is there already."""
        await self.arm_sweeper()
        body = await self._message_body(message)
        priority = parse_priority(message.priority)
        row = (_id(message), message.type, priority, message.name[:MAX_NAME_CHARS], encode_json(body), self._now_ms())
        return body if (await self.database.run(_INSERT, *row)).changes else None

    async def accept_foreign(self, message: Message) -> None:
        """Store a row for a message of another producer, unless there is one."""
        body = encode_json(message.model_dump(mode="json", by_alias=True))
        name = message.name[:MAX_NAME_CHARS]
        row = (_id(message), message.type, parse_priority(message.priority), name, body, self._now_ms())
        await self.database.run(_INSERT, *row)

    async def load_content(self, message: Message) -> Message:
        """Return the message with its content, which may be in R2."""
        if message.content_key is None:
            return message
        content = await self.bucket.get_bytes(message.content_key)
        match parse_message(json.loads(content) if content else None):
            case UnknownMessage() | MalformedMessage():
                raise SluiceError(f"the content of job {message.request_id} is no longer stored; send the job again")
            case stored:
                return stored

    async def claim(self, request_id: str) -> int | None:
        """Take the lease of a job. Return the number of this attempt; None if the job is over or leased already."""
        now_ms = self._now_ms()
        changed = await self.database.run(_CLAIM, now_ms, now_ms + round(LEASE_S * 1000), request_id)
        return int(changed.rows[0]["attempts"]) if changed.rows else None

    async def renew_lease(self, request_id: str, attempt: int) -> bool:
        """Extend the lease of an attempt; False if the job was cancelled, or a later attempt holds it."""
        changed = await self.database.run(
            "update compile_jobs set lease_ms = ? where request_id = ? and state = 'running' and attempts = ?",
            self._now_ms() + round(LEASE_S * 1000),
            request_id,
            attempt,
        )
        return changed.changes > 0

    async def complete(
        self, request_id: str, attempt: int, *, duration_ms: int, summary: ListSummary | None = None
    ) -> bool:
        """Record the job as completed; False if it was cancelled, or a later attempt was claimed."""
        result = (summary.cache_key, summary.rule_count) if summary else (None, None)
        row = ("completed", self._now_ms(), duration_ms, *result, None, request_id, attempt)
        return await self.finish(request_id, [(_FINISH, row)]) is not None

    async def release(self, request_id: str, attempt: int, error: str, delay_s: int) -> None:
        """Put the job back for a retry after the delay, with the error of this attempt."""
        await self.database.run(
            "update compile_jobs set state = 'queued', lease_ms = null, error = ?, sent_ms = ?"
            " where request_id = ? and state = 'running' and attempts = ?",
            error[:_MAX_ERROR_CHARS],
            self._now_ms() + delay_s * 1000,
            request_id,
            attempt,
        )

    def fail(self, request_id: str, attempt: int | None, error: str, duration_ms: int = 0) -> Statement:
        """Return the statement that records the job as failed, if no later attempt than this was claimed."""
        row = ("failed", self._now_ms(), duration_ms, None, None, error[:_MAX_ERROR_CHARS], request_id, attempt)
        return _FINISH, row

    def fail_dead_letter(self, request_id: str) -> Statement:
        """Return the statement that records a job as failed whose message was dead-lettered; its last error stays."""
        return _FINISH_UNLEASED, (self._now_ms(), request_id)

    async def cancel(self, request_id: str) -> bool:
        """Cancel a job; False if it is over. A queued job never runs, the result of a running one is dropped."""
        cancel = (
            "update compile_jobs set state = 'cancelled', finished_ms = ?, lease_ms = null, message = '{}'"
            " where request_id = ? and state in ('queued', 'running')"
        )
        return await self.finish(request_id, [(cancel, (self._now_ms(), request_id))]) is not None

    async def find(self, request_id: str) -> Job | None:
        row = await self.database.first("select * from compile_jobs where request_id = ?", request_id)
        return Job.from_row(row) if row else None

    async def has_unfinished(self) -> bool:
        unfinished = "select 1 from compile_jobs where state in ('queued', 'running') limit 1"
        return await self.database.value(unfinished) is not None

    async def resend_lost(self, restarted_at: float = 0.0) -> None:
        """Send the messages again that never arrived; those from before a restart are not given as much time."""
        now_ms = self._now_ms()
        _, due = await self.database.batch([(_CLAMP, (now_ms,)), (_DUE, (now_ms, round(restarted_at * 1000)))])
        for row in due.rows:
            self.log.event("job.sent_again", request_id=row["request_id"])
            await self.database.run(
                "update compile_jobs set state = 'queued', lease_ms = null"
                " where request_id = ? and state = 'running' and lease_ms < ?",
                row["request_id"],
                self._now_ms(),
            )
            await self._resend(row)

    async def delete_expired(self) -> None:
        """Delete jobs that ended a week ago."""
        before_ms = self._now_ms() - RETENTION_S * 1000
        await self.database.run("delete from compile_jobs where finished_ms < ?", before_ms)

    async def finish(self, request_id: str, statements: Sequence[Statement]) -> list[DatabaseRow] | None:
        """End a job by the last statement, in one transaction with the others, and delete what its caller has sent.

        Return the rows that the others return; None if the job was not the caller's to end. What a crash leaves in R2 expires.
        """
        *others, ended = await self.database.batch(statements)
        if not ended.changes:
            return None
        await self.bucket.delete(JOB_CONTENT_PREFIX + request_id)
        return [row for other in others for row in other.rows]

    async def _resend(self, row: DatabaseRow) -> None:
        """Fail a job that can never be sent, so that it does not block later ones."""
        try:
            await self._dispatch(row["request_id"], row["priority"], json.loads(row["message"]))
        except SluiceError as error:
            self.log.error("job.not_sent", error, request_id=row["request_id"])
            if not error.retryable:
                await self.finish(row["request_id"], [self.fail(row["request_id"], None, str(error))])

    async def _dispatch(self, request_id: str, priority: Priority, body: JsonObject) -> None:
        await self.send(priority, body)
        await self.database.run(
            "update compile_jobs set sent_ms = ?, sends = sends + 1 where request_id = ?", self._now_ms(), request_id
        )

    async def _message_body(self, message: Message) -> JsonObject:
        """Return the message, or a short one with the key of its content."""
        body = message.model_dump(mode="json", by_alias=True, exclude_defaults=True) | {"type": message.type}
        if len(content := encode_utf8(encode_json(body))) <= MAX_MESSAGE_BYTES:
            return body
        key = JOB_CONTENT_PREFIX + _id(message)
        expiry = {"expires_at": str(round(self.clock.now()) + RETENTION_S)}
        await self.bucket.put(key, content, custom_metadata=expiry)
        short_body = {name: body[name] for name in ("type", "requestId", "timestamp", "priority") if name in body}
        return short_body | {"contentKey": key}

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _id(message: Message) -> str:
    if message.request_id is None:
        raise SluiceError("a job without an id cannot be stored")
    return message.request_id
