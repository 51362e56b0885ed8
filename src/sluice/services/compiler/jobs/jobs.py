"""Accepted jobs: a row first, a message second, so that whatever dies in between, the job does not.

States: queued → running → completed | failed, back to queued before a retry, and cancelled from either of the first two.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.ports import Bucket, Clock, Database, Log
from sluice.services.compiler.cache.results import MAX_NAME_CHARS, Compiled
from sluice.services.compiler.jobs.messages import Message, read_message
from sluice.services.compiler.requests import Priority, priority_of

MAX_TRIES: Final = 5
LEASE_S: Final = 30.0
RETENTION_S: Final = 7 * 24 * 3600
# A queue takes 128,000 bytes; what is larger goes by key.
MAX_MESSAGE_BYTES: Final = 100_000
CONTENT: Final = "jobs/"
# When a message that was sent counts as lost: after 30 s, and each time twice as long, up to an hour.
_FIRST_WAIT_S: Final = 30
_MAX_WAIT_S: Final = 3600
_UNSENT_GRACE_S: Final = 5
_SWEPT_AT_ONCE: Final = 50
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
set state = ?, finished_ms = ?, duration_ms = ?, cache_key = ?, rule_count = ?, error = ?, lease_ms = null
where request_id = ? and state in ('queued', 'running')
"""
_DUE: Final = f"""
select request_id, priority, message from compile_jobs
where (state = 'queued' and sent_ms is null and created_ms < ?1 - {_UNSENT_GRACE_S * 1000})
   or (state = 'queued' and sent_ms + min({_FIRST_WAIT_S} << min(max(sends - 1, 0), 7), {_MAX_WAIT_S}) * 1000 < ?1)
   or (state = 'running' and lease_ms < ?1)
order by created_ms limit {_SWEPT_AT_ONCE}
"""  # noqa: S608 - only constants

