"""A view of a KV namespace that writes nothing outside its domain."""

from collections.abc import Iterable
from typing import Any

from sluice.core.errors import SluiceError
from sluice.core.ports import KvText
from sluice.platform.storage.kv import KV


class OutsideDomain(SluiceError):
    """A Worker tried to write a key that belongs to another: a defect, so nothing is written."""


class Domain:
    """Reads everything; writes the given keys, and those with a given prefix, which ends in a colon."""

    def __init__(self, kv: KV, writes: Iterable[str]) -> None:
        self._kv = kv
        writable = tuple(writes)
        self._keys = frozenset(name for name in writable if not name.endswith(":"))
        self._prefixes = tuple(name for name in writable if name.endswith(":"))

    async def get_text(self, key: str) -> str | None:
        return await self._kv.get_text(key)

    async def get_with_metadata(self, key: str) -> KvText | None:
        return await self._kv.get_with_metadata(key)

    async def get_many(self, keys: Iterable[str]) -> dict[str, str | None]:
        return await self._kv.get_many(keys)

    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        self._check(key)
        await self._kv.put_json(key, value, ttl_s=ttl_s, metadata=metadata)

    async def put_text(self, key: str, value: str, *, ttl_s: int | None = None, metadata: Any = None) -> None:
        self._check(key)
        await self._kv.put_text(key, value, ttl_s=ttl_s, metadata=metadata)

    async def delete(self, key: str) -> None:
        self._check(key)
        await self._kv.delete(key)

    def _check(self, key: str) -> None:
        if key not in self._keys and not key.startswith(self._prefixes):
            raise OutsideDomain(f"{key!r} belongs to another Worker")
