"""Finds the ids of an index that cannot be read in what else is stored."""

from collections.abc import Iterable, Sequence
from typing import Final

from sluice.core.news.article import Article, is_article_id
from sluice.core.ports import KvReader
from sluice.services.news.storage.article_index import read_articles
from sluice.services.news.storage.keys import ARTICLE_PREFIX

MAX_LISTED: Final = 10_000  # twice the largest index; ten operations, and a hundred that read them
_READ_AT_ONCE: Final = 100
_TIMES: Final = ("processedAt", "summaryAt", "sentimentAt", "queuedAt")


async def recover_ids(kv: KvReader, known: Iterable[str], max_size: int) -> tuple[str, ...]:
    """Return the known ids, and after them those of all other stored articles, the latest to be processed first."""
    ids = list(dict.fromkeys(known))
    if len(ids) < max_size:
        ids += await _list_others(kv, set(ids))
    return tuple(ids[:max_size])


async def _list_others(kv: KvReader, known: set[str]) -> list[str]:
    listed = [each for each in await _list_ids(kv) if each not in known]
    times: dict[str, int] = {}
    # Some at a time: the articles together would take too much memory.
    for start in range(0, len(listed), _READ_AT_ONCE):
        found = await read_articles(kv, listed[start : start + _READ_AT_ONCE])
        times |= {article_id: _last_time(article) for article_id, article in found.items()}
    return sorted(times, key=lambda each: times[each], reverse=True)


async def _list_ids(kv: KvReader) -> Sequence[str]:
    names: list[str] = []
    cursor: str | None = None
    while len(names) < MAX_LISTED:
        page = await kv.list(ARTICLE_PREFIX, cursor=cursor)
        names += [key.name.removeprefix(ARTICLE_PREFIX) for key in page.keys]
        cursor = page.cursor
        if cursor is None:
            break
    return [each for each in names if is_article_id(each)]


def _last_time(article: Article) -> int:
    return max(article.number(name) for name in _TIMES)
