"""R2: objects by key, with the metadata they were put with."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import Invalid, TooLarge
from sluice.core.ports import ObjectInfo, StoredObject
from sluice.platform.failures import translate_errors
from sluice.platform.values import encode_text, split_into_chunks

MAX_KEY_BYTES: Final = 1024
MAX_METADATA_BYTES: Final = 8192
MAX_DELETE_KEYS: Final = 1000


@dataclass(frozen=True, slots=True)
class ObjectStream:
    """An object and its content as a stream of the platform, to be replied without passing through Python."""

    object: ObjectInfo
    stream: Any


@dataclass(frozen=True, slots=True)
class ObjectListing:
    """Part of a listing; the cursor of the next part, or None after the last."""

    objects: tuple[ObjectInfo, ...]
    cursor: str | None


class R2:
    """One bucket."""

    def __init__(self, bucket: Any) -> None:
        self._bucket = bucket

    async def get_bytes(self, key: str) -> bytes | None:
        found = await self.get(key)
        return found.body if found else None

    async def get(self, key: str, *, offset: int = 0, length: int | None = None) -> StoredObject | None:
        """The object and its bytes, or the part of them from `offset` on."""
        wanted: dict[str, int] = {"offset": offset} | ({} if length is None else {"length": length})
        with translate_errors(f"R2 get of {key!r}"):
            raw = await self._bucket.get(_checked(key), {"range": wanted} if offset or length is not None else {})
            return StoredObject(_object(raw), bytes(await raw.arrayBuffer())) if raw else None

    async def open(self, key: str) -> ObjectStream | None:
        """The object with its content still unread."""
        with translate_errors(f"R2 get of {key!r}"):
            raw = await self._bucket.get(_checked(key))
            return ObjectStream(_object(raw), raw.body) if raw else None

    async def head(self, key: str) -> ObjectInfo | None:
        with translate_errors(f"R2 head of {key!r}"):
            raw = await self._bucket.head(_checked(key))
            return _object(raw) if raw else None

    async def put(
        self,
        key: str,
        body: bytes | str,
        *,
        content_type: str | None = None,
        cache_control: str | None = None,
        custom_metadata: Mapping[str, str] | None = None,
        if_etag: str | None = None,
        if_absent: bool = False,
    ) -> ObjectInfo | None:
        """The object as stored, or None when a condition did not hold and nothing was."""
        http = {"contentType": content_type, "cacheControl": cache_control}
        options: dict[str, Any] = {
            "httpMetadata": {name: value for name, value in http.items() if value is not None},
            "customMetadata": _checked_metadata(key, custom_metadata or {}),
        }
        if if_etag is not None:
            options["onlyIf"] = {"etagMatches": if_etag}
        elif if_absent:
            options["onlyIf"] = {"etagDoesNotMatch": "*"}
        with translate_errors(f"R2 put of {key!r}"):
            raw = await self._bucket.put(_checked(key), body, options)
            return _object(raw) if raw else None

    async def delete(self, keys: str | Iterable[str]) -> None:
        """Remove the objects; one that is missing is no error."""
        wanted = [_checked(key) for key in ([keys] if isinstance(keys, str) else keys)]
        for some in split_into_chunks(wanted, MAX_DELETE_KEYS):
            with translate_errors(f"R2 delete of {len(some)} objects"):
                await self._bucket.delete(some)

    async def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> ObjectListing:
        options: dict[str, Any] = {"prefix": prefix, "limit": limit, "include": ["httpMetadata", "customMetadata"]}
        with translate_errors(f"R2 list of {prefix!r}"):
            found = await self._bucket.list(options | ({"cursor": cursor} if cursor else {}))
        objects = tuple(_object(raw) for raw in found["objects"])
        return ObjectListing(objects, found["cursor"] if found["truncated"] else None)

    async def objects(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """Every object with the prefix, page after page."""
        cursor: str | None = None
        while True:
            page = await self.list(prefix, cursor=cursor)
            for found in page.objects:
                yield found
            if (cursor := page.cursor) is None:
                return


def _checked(key: str) -> str:
    size = len(encode_text(key, "R2 key"))
    if not 1 <= size <= MAX_KEY_BYTES:
        raise Invalid(f"an R2 key has 1 to {MAX_KEY_BYTES} bytes: {key[:80]!r} has {size}")
    return key


def _checked_metadata(key: str, metadata: Mapping[str, str]) -> dict[str, str]:
    for name, value in metadata.items():
        if not isinstance(value, str):
            raise Invalid(f"R2 metadata {name!r} of {key!r} is a {type(value).__name__}; only text is kept")
    size = sum(len(encode_text(part, "R2 metadata")) for pair in metadata.items() for part in pair)
    if size > MAX_METADATA_BYTES:
        raise TooLarge(f"R2 metadata of {key!r} is {size} bytes; the limit is {MAX_METADATA_BYTES}")
    return dict(metadata)


def _object(raw: Any) -> ObjectInfo:
    return ObjectInfo(
        key=raw.key,
        etag=raw.etag,
        size=raw.size,
        uploaded_at=_epoch(raw.uploaded),
        http_metadata={name: value for name, value in _entries(raw.httpMetadata).items() if isinstance(value, str)},
        custom_metadata=dict(_entries(raw.customMetadata)),
    )


def _entries(value: Any) -> dict[str, Any]:
    """Objects inside a listing come unconverted."""
    entries: dict[str, Any] = value.to_py() if hasattr(value, "to_py") else value
    return entries


def _epoch(value: Any) -> float:
    """A naive datetime in the interpreter's own zone, or inside a listing a JavaScript Date."""
    return float(value.getTime() / 1000 if hasattr(value, "getTime") else value.timestamp())
