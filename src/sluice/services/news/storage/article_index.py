"""The ordered list of stored articles: the latest to come first, bounded."""

from dataclasses import dataclass
from typing import Self

from sluice.core.bounded_json import parsed
from sluice.core.ports import KvReader, KvWriter
from sluice.services.news.storage.keys import INDEX


@dataclass(frozen=True, slots=True)
class Index:
    """A value; the version is noted beside the stored list, whose shape is fixed."""

    ids: tuple[str, ...] = ()
    version: int = 0

    @classmethod
    async def read(cls, store: KvReader) -> Self:
        """What is stored; a list that cannot be read counts as empty, since the articles themselves are elsewhere."""
        found = await store.get_with_metadata(INDEX)
        if found is None:
            return cls()
        version = found.metadata.get("version", 0) if isinstance(found.metadata, dict) else 0
        return cls(ids_of(found.value), version if isinstance(version, int) else 0)

    async def write(self, store: KvWriter, *, ttl_s: int) -> None:
        await store.put_json(INDEX, list(self.ids), ttl_s=ttl_s, metadata={"version": self.version})

    def adding(self, article_id: str, *, max_size: int, now_ms: int) -> "tuple[Index, tuple[str, ...]]":
        """The index with the article, and the ids for which there is no room any more."""
        ids = self.ids if article_id in self.ids else (article_id, *self.ids)
        return Index(ids[:max_size], max(now_ms, self.version + 1)), ids[max_size:]


def ids_of(text: str) -> tuple[str, ...]:
    """The ids of a stored list, each once."""
    found = parsed(text)
    return tuple(dict.fromkeys(each for each in found if isinstance(each, str))) if isinstance(found, list) else ()
