"""The cache of compiled lists: gzip in KV while they are fresh, in R2 if they are too large for KV.

`cache:<hash>` is the JSON reply as it is sent. `list:<hash>` is the plain list, kept longer so that the next version can be
compared with it.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.configuration import Configuration
from sluice.core.json_text import encode_utf8
from sluice.core.ports import Bucket, Clock, Kv, Log
from sluice.core.waits import is_waiting
from sluice.services.compiler.cache.compiled_list import CACHED_HEAD, CompressedList, GzippedList
from sluice.services.compiler.cache.version_diff import split_chunks

SYNC_TTL_S: Final = 3600
WORKFLOW_TTL_S: Final = 24 * 3600
LIST_TTL_S: Final = 30 * 24 * 3600
_ROUNDING_S: Final = 1.0  # of the stored time
MAX_KV_BYTES: Final = 25 * 1024 * 1024
LARGE_PREFIX: Final = "large/"
HANDOVER_PREFIX: Final = "handover/"  # what a workflow passes on from one step to the next
JOB_CONTENT_PREFIX: Final = "jobs/"  # what callers of background jobs have sent
_KEY_PREFIX: Final = "cache:"
_PRIVATE_PREFIX: Final = "cache:private-"


def cache_key(configuration: Configuration) -> str:
    """Return the same key for equal configurations, whatever the order of their members, and for no others."""
    return _KEY_PREFIX + hashlib.sha256(encode_utf8(_canonical(configuration.identity))).hexdigest()


def private_key(configuration: Configuration, options: Mapping[str, Any]) -> str:
    """Return the key for a list with options of its caller. No other request reads this key."""
    values = [configuration.identity, dict(options)]
    return f"{_PRIVATE_PREFIX}{hashlib.sha256(encode_utf8(_canonical(values))).hexdigest()}"


def is_private(key: str) -> bool:
    """Return whether a list was made from content that its caller sent; it is kept no longer than the result of a job."""
    return key.startswith(_PRIVATE_PREFIX)


def list_key(key: str) -> str:
    """Return the key of the plain list that belongs to a cache key."""
    return "list:" + key.removeprefix(_KEY_PREFIX)


@dataclass(frozen=True, slots=True)
class CachedVersion:
    """The version of a list that was compiled before the current one."""

    lines: Iterator[str]
    rule_count: int
    compiled_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCache:
    """The cache of compiled lists. `forget` drops the copies of a list that an isolate keeps in memory."""

    store: Kv
    bucket: Bucket
    clock: Clock
    log: Log
    forget: Callable[[str], None]

    async def find_reply(self, key: str) -> GzippedList | None:
        """Return the JSON reply under a key while it is fresh."""
        entry = await self._read(key)
        return entry[0] if entry else None

    async def find_text(self, key: str) -> GzippedList | None:
        """Return the plain list under a cache key while it is fresh."""
        entry = await self._read(list_key(key))
        return entry[0] if entry and is_waiting(entry[1], self.clock.now(), WORKFLOW_TTL_S + _ROUNDING_S) else None

    async def find_previous(self, key: str) -> CachedVersion | None:
        """Return the last version of a list, fresh or not."""
        if (entry := await self._read(list_key(key))) is None:
            return None
        file, _ = entry
        return CachedVersion(
            split_chunks(file.body.inflate_chunks()), file.summary.rule_count, file.summary.compiled_at
        )

    async def find_expiry(self, configuration: Configuration) -> float | None:
        """Return when the entry of a configuration expires, in epoch seconds; None if there is no entry."""
        page = await self.store.list(cache_key(configuration), limit=1)
        return next((float(key.expires_at) for key in page.keys if key.expires_at is not None), None)

    async def put(self, compiled: CompressedList, ttl_s: int) -> None:
        """Store both forms. The reply is stored last, because readers that find it expect the list to be there."""
        key = compiled.summary.cache_key
        expires_at = self.clock.now() + ttl_s
        text = GzippedList.assemble(compiled.summary, compiled.text)
        await self._write(list_key(key), text, ttl_s if is_private(key) else max(LIST_TTL_S, ttl_s), expires_at)
        reply = GzippedList.assemble(compiled.summary, compiled.members, CACHED_HEAD)
        await self._write(key, reply, ttl_s, expires_at)
        self.forget(key)
        self._log_stored(reply, compiled, ttl_s)

    async def delete_expired(self) -> int:
        """Delete expired objects from R2, which has no expiry of its own. Return how many."""
        now = self.clock.now()
        expired = [
            found.key
            for prefix in (LARGE_PREFIX, HANDOVER_PREFIX, JOB_CONTENT_PREFIX)
            async for found in self.bucket.objects(prefix)
            if float(found.custom_metadata.get("expires_at", "0")) < now
        ]
        await self.bucket.delete(expired)
        return len(expired)

    def _log_stored(self, reply: GzippedList, compiled: CompressedList, ttl_s: int) -> None:
        saved = 1 - len(reply.content) / max(reply.size, 1)
        self.log.event(
            "cache.stored",
            entry=reply.summary.cache_key,
            list=reply.summary.name,
            rules=reply.summary.rule_count,
            bytes=reply.size,
            gzip_bytes=len(reply.content),
            text_bytes=compiled.text.size,
            saved_percent=round(saved * 100, 1),
            ttl_s=ttl_s,
        )

    async def _read(self, key: str) -> tuple[GzippedList, float] | None:
        """Return the file and when it expires."""
        entry = await self.store.get_bytes_with_metadata(key)
        if entry is None or not isinstance(entry.metadata, Mapping):
            return None
        content: bytes | None = entry.value
        if entry.metadata.get("large"):
            content = await self.bucket.get_bytes(LARGE_PREFIX + key)
        return (GzippedList.from_metadata(entry.metadata, content), entry.metadata["expires_at"]) if content else None

    async def _write(self, key: str, file: GzippedList, ttl_s: int, expires_at: float) -> None:
        metadata: dict[str, Any] = file.metadata() | {"expires_at": round(expires_at)}
        content = file.content
        if len(content) > MAX_KV_BYTES:
            object_expiry = {"expires_at": str(round(self.clock.now()) + ttl_s)}
            await self.bucket.put(LARGE_PREFIX + key, content, custom_metadata=object_expiry)
            # Not empty: not every reader can tell an empty value from a missing one.
            metadata, content = metadata | {"large": True}, b"R2"
        await self.store.put_bytes(key, content, ttl_s=ttl_s, metadata=metadata)


def _canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
