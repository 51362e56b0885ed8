"""Where finished lists are kept: gzip in KV for as long as they are fresh, in R2 what is too large for it.

`cache:<hash>` is the JSON reply as it is sent; `list:<hash>` the plain list, kept longer, so that the next version can be
compared with it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.compiler.configuration import Configuration
from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_utf8
from sluice.core.ports import Bucket, Clock, Kv, Log
from sluice.services.compiler.cache.results import CACHED, File, Result, unpacked

SYNC_TTL_S: Final = 3600
WORKFLOW_TTL_S: Final = 24 * 3600
LIST_TTL_S: Final = 30 * 24 * 3600
MAX_KV_BYTES: Final = 25 * 1024 * 1024
LARGE: Final = "large/"
HANDOVER: Final = "handover/"
_HASH_PREFIX: Final = "cache:"


def cache_key(configuration: Configuration) -> str:
    """The same for equal configurations, whatever the order of their members, and for no others."""
    return _HASH_PREFIX + hashlib.sha256(encode_utf8(_canonical(configuration.model_dump(mode="json")))).hexdigest()


def private_key(configuration: Configuration, content: Mapping[str, str]) -> str:
    """Where the result of content sent along is kept for its sender; no other request ever looks there."""
    given = [configuration.model_dump(mode="json"), dict(content)]
    return f"{_HASH_PREFIX}private-{hashlib.sha256(encode_utf8(_canonical(given))).hexdigest()}"


def list_key(key: str) -> str:
    """Where the plain list of a cache entry is kept."""
    return "list:" + key.removeprefix(_HASH_PREFIX)


@dataclass(frozen=True, slots=True)
class Previous:
    """The version before, as far as it is told."""

    lines: list[str]
    rule_count: int
    compiled_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultCache:
    store: Kv
    bucket: Bucket
    clock: Clock
    log: Log

    async def find(self, key: str) -> File | None:
        """The JSON reply under a key while it is fresh."""
        return await self._read(key)

    async def find_text(self, key: str) -> File | None:
        """The plain list under a cache key while that is fresh."""
        found = await self._read_with_expiry(list_key(key))
        return found[0] if found and found[1] > self.clock.now() else None

    async def previous(self, key: str) -> Previous | None:
        """The last version of a list, fresh or not."""
        if (file := await self._read(list_key(key))) is None:
            return None
        lines = unpacked(file.packed).decode().split("\n")
        return Previous(lines, file.compiled.rule_count, file.compiled.compiled_at)

    async def expires_at(self, configuration: Configuration) -> float | None:
        """When the entry of a configuration ends, in epoch seconds; None when there is none."""
        page = await self.store.list(cache_key(configuration), limit=1)
        return next((float(key.expires_at) for key in page.keys if key.expires_at is not None), None)

    async def keep(self, result: Result, ttl_s: int) -> None:
        """Store both forms; the reply last, since finding it means that all is there."""
        key = result.compiled.cache_key
        expires_at = self.clock.now() + ttl_s
        text = File.of(result.compiled, result.text)
        await self._write(list_key(key), text, max(LIST_TTL_S, ttl_s), expires_at)
        reply = File.of(result.compiled, result.members, CACHED)
        await self._write(key, reply, ttl_s, expires_at)
        self._tell(reply, result, ttl_s)

    async def tidy(self) -> int:
        """Delete large objects whose time is over: R2 keeps them for ever. Their number."""
        now = self.clock.now()
        over = [
            found.key
            for prefix in (LARGE, HANDOVER)
            async for found in self.bucket.objects(prefix)
            if float(found.custom_metadata.get("expires_at", "0")) < now
        ]
        await self.bucket.delete(over)
        return len(over)

    def _tell(self, reply: File, result: Result, ttl_s: int) -> None:
        saved = 1 - len(reply.content) / max(reply.size, 1)
        self.log.event(
            "cache.stored",
            entry=reply.compiled.cache_key,
            list=reply.compiled.name,
            rules=reply.compiled.rule_count,
            bytes=reply.size,
            gzip_bytes=len(reply.content),
            text_bytes=result.text.size,
            saved_percent=round(saved * 100, 1),
            ttl_s=ttl_s,
        )

    async def _read(self, key: str) -> File | None:
        found = await self._read_with_expiry(key)
        return found[0] if found else None

    async def _read_with_expiry(self, key: str) -> tuple[File, float] | None:
        found = await self.store.get_bytes_with_metadata(key)
        if found is None or not isinstance(found.metadata, Mapping):
            return None
        content: bytes | None = found.value
        if found.metadata.get("large"):
            content = await self.bucket.get_bytes(LARGE + key)
        return (File.from_about(found.metadata, content), found.metadata["expires_at"]) if content else None

    async def _write(self, key: str, file: File, ttl_s: int, expires_at: float) -> None:
        about: dict[str, Any] = file.about() | {"expires_at": round(expires_at)}
        content = file.content
        if len(content) > MAX_KV_BYTES:
            ends = {"expires_at": str(round(self.clock.now()) + ttl_s)}
            await self.bucket.put(LARGE + key, content, custom_metadata=ends)
            # Never empty: an empty value and a missing one are not told apart everywhere.
            about, content = about | {"large": True}, b"R2"
        await self.store.put_bytes(key, content, ttl_s=ttl_s, metadata=about)


@dataclass(frozen=True, slots=True, kw_only=True)
class Handover:
    """Results on their way from one step of a workflow to the next."""

    bucket: Bucket
    clock: Clock

    async def put(self, name: str, result: Result) -> None:
        ends = {"expires_at": str(round(self.clock.now()) + WORKFLOW_TTL_S)}
        await self.bucket.put(HANDOVER + name, result.to_bytes(), custom_metadata=ends)

    async def get(self, name: str) -> Result:
        content = await self.bucket.get_bytes(HANDOVER + name)
        if content is None:
            raise SluiceError(f"the result of {name} is not there any more")
        return Result.from_bytes(content)

    async def delete(self, name: str) -> None:
        await self.bucket.delete(HANDOVER + name)


def _canonical(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
