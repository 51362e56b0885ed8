"""The index of stored articles: their ids, the latest to be processed first, bounded in number."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from sluice.core.json_text import encode_json, parse_stored_json
from sluice.core.news.article import Article
from sluice.core.ports import KvReader, KvText, KvWriter
from sluice.services.news.storage.keys import INDEX, article_key
from sluice.services.news.storage.versions import read_version


@dataclass(frozen=True, slots=True)
class ArticleIndex:
    """An immutable value. The version is stored in the metadata, because the shape of the list is fixed."""

    ids: tuple[str, ...] = ()
    version: int = 0

    @classmethod
    async def read(cls, kv: KvReader) -> Self:
        """Reads the stored index; one that cannot be parsed counts as empty, because the articles are stored elsewhere."""
        return cls.from_kv(await kv.get_with_metadata(INDEX))

    @classmethod
    def from_kv(cls, stored: KvText | None) -> Self:
        return cls(_parse_ids(stored.value), read_version(stored) or 0) if stored else cls()

    @classmethod
    def parse(cls, text: str, version: int) -> Self:
        return cls(_parse_ids(text), version)

    def encode(self) -> str:
        return encode_json(self.ids)

    async def write(self, kv: KvWriter, *, ttl_s: int) -> None:
        await kv.put_text(INDEX, self.encode(), ttl_s=ttl_s, metadata={"version": self.version})

    def add(self, article_id: str, *, max_size: int, version: int) -> "tuple[ArticleIndex, tuple[str, ...]]":
        """Returns the index with the article in front, and the ids that it dropped."""
        ids = self.ids if article_id in self.ids else (article_id, *self.ids)
        return ArticleIndex(ids[:max_size], version), ids[max_size:]


async def read_articles(kv: KvReader, ids: Iterable[str]) -> dict[str, Article]:
    """Reads articles, 100 in one operation; articles that are missing or cannot be parsed are left out."""
    wanted = list(ids)
    texts = await kv.get_many(article_key(each) for each in wanted)
    articles = {each: Article.from_json(each, parse_stored_json(texts.get(article_key(each)))) for each in wanted}
    return {each: article for each, article in articles.items() if article is not None}


def _parse_ids(text: str) -> tuple[str, ...]:
    value = parse_stored_json(text)
    return tuple(dict.fromkeys(each for each in value if isinstance(each, str))) if isinstance(value, list) else ()
