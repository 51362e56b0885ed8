"""The index of stored articles: their ids, the latest to be processed first, bounded in number."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from sluice.core.errors import SluiceError
from sluice.core.json_text import encode_json, parse_bounded_json, parse_stored_json
from sluice.core.news.article import Article, is_article_id
from sluice.core.ports import KvReader, KvText, KvWriter
from sluice.services.news.storage.keys import INDEX, article_key
from sluice.services.news.storage.value_version import read_version


class CorruptIndex(SluiceError):
    """A stored index cannot be read, or only in part; `readable` are the ids that can be."""

    def __init__(self, message: str, readable: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.readable = readable


@dataclass(frozen=True, slots=True)
class ArticleIndex:
    """An immutable value. The version is stored in the metadata, because the shape of the list is fixed."""

    ids: tuple[str, ...] = ()
    version: int = 0

    @classmethod
    async def read(cls, kv: KvReader) -> Self | CorruptIndex:
        return cls.from_kv(await kv.get_with_metadata(INDEX))

    @classmethod
    def from_kv(cls, stored: KvText | None) -> Self | CorruptIndex:
        return cls.parse(stored.value, read_version(stored) or 0) if stored else cls()

    @classmethod
    def parse(cls, text: str, version: int) -> Self | CorruptIndex:
        try:
            value = parse_bounded_json(text)
        except ValueError as error:
            return CorruptIndex(f"it is not JSON: {error}")
        if not isinstance(value, list):
            return CorruptIndex("it is not a list")
        ids = tuple(dict.fromkeys(each for each in value if is_article_id(each)))
        bad = sum(not is_article_id(each) for each in value)
        return CorruptIndex(f"{bad} of its {len(value)} entries are no ids", ids) if bad else cls(ids, version)

    def encode(self) -> str:
        return encode_json(self.ids)

    async def write(self, kv: KvWriter, *, ttl_s: int) -> None:
        await kv.put_text(INDEX, self.encode(), ttl_s=ttl_s, metadata={"version": self.version})

    def add(self, article_id: str, *, max_size: int, version: int) -> "tuple[ArticleIndex, tuple[str, ...]]":
        """Return the index with the article in front, and the ids that it dropped."""
        ids = self.ids if article_id in self.ids else (article_id, *self.ids)
        return ArticleIndex(ids[:max_size], version), ids[max_size:]


async def read_articles(kv: KvReader, ids: Iterable[str]) -> dict[str, Article]:
    """Read articles, 100 in one operation; articles that are missing or cannot be parsed are left out."""
    wanted = list(ids)
    texts = await kv.get_many(article_key(each) for each in wanted)
    articles = {each: Article.from_json(each, parse_stored_json(texts.get(article_key(each)))) for each in wanted}
    return {each: article for each, article in articles.items() if article is not None}
