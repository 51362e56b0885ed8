"""An index of articles that cannot be read: it is rebuilt of what is stored, and nothing that is served disappears."""

import json
from typing import Any

import pytest

from fakes.kv import FakeKV
from sluice.core.news.article import MAX_ID_BYTES
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.storage.article_index import ArticleIndex, CorruptIndex
from sluice.services.news.storage.keys import CHECKPOINT, CORRUPT_INDEX, INDEX, PENDING, article_key
from unit.services.news.harness import NewsHarness, RecordedLog, article, open_state, refuse_fetch

NAMES = ["a", "b", "c", "d", "e", "f", "g"]
BROKEN: list[str | bytes] = [
    '{"broken',
    '["g","f","e',
    "",
    "null",
    "7",
    "{}",
    '"g"',
    '{"ids":["g"]}',
    '["g",5,null,["f"],"e"]',
    '["g","","e"]',
    '["\\ud800","g"]',
    "[" * 100,
    json.dumps(["g", "x" * (MAX_ID_BYTES + 1)]),
    b'["g","\xff","e"]',
    b"\xff\xfe\x00",
]


async def break_index(news: NewsHarness, value: str | bytes) -> None:
    """Store a value as a person would, without counting the operation."""
    await FakeKV.put(news._uncounted(), INDEX, value)
    news.clock.advance(news.kv.stale_s + 2)


async def process_all(**options: Any) -> NewsHarness:
    """Return a service that has processed all names, and a new article that waits."""
    news = NewsHarness(**options)
    await news.put_pending(*NAMES)
    await news.run_until_idle()
    assert news.index() == NAMES[::-1]
    await news.put_pending("new")
    return news


async def read_ids(news: NewsHarness) -> list[str]:
    text = await FakeKV.get(news.snapshot_kv, "snapshot")
    return [each.article.id for each in Snapshot.parse(text).articles]


def list_alerts(news: NewsHarness) -> list[str]:
    return [fields["alert"] for name, fields in news.log.events if name == "index.corrupt"]


@pytest.mark.parametrize("broken", BROKEN)
async def test_corrupt_index(broken: str | bytes):
    """It is kept, an alert is logged, and the new article joins all others, in the order that the index had."""
    news = await process_all()
    await break_index(news, broken)
    await news.run_minute()
    assert news.index() == ["new", *NAMES[::-1]]
    assert await read_ids(news) == ["new", *NAMES[::-1]]
    kept = news.kv._history[CORRUPT_INDEX][-1][1]
    assert kept is not None
    assert kept.value == (broken.encode() if isinstance(broken, str) else broken)
    assert list_alerts(news) == ["the index of articles was rebuilt"]
    await news.run_until_idle()
    assert {what: n for what, n in news.upstream.calls.items() if n > 1} == {}


async def test_corrupt_index_of_unknown_past():
    """Without a run that announced one, the stored articles are listed, the latest to be processed first."""
    news = NewsHarness()
    for number, name in enumerate(NAMES):
        times = {"processedAt": 1000 + number, "needsSentiment": False, "needsSummary": False}
        await news.put(article_key(name), article(name, **times).as_json())
    await news.put(article_key("junk"), "{")
    await news.put_pending("new")
    await break_index(news, '["a", 5]')
    await news.run_minute()
    assert news.index() == ["new", "a", "g", "f", "e", "d", "c", "b"]


async def test_many_stored_articles():
    """However many are stored, the index keeps to its size, and all parts of the listing are read."""
    news = NewsHarness(max_stored_articles=20)
    plain = news._uncounted()
    for number in range(1200):
        data = article(f"n{number:04}", processedAt=1000 + number).as_json()
        await FakeKV.put(plain, article_key(f"n{number:04}"), json.dumps(data))
    await news.put_pending("new")
    await break_index(news, "null")
    await news.run_minute()
    assert news.index() == ["new", *(f"n{number:04}" for number in range(1199, 1180, -1))]
    assert [name for name, _ in news.kv.operations].count("list") == 2


async def test_api_while_the_index_is_corrupt():
    """What is served stays, and an object that has served nothing yet serves what is stored."""
    news = await process_all()
    await break_index(news, '{"broken')
    before = await read_ids(news)
    await news.state.reconcile()
    assert await read_ids(news) == before == NAMES[::-1]
    log = RecordedLog()
    fresh = open_state(news._uncounted(), FakeKV(news.clock), news.clock, log, lambda: refuse_fetch)
    assert sorted(each["id"] for each in json.loads(await fresh.read_snapshot())["articles"]) == NAMES
    alerts = [fields["alert"] for name, fields in log.events if name == "index.corrupt"]
    assert alerts == ["the processor will rebuild the index of articles"]


async def test_both_are_corrupt():
    """With checkpoint and index corrupt at once, finished articles stay finished, and an unfinished one goes on."""
    news = NewsHarness()
    await news.put_pending("a", "b")
    for _ in range(4):
        await news.run_minute()
    assert news.checkpoint()["currentArticleId"] == "b"
    await news.put(PENDING, [])
    await news.put(CHECKPOINT, "{")
    await break_index(news, "[1]")
    await news.run_until_idle()
    assert sorted(news.checkpoint()["processedIds"]) == ["a", "b"]
    assert sorted(news.index()) == ["a", "b"]
    assert {what: n for what, n in news.upstream.calls.items() if n > 1} == {}


@pytest.mark.parametrize("broken", ['{"broken', '["a", 5]'])
@pytest.mark.parametrize("stale_s", [0, 60])
async def test_crash_at_every_point_of_the_rebuild(stale_s: float, broken: str):
    """Wherever the run that rebuilds crashes, the next ones do, and no id is lost."""
    for point in range(1, 18):
        for before in (True, False):
            news = NewsHarness(stale_s=stale_s)
            await news.put_pending("a", "b")
            await news.run_until_idle()
            await news.put_pending("c")
            await break_index(news, broken)
            news.steps.fail_at(point, before=before)
            await news.run_until_idle()
            assert news.index() == ["c", "b", "a"]
            assert await read_ids(news) == ["c", "b", "a"]
            assert {what: n for what, n in news.upstream.calls.items() if n > 1 and not what.endswith(" c")} == {}


async def test_deleted_index_is_not_corrupt():
    """An index that the operator has deleted begins anew, without an alert."""
    news = await process_all()
    await news.delete(INDEX)
    await news.run_minute()
    assert news.index() == ["new"]
    assert list_alerts(news) == []


def test_repeated_ids_are_read_once():
    """An id that is listed twice is no defect."""
    assert ArticleIndex.parse('["a","b","a"]', 3) == ArticleIndex(("a", "b"), 3)
    assert isinstance(ArticleIndex.parse('["a",1]', 3), CorruptIndex)