Send = Callable[[Priority, Mapping[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """`arm` makes sure that a sweep will come, whatever happens to this process."""

    database: Database
    bucket: Bucket
    send: Send
    arm: Callable[[], Awaitable[None]]
    clock: Clock
    log: Log

    async def accept(self, message: Message) -> None:
        """Once this returns, the job will be done; sending may fail now, the sweep does it then."""
        await self.arm()
        body = await self._sendable(message)
        priority = priority_of(message.priority)
        row = (_id(message), message.type, priority, message.name[:MAX_NAME_CHARS], encode_json(body), self._now_ms())
        await self.database.run(_INSERT, *row)
        try:
            await self._dispatch(_id(message), priority, body)
        except SluiceError as error:
            self.log.error("job.not_sent", error, request_id=message.request_id)

    async def adopt(self, message: Message) -> None:
        """Make a row for a message that somebody else sent, unless there is one."""
        body = encode_json(message.model_dump(mode="json", by_alias=True))
        name = message.name[:MAX_NAME_CHARS]
        row = (_id(message), message.type, priority_of(message.priority), name, body, self._now_ms())
        await self.database.run(_INSERT, *row)

    async def content_of(self, message: Message) -> Message:
        """The message with its content, wherever that stands."""
        if message.content_key is None:
            return message
        content = await self.bucket.get_bytes(message.content_key)
        found = read_message(json.loads(content)) if content else None
        if found is None:
            raise SluiceError(f"the content of job {message.request_id} is not there any more")
        return found

    async def claim(self, request_id: str) -> int | None:
        """The number of this attempt, or None when the job is over, cancelled, or in other hands."""
        now_ms = self._now_ms()
        changed = await self.database.run(_CLAIM, now_ms, now_ms + round(LEASE_S * 1000), request_id)
        return int(changed.rows[0]["attempts"]) if changed.rows else None

    async def renew(self, request_id: str) -> bool:
        """Hold the job a little longer; False when it was cancelled meanwhile."""
        changed = await self.database.run(
            "update compile_jobs set lease_ms = ? where request_id = ? and state = 'running'",
            self._now_ms() + round(LEASE_S * 1000),
            request_id,
        )
        return changed.changes > 0

    async def complete(self, request_id: str, *, duration_ms: int, compiled: Compiled | None = None) -> bool:
        """False when the job was cancelled meanwhile."""
        told = (compiled.cache_key, compiled.rule_count) if compiled else (None, None)
        row = ("completed", self._now_ms(), duration_ms, *told, None, request_id)
        return (await self.database.run(_FINISH, *row)).changes > 0

    async def release(self, request_id: str, error: str, delay_s: int) -> None:
        """Give it back for another try after the delay, with the reason why this one failed."""
        await self.database.run(
            "update compile_jobs set state = 'queued', lease_ms = null, error = ?, sent_ms = ?"
            " where request_id = ? and state = 'running'",
            error[:_MAX_ERROR_CHARS],
            self._now_ms() + delay_s * 1000,
            request_id,
        )

    async def fail(self, request_id: str, error: str, duration_ms: int = 0) -> None:
        row = ("failed", self._now_ms(), duration_ms, None, None, error[:_MAX_ERROR_CHARS], request_id)
        await self.database.run(_FINISH, *row)

    async def bury(self, request_id: str) -> None:
        """Record a job as failed whose message is in the dead letter queue; its last error stays."""
        await self.database.run(
            "update compile_jobs set state = 'failed', finished_ms = ?, lease_ms = null,"
            " error = coalesce(error, 'gave up without a reason') where request_id = ? and state in ('queued', 'running')",
            self._now_ms(),
            request_id,
        )

    async def cancel(self, request_id: str) -> bool:
        """Whether it was still to be cancelled: a queued job never runs, a running one is not recorded as done."""
        changed = await self.database.run(
            "update compile_jobs set state = 'cancelled', finished_ms = ?, lease_ms = null"
            " where request_id = ? and state in ('queued', 'running')",
            self._now_ms(),
            request_id,
        )
        return changed.changes > 0

    async def find(self, request_id: str) -> dict[str, Any] | None:
        return await self.database.first("select * from compile_jobs where request_id = ?", request_id)

    async def under_way(self) -> bool:
        left = "select 1 from compile_jobs where state in ('queued', 'running') limit 1"
        return await self.database.value(left) is not None

    async def sweep(self) -> None:
        """Send again what never arrived."""
        for row in await self.database.all(_DUE, self._now_ms()):
            self.log.event("job.sent_again", request_id=row["request_id"])
            await self.database.run(
                "update compile_jobs set state = 'queued', lease_ms = null where request_id = ? and state = 'running'",
                row["request_id"],
            )
            await self._sent_again(row)

    async def tidy(self) -> None:
        """Forget jobs that ended a week ago."""
        before_ms = self._now_ms() - RETENTION_S * 1000
        await self.database.run("delete from compile_jobs where finished_ms < ?", before_ms)

    async def _sent_again(self, row: Mapping[str, Any]) -> None:
        """One that can never be sent fails, so that it does not stand in the way of all later ones."""
        try:
            await self._dispatch(row["request_id"], row["priority"], json.loads(row["message"]))
        except SluiceError as error:
            self.log.error("job.not_sent", error, request_id=row["request_id"])
            if not error.retryable:
                await self.fail(row["request_id"], str(error))

    async def _dispatch(self, request_id: str, priority: Priority, body: Mapping[str, Any]) -> None:
        await self.send(priority, body)
        await self.database.run(
            "update compile_jobs set sent_ms = ?, sends = sends + 1 where request_id = ?", self._now_ms(), request_id
        )

    async def _sendable(self, message: Message) -> dict[str, Any]:
        """The message itself, or the key under which its content stands."""
        body = message.model_dump(mode="json", by_alias=True, exclude_defaults=True) | {"type": message.type}
        if len(content := encode_utf8(encode_json(body))) <= MAX_MESSAGE_BYTES:
            return body
        key = CONTENT + _id(message)
        ends = {"expires_at": str(round(self.clock.now()) + RETENTION_S)}
        await self.bucket.put(key, content, custom_metadata=ends)
        kept = {name: body[name] for name in ("type", "requestId", "timestamp", "priority") if name in body}
        return kept | {"contentKey": key}

    def _now_ms(self) -> int:
        return round(self.clock.now() * 1000)


def _id(message: Message) -> str:
    if message.request_id is None:
        raise SluiceError("a job without an id cannot be kept")
    return message.request_id
