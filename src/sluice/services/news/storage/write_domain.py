"""Restricts a Worker to its write domain: it reads every key and writes only its own."""

from collections.abc import Iterable
from typing import Any

from sluice.core.errors import SluiceError
from sluice.core.ports import KvBytes, KvListing, KvText, KvWriter


class OutsideWriteDomain(SluiceError):
    """A Worker tried to write a key of another Worker. This is a defect, so nothing is written."""


class WriteDomain:
    """A KV namespace that refuses writes outside the given keys and prefixes; a prefix ends in a colon."""

    def __init__(self, kv: KvWriter, writes: Iterable[str]) -> None:
        self._kv = kv
        writable = tuple(writes)
        self._keys = frozenset(name for name in writable if not name.endswith(":"))
        self._prefixes = tuple(name for name in writable if name.endswith(":"))

    async def get_text(self, key: str) -> str | None:
        return await self._kv.get_text(key)

    async def get_with_metadata(self, key: str) -> KvText | None:
        return await self._kv.get_with_metadata(key)

    async def get_bytes_with_metadata(self, key: str) -> KvBytes | None:
        return await self._kv.get_bytes_with_metadata(key)

    async def list(self, prefix: str = "", *, limit: int = 1000, cursor: str | None = None) -> KvListing:
        return await self._kv.list(prefix, limit=limit, cursor=cursor)

    async def get_many(self, keys: Iterable[str]) -> dict[str, str | None]:
        return await self._kv.get_many(keys)

    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        self._check(key)
        await self._kv.put_json(key, value, ttl_s=ttl_s, metadata=metadata)

    async def put_text(self, key: str, value: str, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        self._check(key)
        await self._kv.put_text(key, value, ttl_s=ttl_s, metadata=metadata)

    async def put_bytes(self, key: str, value: bytes, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        self._check(key)
        await self._kv.put_bytes(key, value, ttl_s=ttl_s, metadata=metadata)

    async def delete(self, key: str) -> None:
        self._check(key)
        await self._kv.delete(key)

    def _check(self, key: str) -> None:
        if key not in self._keys and not key.startswith(self._prefixes):
            raise OutsideWriteDomain(f"{key!r} belongs to another Worker")
