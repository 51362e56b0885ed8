"""R2: objects by key, with their metadata."""

from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from sluice.core.errors import Invalid, TooLarge
from sluice.core.ports import FileStream, ObjectInfo, ObjectStream, StoredObject
from sluice.platform.failures import translate_errors
from sluice.platform.values import encode_text, split_into_chunks

MAX_KEY_BYTES: Final = 1024
MAX_METADATA_BYTES: Final = 8192
MAX_DELETE_KEYS: Final = 1000


@dataclass(frozen=True, slots=True)
class ObjectListing:
    """One page of a listing; `cursor` opens the next page and is None on the last."""

    objects: tuple[ObjectInfo, ...]
    cursor: str | None


class R2:
    """One bucket."""

    def __init__(self, bucket: Any) -> None:
        self._bucket = bucket

    async def get_bytes(self, key: str) -> bytes | None:
        stored = await self.get(key)
        return stored.body if stored else None

    async def get(self, key: str, *, offset: int = 0, length: int | None = None) -> StoredObject | None:
        """Return the object and its bytes, or `length` bytes from `offset`; None if it is missing."""
        byte_range: dict[str, int] = {"offset": offset} | ({} if length is None else {"length": length})
        with translate_errors(f"R2 get of {key!r}"):
            raw = await self._bucket.get(_check_key(key), {"range": byte_range} if offset or length is not None else {})
            return StoredObject(_to_info(raw), bytes(await raw.arrayBuffer())) if raw else None

    async def open(self, key: str) -> ObjectStream | None:
        """Return the object with its content unread."""
        with translate_errors(f"R2 get of {key!r}"):
            raw = await self._bucket.get(_check_key(key))
            return ObjectStream(_to_info(raw), raw.body) if raw else None

    async def open_file(self, key: str, *, unless_etag: str | None = None) -> FileStream | None:
        """Open an object with only what a reply needs of it: each value that is read from JavaScript costs time.

        The content of an object with the ETag `unless_etag` is not read.
        """
        options = ({"onlyIf": {"etagDoesNotMatch": unless_etag}},) if unless_etag else ()
        with translate_errors(f"R2 get of {key!r}"):
            raw = await self._bucket.get(_check_key(key), *options)
            return FileStream(raw.size, dict(_to_dict(raw.customMetadata)), getattr(raw, "body", None)) if raw else None

    async def head(self, key: str) -> ObjectInfo | None:
        with translate_errors(f"R2 head of {key!r}"):
            raw = await self._bucket.head(_check_key(key))
            return _to_info(raw) if raw else None

    async def put(
        self,
        key: str,
        body: Any,
        *,
        content_type: str | None = None,
        cache_control: str | None = None,
        custom_metadata: Mapping[str, str] | None = None,
        if_etag: str | None = None,
        if_absent: bool = False,
    ) -> ObjectInfo | None:
        """Store text, bytes or a JavaScript buffer; return None if a condition did not hold and nothing was stored."""
        http = {"contentType": content_type, "cacheControl": cache_control}
        options: dict[str, Any] = {
            "httpMetadata": {name: value for name, value in http.items() if value is not None},
            "customMetadata": _check_metadata(key, custom_metadata or {}),
        }
        if if_etag is not None:
            options["onlyIf"] = {"etagMatches": if_etag}
        elif if_absent:
            options["onlyIf"] = {"etagDoesNotMatch": "*"}
        with translate_errors(f"R2 put of {key!r}"):
            raw = await self._bucket.put(_check_key(key), body, options)
            return _to_info(raw) if raw else None

    async def delete(self, keys: str | Iterable[str]) -> None:
        """Remove the objects; a missing object is not an error."""
        checked_keys = [_check_key(key) for key in ([keys] if isinstance(keys, str) else keys)]
        for chunk in split_into_chunks(checked_keys, MAX_DELETE_KEYS):
            with translate_errors(f"R2 delete of {len(chunk)} objects"):
                await self._bucket.delete(chunk)

    async def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> ObjectListing:
        options: dict[str, Any] = {"prefix": prefix, "limit": limit, "include": ["httpMetadata", "customMetadata"]}
        with translate_errors(f"R2 list of {prefix!r}"):
            page = await self._bucket.list(options | ({"cursor": cursor} if cursor else {}))
        objects = tuple(_to_info(raw) for raw in page["objects"])
        return ObjectListing(objects, page["cursor"] if page["truncated"] else None)

    async def objects(self, prefix: str = "") -> AsyncIterator[ObjectInfo]:
        """Yield every object with the prefix."""
        cursor: str | None = None
        while True:
            page = await self.list(prefix, cursor=cursor)
            for info in page.objects:
                yield info
            if (cursor := page.cursor) is None:
                return


def _check_key(key: str) -> str:
    size = len(encode_text(key, "R2 key"))
    if not 1 <= size <= MAX_KEY_BYTES:
        raise Invalid(f"an R2 key has 1 to {MAX_KEY_BYTES} bytes: {key[:80]!r} has {size}")
    return key


def _check_metadata(key: str, metadata: Mapping[str, str]) -> dict[str, str]:
    for name, value in metadata.items():
        if not isinstance(value, str):
            raise Invalid(f"R2 metadata {name!r} of {key!r} is a {type(value).__name__}; R2 stores only text")
    size = sum(len(encode_text(part, "R2 metadata")) for pair in metadata.items() for part in pair)
    if size > MAX_METADATA_BYTES:
        raise TooLarge(f"R2 metadata of {key!r} is {size} bytes; the limit is {MAX_METADATA_BYTES}")
    return dict(metadata)


def _to_info(raw: Any) -> ObjectInfo:
    return ObjectInfo(
        key=raw.key,
        etag=raw.etag,
        size=raw.size,
        uploaded_at=_to_epoch(raw.uploaded),
        http_metadata={name: value for name, value in _to_dict(raw.httpMetadata).items() if isinstance(value, str)},
        custom_metadata=dict(_to_dict(raw.customMetadata)),
    )


def _to_dict(value: Any) -> dict[str, Any]:
    """Return the metadata as a dict; inside a listing it is not converted yet."""
    entries: dict[str, Any] = value.to_py() if hasattr(value, "to_py") else value
    return entries


def _to_epoch(value: Any) -> float:
    """Return the time in epoch seconds, from a naive local datetime or, inside a listing, from a JavaScript Date."""
    return float(value.getTime() / 1000 if hasattr(value, "getTime") else value.timestamp())
