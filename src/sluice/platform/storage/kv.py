"""Workers KV: text and bytes by key, eventually consistent, with at most one write a second for each key."""

import builtins
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final

from sluice.core.errors import Invalid, SluiceError, TooLarge
from sluice.core.ports import Clock, KvBytes, KvKey, KvListing, KvText
from sluice.core.waits import clamp_wait
from sluice.platform.failures import is_throttled, translate_errors
from sluice.platform.values import encode_text, measure_json, split_into_chunks, to_plain

MAX_KEY_BYTES: Final = 512
MAX_VALUE_BYTES: Final = 25 * 1024 * 1024
MAX_METADATA_BYTES: Final = 1024
MIN_TTL_S: Final = 60
MAX_BULK_KEYS: Final = 100
# A little over the documented second, because the arrival of the write counts.
WRITE_GAP_S: Final = 1.05
# Guesses: after 7 s the writes of another isolate to the key have ended, or waiting longer does not help this request.
THROTTLE_WAITS_S: Final = (1.0, 2.0, 4.0)
MAX_TRACKED_KEYS: Final = 1000
# A guess: so many seconds of writes to one key may wait for each other. More is of a clock that was set back.
MAX_QUEUED_S: Final = 60.0


class WritePacer:
    """Spaces the writes to each key; all requests of an isolate share one pacer for each namespace."""

    def __init__(self) -> None:
        self._free_at: OrderedDict[str, float] = OrderedDict()

    def reserve(self, key: str, now: float) -> float:
        """Reserve the next write to the key and return the seconds to wait for it."""
        write_at = max(now, self._find_free_at(key, now))
        self._set_free_at(key, write_at + WRITE_GAP_S)
        return write_at - now

    def record_write(self, key: str, now: float) -> None:
        """Measure the gap from the end of a write, which may have taken long."""
        self._set_free_at(key, max(now + WRITE_GAP_S, self._find_free_at(key, now)))

    def _find_free_at(self, key: str, now: float) -> float:
        return clamp_wait(self._free_at.get(key, now), now, MAX_QUEUED_S)

    def _set_free_at(self, key: str, free_at: float) -> None:
        self._free_at[key] = free_at
        self._free_at.move_to_end(key)
        if len(self._free_at) > MAX_TRACKED_KEYS:
            self._free_at.popitem(last=False)


class KV:
    """One namespace."""

    def __init__(self, namespace: Any, clock: Clock, pacer: WritePacer | None = None) -> None:
        self._namespace = namespace
        self._clock = clock
        self._pacer = pacer or WritePacer()

    async def get_text(self, key: str) -> str | None:
        _check_key(key)
        text: str | None = await self._call("get", key, lambda: self._namespace.get(key, "text"))
        return text

    async def get_json(self, key: str) -> Any:
        """Return the value of a JSON text, or None if the key is missing."""
        text = await self.get_text(key)
        try:
            return None if text is None else json.loads(text)
        except ValueError as error:
            raise SluiceError(f"KV value of {key!r} is not JSON: {error}") from error

    async def get_bytes(self, key: str) -> bytes | None:
        _check_key(key)
        view = await self._call("get", key, lambda: self._namespace.get(key, "arrayBuffer"))
        return None if view is None else bytes(view)

    async def get_with_metadata(self, key: str) -> KvText | None:
        _check_key(key)
        entry = await self._call("get", key, lambda: self._namespace.getWithMetadata(key, "text"))
        return None if entry["value"] is None else KvText(entry["value"], to_plain(entry["metadata"]))

    async def get_bytes_with_metadata(self, key: str) -> KvBytes | None:
        _check_key(key)
        entry = await self._call("get", key, lambda: self._namespace.getWithMetadata(key, "arrayBuffer"))
        return None if entry["value"] is None else KvBytes(bytes(entry["value"]), to_plain(entry["metadata"]))

    async def get_many(self, keys: Iterable[str]) -> dict[str, str | None]:
        """Return every key with its text, or None where it is missing; 100 keys cost one operation."""
        unique = list(dict.fromkeys(keys))
        for key in unique:
            _check_key(key)
        texts: dict[str, str | None] = {}
        for chunk in split_into_chunks(unique, MAX_BULK_KEYS):
            texts.update(await self._call("bulk get", chunk[0], partial(self._namespace.get, chunk, "text")))
        return {key: texts.get(key) for key in unique}

    async def put_text(self, key: str, value: str, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        await self._put(key, value, len(encode_text(value, f"KV value of {key!r}")), ttl_s, metadata)

    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        await self.put_text(key, text, ttl_s=ttl_s, metadata=metadata)

    async def put_bytes(self, key: str, value: bytes, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        await self._put(key, value, len(value), ttl_s, metadata)

    async def delete(self, key: str) -> None:
        """Remove the key; a missing key is not an error."""
        _check_key(key)
        await self._write("delete", key, lambda: self._namespace.delete(key))

    async def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> KvListing:
        options = {"prefix": prefix, "limit": limit} | ({"cursor": cursor} if cursor else {})
        page = await self._call("list", prefix, lambda: self._namespace.list(options))
        keys = tuple(KvKey(k["name"], to_plain(k.get("metadata")), k.get("expiration")) for k in page["keys"])
        return KvListing(keys, None if page["list_complete"] else page["cursor"])

    async def names(self, prefix: str = "", *, limit: int = 1000) -> "builtins.list[str]":
        """Return the first keys with the prefix, in the order of their bytes."""
        return [key.name for key in (await self.list(prefix, limit=limit)).keys]

    async def keys(self, prefix: str = "") -> AsyncIterator[KvKey]:
        """Yield every key with the prefix."""
        cursor: str | None = None
        while True:
            page = await self.list(prefix, cursor=cursor)
            for key in page.keys:
                yield key
            if (cursor := page.cursor) is None:
                return

    async def _put(self, key: str, value: str | bytes, size: int, ttl_s: int | None, metadata: Any) -> None:
        _check_key(key)
        if size > MAX_VALUE_BYTES:
            raise TooLarge(f"KV value of {key!r} is {size} bytes; the limit is {MAX_VALUE_BYTES}")
        options: dict[str, Any] = {}
        if ttl_s is not None:
            if ttl_s < MIN_TTL_S:
                raise Invalid(f"KV stores {key!r} for at least {MIN_TTL_S} s, not for {ttl_s}")
            options["expirationTtl"] = ttl_s
        if metadata is not None:
            measure_json(metadata, f"KV metadata of {key!r}", MAX_METADATA_BYTES)
            options["metadata"] = metadata
        await self._write("put", key, lambda: self._namespace.put(key, value, options))

    async def _write(self, operation: str, key: str, attempt: Callable[[], Awaitable[Any]]) -> None:
        wait_s = self._pacer.reserve(key, self._clock.now())
        if wait_s > 0:
            await self._clock.sleep(wait_s)
        await self._call(operation, key, attempt)
        self._pacer.record_write(key, self._clock.now())

    async def _call(self, operation: str, key: str, attempt: Callable[[], Awaitable[Any]]) -> Any:
        with translate_errors(f"KV {operation} of {key!r}"):
            for wait_s in THROTTLE_WAITS_S:
                try:
                    return await attempt()
                except Exception as error:
                    if not is_throttled(error):
                        raise
                await self._clock.sleep(wait_s)
            return await attempt()


def _check_key(key: str) -> None:
    size = len(encode_text(key, "KV key"))
    if not 1 <= size <= MAX_KEY_BYTES or key in {".", ".."}:
        raise Invalid(f"a KV key has 1 to {MAX_KEY_BYTES} bytes and is neither . nor ..: {key[:80]!r} has {size}")
