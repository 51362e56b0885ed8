"""Idempotency keys: a request that is sent again with its `Idempotency-Key` gets the first reply, and starts nothing more.

The row of a key is stored before the work and gives it its id, so whatever repeats the request, a crash or a second request at
the same time, starts the same work again, which does nothing. A key counts for its caller alone: the operator, or an address.
So a key that somebody guesses reveals nothing to other addresses, and to the same one only what an equal body has started.
"""

import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sluice.core.errors import BadField, Conflict, Invalid, SluiceError
from sluice.core.json_text import encode_json, encode_utf8
from sluice.core.ports import Clock, Database, DatabaseRow, Log, NewId
from sluice.web import Reply, Request
from sluice.web.clients import find_client
from sluice.web.operations import IDEMPOTENCY_KEY, MAX_KEY_CHARS, REPLAYED

OPERATOR: Final = "operator"
KEPT_S: Final = 24 * 3600
_KEY: Final = re.compile(f"[!-~]{{1,{MAX_KEY_CHARS}}}")
# A key that has expired is as good as new.
_TAKE: Final = """
insert into idempotency_keys (name, body_hash, unique_part, expires_ms) values (?1, ?2, ?3, ?4)
on conflict (name) do update set
    body_hash = excluded.body_hash, unique_part = excluded.unique_part, reply = null, expires_ms = excluded.expires_ms
where idempotency_keys.expires_ms <= ?5
"""
_FIND: Final = "select * from idempotency_keys where name = ?"


class Ticket(NamedTuple):
    """The part of an id that nobody can guess; a repeatable one may be that of other requests too."""

    unique: str
    is_repeatable: bool


# Starts what has the unique part in its id, if it is not started yet.
Work = Callable[[Ticket], Awaitable[Reply]]


@dataclass(frozen=True, slots=True, kw_only=True)
class IdempotencyKeys:
    database: Database
    clock: Clock
    new_id: NewId
    log: Log

    async def run_once(self, request: Request, body: Any, work: Work, *, caller: str = "") -> Reply:
        """Return the reply of the work, or the stored one to an equal request; raise Conflict for a key with another body.

        The caller is the address of the request, unless it was recognised as somebody else.
        """
        now_ms = round(self.clock.now() * 1000)
        unique = f"{now_ms}-{self.new_id()}"
        key = request.headers.get(IDEMPOTENCY_KEY)
        if key is None:
            return await work(Ticket(unique, is_repeatable=False))
        if not _KEY.fullmatch(key):
            reason = f"is not 1 to {MAX_KEY_CHARS} visible characters of ASCII"
            raise Invalid.from_fields([BadField(IDEMPOTENCY_KEY, reason)])
        name = _hash([caller or find_client(request.client_ip).key, request.method, request.path, key])
        row = await self._take(name, _hash(body), unique, now_ms)
        if row["reply"] is not None:
            return _parse_reply(row["reply"]).with_header(REPLAYED, "true")
        reply = await work(Ticket(row["unique_part"], is_repeatable=True))
        await self._store(name, row["unique_part"], reply)
        return reply

    async def delete_expired(self) -> None:
        """Delete keys that have expired. One that was taken before the clock was set back lives no longer than one of now."""
        now_ms = round(self.clock.now() * 1000)
        latest_ms = now_ms + KEPT_S * 1000
        await self.database.batch(
            [
                ("delete from idempotency_keys where expires_ms <= ?", (now_ms,)),
                ("update idempotency_keys set expires_ms = ?1 where expires_ms > ?1", (latest_ms,)),
            ]
        )

    async def _take(self, name: str, body_hash: str, unique: str, now_ms: int) -> DatabaseRow:
        take = (_TAKE, (name, body_hash, unique, now_ms + KEPT_S * 1000, now_ms))
        _, found = await self.database.batch([take, (_FIND, (name,))])
        row = found.rows[0]
        if row["body_hash"] != body_hash:
            raise Conflict(f"this {IDEMPOTENCY_KEY} was used for another body; take a new one")
        return row

    async def _store(self, name: str, unique: str, reply: Reply) -> None:
        """Store the reply. If that fails, an equal request starts the same work again, which does nothing."""
        body = reply.body.decode() if isinstance(reply.body, bytes) else None
        text = encode_json([reply.status, reply.headers, body])
        try:
            await self.database.run(
                "update idempotency_keys set reply = ? where name = ? and unique_part = ?", text, name, unique
            )
        except SluiceError as error:
            self.log.event("idempotency.reply_not_stored", reason=str(error))


def _hash(value: Any) -> str:
    return hashlib.sha256(encode_utf8(json.dumps(value, sort_keys=True, ensure_ascii=False))).hexdigest()


def _parse_reply(text: str) -> Reply:
    status, headers, body = json.loads(text)
    return Reply(status, tuple((name, value) for name, value in headers), body and body.encode())
