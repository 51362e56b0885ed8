"""A KV namespace that refuses a second write to a key within a second, and can show writes with a delay."""

import json
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

from fakes.binding import Fake, JsError, check_sendable
from sluice.core.ports import Clock


@dataclass(frozen=True, slots=True)
class _Entry:
    value: bytes
    metadata: str | None
    expires_at: float | None


class FakeKV(Fake):
    """With `stale_s`, reads and listings show the state of that many seconds ago, missing keys included."""

    def __init__(self, clock: Clock, *, stale_s: float = 0) -> None:
        super().__init__()
        self.stale_s = stale_s
        self._clock = clock
        # Every version of every key, oldest first; None is a deletion.
        self._history: dict[str, list[tuple[float, _Entry | None]]] = {}

    async def get(self, key: str | list[str], kind: str = "text") -> Any:
        if isinstance(key, list):
            return self._get_bulk(key)
        with self.operation("get", key):
            return _decode_value(self._visible(_check_key(key, "GET")), kind)

    async def getWithMetadata(self, key: str, kind: str = "text") -> dict[str, Any]:  # noqa: N802 - as bound
        with self.operation("get", key):
            entry = self._visible(_check_key(key, "GET"))
            return {"value": _decode_value(entry, kind), "metadata": _decode_metadata(entry), "cacheStatus": None}

    async def put(self, key: str, value: str | bytes, options: dict[str, Any] | None = None) -> None:
        with self.operation("put", key):
            self._write(_check_key(key, "PUT"), self._entry(value, options or {}), "PUT")

    async def delete(self, key: str) -> None:
        with self.operation("delete", key):
            self._write(_check_key(key, "DELETE"), None, "DELETE")

    def _get_bulk(self, keys: list[str]) -> dict[str, Any]:
        if not 1 <= len(keys) <= 100:
            raise JsError("KV GET_BULK failed: 400 You can request a maximum of 100 keys")
        with self.operation("bulk get", keys[0]):
            return {key: _decode_value(self._visible(_check_key(key, "GET")), "text") for key in keys}

    async def list(self, options: dict[str, Any]) -> dict[str, Any]:
        prefix, limit, after = options.get("prefix", ""), options.get("limit", 1000), options.get("cursor", "")
        if not 1 <= limit <= 1000:
            raise JsError(f"KV GET failed: 400 Invalid key_count_limit of {limit}.")
        with self.operation("list", prefix):
            visible = [(name, entry) for name in sorted(self._history) if (entry := self._visible(name))]
            names = [(name, entry) for name, entry in visible if name.startswith(prefix) and name > after]
            page: dict[str, Any] = {"keys": [_listing_entry(name, entry) for name, entry in names[:limit]]}
            complete = len(names) <= limit
            return page | {"list_complete": complete} | ({} if complete else {"cursor": names[limit - 1][0]})

    def _visible(self, key: str) -> _Entry | None:
        versions = self._history.get(key, [])
        count = bisect_right(versions, self._clock.now() - self.stale_s, key=lambda version: version[0])
        entry = versions[count - 1][1] if count else None
        is_expired = entry is not None and entry.expires_at is not None and entry.expires_at <= self._clock.now()
        return None if is_expired else entry

    def _write(self, key: str, entry: _Entry | None, verb: str) -> None:
        versions = self._history.setdefault(key, [])
        if versions and self._clock.now() - versions[-1][0] < 1:
            raise JsError(f"KV {verb} failed: 429 Too Many Requests")
        versions.append((self._clock.now(), entry))

    def _entry(self, value: str | bytes, options: dict[str, Any]) -> _Entry:
        check_sendable(value)
        check_sendable(options)
        if not isinstance(value, str | bytes):
            raise JsError("KV put() accepts only strings, ArrayBuffers and ReadableStreams as values.", "TypeError")
        content = value.encode() if isinstance(value, str) else value
        if len(content) > 25 * 1024 * 1024:
            raise JsError(f"KV PUT failed: 413 Value length of {len(content)} exceeds limit of 26214400.")
        ttl, metadata = options.get("expirationTtl"), options.get("metadata")
        if ttl is not None and ttl < 60:
            raise JsError(f"KV PUT failed: 400 Invalid expiration_ttl of {ttl}. Expiration TTL must be at least 60.")
        encoded = None if metadata is None else json.dumps(metadata, separators=(",", ":"), ensure_ascii=False)
        if encoded is not None and len(encoded.encode()) > 1024:
            raise JsError(f"KV PUT failed: 413 Metadata length of {len(encoded)} exceeds limit of 1024.")
        return _Entry(content, encoded, None if ttl is None else self._clock.now() + ttl)


def _check_key(key: str, verb: str) -> str:
    if key in {"", ".", ".."}:
        raise JsError(f'"{key}" is not allowed as a key name.', "TypeError")
    if (size := len(key.encode())) > 512:
        raise JsError(f"KV {verb} failed: 414 UTF-8 encoded length of {size} exceeds key length limit of 512.")
    return key


def _decode_value(entry: _Entry | None, kind: str) -> Any:
    if entry is None:
        return None
    return memoryview(entry.value) if kind == "arrayBuffer" else entry.value.decode(errors="replace")


def _decode_metadata(entry: _Entry | None) -> Any:
    return None if entry is None or entry.metadata is None else json.loads(entry.metadata)


def _listing_entry(name: str, entry: _Entry) -> dict[str, Any]:
    expiry = {} if entry.expires_at is None else {"expiration": int(entry.expires_at)}
    return {"name": name} | expiry | ({} if entry.metadata is None else {"metadata": _decode_metadata(entry)})
