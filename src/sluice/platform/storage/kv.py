"""Workers KV: texts and bytes by key, eventually consistent, one write per second and key."""

import builtins
import json
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from functools import partial
from typing import Any, Final

from sluice.core.errors import Invalid, SluiceError, TooLarge
from sluice.core.ports import Clock, KvBytes, KvKey, KvListing, KvText
from sluice.platform.failures import get_js_message, translate_errors
from sluice.platform.values import encode_text, measure_json, split_into_chunks, to_plain

MAX_KEY_BYTES: Final = 512
MAX_VALUE_BYTES: Final = 25 * 1024 * 1024
MAX_METADATA_BYTES: Final = 1024
MIN_TTL_S: Final = 60
MAX_BULK_KEYS: Final = 100
# A little over the documented second, since what counts is when the write arrives.
WRITE_GAP_S: Final = 1.05
# Guesses: within 7 s another isolate's burst on the key is over, or waiting longer will not help this request.
THROTTLE_WAITS_S: Final = (1.0, 2.0, 4.0)
MAX_TRACKED_KEYS: Final = 1000


class WritePacer:
    """When each key may be written next; share one per namespace so that all requests of an isolate keep it."""

    def __init__(self) -> None:
        self._free_at: OrderedDict[str, float] = OrderedDict()

    def reserve(self, key: str, now: float) -> float:
        """Seconds to wait before writing; the turn is taken at once, so that two waiting writers do not share it."""
        turn = max(now, self._free_at.get(key, now))
        self._keep(key, turn + WRITE_GAP_S)
        return turn - now

    def written(self, key: str, now: float) -> None:
        """Count the gap from the end of a write that took long."""
        self._keep(key, max(now + WRITE_GAP_S, self._free_at.get(key, now)))

    def _keep(self, key: str, free_at: float) -> None:
        self._free_at[key] = free_at
        self._free_at.move_to_end(key)
        if len(self._free_at) > MAX_TRACKED_KEYS:
            self._free_at.popitem(last=False)


class KV:
    """One namespace."""

    def __init__(self, namespace: Any, clock: Clock, pace: WritePacer | None = None) -> None:
        self._namespace = namespace
        self._clock = clock
        self._pace = pace or WritePacer()

    async def get_text(self, key: str) -> str | None:
        _check_key(key)
        text: str | None = await self._call("get", key, lambda: self._namespace.get(key, "text"))
        return text

    async def get_json(self, key: str) -> Any:
        """The value of the JSON text; None when the key is missing."""
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
        found = await self._call("get", key, lambda: self._namespace.getWithMetadata(key, "text"))
        return None if found["value"] is None else KvText(found["value"], to_plain(found["metadata"]))

    async def get_bytes_with_metadata(self, key: str) -> KvBytes | None:
        _check_key(key)
        found = await self._call("get", key, lambda: self._namespace.getWithMetadata(key, "arrayBuffer"))
        return None if found["value"] is None else KvBytes(bytes(found["value"]), to_plain(found["metadata"]))

    async def get_many(self, keys: Iterable[str]) -> dict[str, str | None]:
        """Every key with its text, None where missing; 100 keys cost one operation."""
        wanted = list(dict.fromkeys(keys))
        for key in wanted:
            _check_key(key)
        found: dict[str, str | None] = {}
        for some in split_into_chunks(wanted, MAX_BULK_KEYS):
            found.update(await self._call("bulk get", some[0], partial(self._namespace.get, some, "text")))
        return {key: found.get(key) for key in wanted}

    async def put_text(self, key: str, value: str, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        await self._put(key, value, len(encode_text(value, f"KV value of {key!r}")), ttl_s, metadata)

    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        await self.put_text(key, text, ttl_s=ttl_s, metadata=metadata)

    async def put_bytes(self, key: str, value: bytes, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        await self._put(key, value, len(value), ttl_s, metadata)

    async def delete(self, key: str) -> None:
        """Remove the key; one that is missing is no error."""
        _check_key(key)
        await self._write("delete", key, lambda: self._namespace.delete(key))

    async def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> KvListing:
        options = {"prefix": prefix, "limit": limit} | ({"cursor": cursor} if cursor else {})
        found = await self._call("list", prefix, lambda: self._namespace.list(options))
        keys = tuple(KvKey(k["name"], to_plain(k.get("metadata")), k.get("expiration")) for k in found["keys"])
        return KvListing(keys, None if found["list_complete"] else found["cursor"])

    async def names(self, prefix: str = "", *, limit: int = 1000) -> "builtins.list[str]":
        """The first keys with the prefix, in the order of their bytes."""
        return [key.name for key in (await self.list(prefix, limit=limit)).keys]

    async def keys(self, prefix: str = "") -> AsyncIterator[KvKey]:
        """Every key with the prefix, page after page."""
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
                raise Invalid(f"KV needs a lifetime of at least {MIN_TTL_S} s; {key!r} was given {ttl_s}")
            options["expirationTtl"] = ttl_s
        if metadata is not None:
            measure_json(metadata, f"KV metadata of {key!r}", MAX_METADATA_BYTES)
            options["metadata"] = metadata
        await self._write("put", key, lambda: self._namespace.put(key, value, options))

    async def _write(self, operation: str, key: str, attempt: Callable[[], Awaitable[Any]]) -> None:
        wait_s = self._pace.reserve(key, self._clock.now())
        if wait_s > 0:
            await self._clock.sleep(wait_s)
        await self._call(operation, key, attempt)
        self._pace.written(key, self._clock.now())

    async def _call(self, operation: str, key: str, attempt: Callable[[], Awaitable[Any]]) -> Any:
        with translate_errors(f"KV {operation} of {key!r}"):
            for wait_s in THROTTLE_WAITS_S:
                try:
                    return await attempt()
                except Exception as error:
                    if "failed: 429" not in (get_js_message(error) or ""):
                        raise
                await self._clock.sleep(wait_s)
            return await attempt()


def _check_key(key: str) -> None:
    size = len(encode_text(key, "KV key"))
    if not 1 <= size <= MAX_KEY_BYTES or key in {".", ".."}:
        raise Invalid(f"a KV key has 1 to {MAX_KEY_BYTES} bytes and is not a dot or two: {key[:80]!r} has {size}")
