"""An R2 bucket whose bodies can be read once and whose listings are not converted, as in the SDK."""

from datetime import datetime
from hashlib import md5
from typing import Any

from fakes.binding import Fake, JsError, check_sendable
from sluice.core.ports import Clock


class FakeR2(Fake):
    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._objects: dict[str, _Stored] = {}

    async def get(self, key: str, options: dict[str, Any] | None = None) -> "_Stored | None":
        with self.operation("get", _check_key(key, "get")):
            stored = self._objects.get(key)
            if stored and not _is_met((options or {}).get("onlyIf", {}), stored):
                return stored.without_body()
            return stored.read_part((options or {}).get("range", {})) if stored else None

    async def head(self, key: str) -> "_Stored | None":
        with self.operation("head", _check_key(key, "head")):
            return self._objects.get(key)

    async def put(self, key: str, body: bytes | str, options: dict[str, Any]) -> "_Stored | None":
        check_sendable(body)
        check_sendable(options)
        _check_metadata(options.get("customMetadata", {}))
        with self.operation("put", _check_key(key, "put")):
            if not _is_met(options.get("onlyIf", {}), self._objects.get(key)):
                return None
            content = body.encode() if isinstance(body, str) else body
            self._objects[key] = stored = _Stored(key, content, self._clock.now(), options)
            return stored

    async def delete(self, keys: list[str]) -> None:
        if len(keys) > 1000:
            raise JsError("delete: The list of keys is too long. (10048)")
        with self.operation("delete", keys[0]):
            for key in keys:
                self._objects.pop(_check_key(key, "delete"), None)

    async def list(self, options: dict[str, Any]) -> dict[str, Any]:
        prefix, limit, after = options.get("prefix", ""), options.get("limit", 1000), options.get("cursor", "")
        if not 1 <= limit <= 1000:
            raise JsError("list: MaxKeys params must be positive integer <= 1000. (10022)")
        with self.operation("list", prefix):
            keys = [key for key in sorted(self._objects) if key.startswith(prefix) and key > after]
            truncated = len(keys) > limit
            page = [_Listed(self._objects[key]) for key in keys[:limit]]
            cursor = keys[limit - 1] if truncated else None
            return {"objects": page, "truncated": truncated, "cursor": cursor, "delimitedPrefixes": []}


class _Stored:
    def __init__(self, key: str, content: bytes, at: float, options: dict[str, Any]) -> None:
        names = ("contentType", "cacheControl")
        self.key = key
        self.etag = md5(content, usedforsecurity=False).hexdigest()
        self.size = len(content)
        self.uploaded = datetime.fromtimestamp(at)  # noqa: DTZ006 - naive, as the SDK makes it
        self.httpMetadata = {name: options.get("httpMetadata", {}).get(name) for name in names}
        self.customMetadata = dict(options.get("customMetadata", {}))
        self._content = content
        self._arguments = (key, content, at, options)
        self._is_used = False
        self._has_body = True

    def read_part(self, byte_range: dict[str, int]) -> "_Stored":
        """Return a copy with an unread body that contains only the range."""
        copy = _Stored(*self._arguments)
        offset = byte_range.get("offset", 0)
        if offset and offset >= self.size:
            raise JsError("get: The requested range is not satisfiable (10039)")
        copy._content = self._content[offset : offset + byte_range.get("length", self.size)]
        return copy

    def without_body(self) -> "_Stored":
        """Return a copy as it is returned if a condition does not hold."""
        copy = _Stored(*self._arguments)
        copy._has_body = False
        return copy

    @property
    def body(self) -> "_Stored | None":
        """Stands for the stream."""
        return self if self._has_body else None

    async def arrayBuffer(self) -> memoryview:  # noqa: N802 - as bound
        if self._is_used:
            raise JsError("Body has already been used. It can only be used once.", "TypeError")
        self._is_used = True
        return memoryview(self._content)


class _Listed:
    """Plain attributes unchanged, the others as proxies."""

    def __init__(self, stored: _Stored) -> None:
        self.key, self.etag, self.size = stored.key, stored.etag, stored.size
        self.uploaded = _JsDate(stored.uploaded)
        self.httpMetadata = _JsObject(stored.httpMetadata)
        self.customMetadata = _JsObject(stored.customMetadata)


class _JsDate:
    def __init__(self, at: datetime) -> None:
        self._at = at

    def getTime(self) -> float:  # noqa: N802 - as in JavaScript
        return self._at.timestamp() * 1000


class _JsObject:
    def __init__(self, entries: dict[str, Any]) -> None:
        self._entries = entries

    def to_py(self) -> dict[str, Any]:
        return dict(self._entries)


def _check_key(key: str, verb: str) -> str:
    if not 1 <= len(key.encode()) <= 1024:
        raise JsError(f"{verb}: The specified object name is not valid. (10020)")
    return key


def _check_metadata(metadata: dict[str, Any]) -> None:
    if any(not isinstance(value, str) for value in metadata.values()):
        raise TypeError("custom metadata is text only")
    if sum(len(name.encode()) + len(value.encode()) for name, value in metadata.items()) > 8192:
        raise JsError("put: Your metadata headers exceed the maximum allowed metadata size. (10012)")


def _is_met(condition: dict[str, str], current: _Stored | None) -> bool:
    if "etagMatches" in condition:
        return current is not None and current.etag == condition["etagMatches"]
    unwanted = condition.get("etagDoesNotMatch")
    return current is None or unwanted not in {"*", current.etag}
