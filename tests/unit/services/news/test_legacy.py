"""The articles of the architecture before checkpoints are adopted once: finished ones are kept, the others go on."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from fakes.kv import FakeKV
from sluice.core.errors import Unavailable
from sluice.core.news.article import MAX_ID_BYTES
from sluice.core.news.legacy import parse_legacy
from sluice.services.news.process.legacy_migration import MAX_ADOPTED, MAX_WAITING
from sluice.services.news.serve.snapshot import Snapshot
from sluice.services.news.storage.keys import CHECKPOINT, INDEX, LEGACY, PENDING, article_key
from unit.services.news.harness import NewsHarness, article

DONE = {"sentiment": "positive", "aiSummary": "A summary.", "processedAt": 5}


def finished(name: str) -> dict[str, Any]:
    """Return an older article, without flags."""
    return {"article_id": name, "title": f"Title {name}", "link": f"https://old.example/{name}", **DONE}


def unfinished(name: str) -> dict[str, Any]:
    return dict(article(name).data)


async def start(entries: Sequence[Any], **options: Any) -> NewsHarness:
    news = NewsHarness(**options)
    await put_legacy(news, entries)
    return news


async def put_legacy(news: NewsHarness, entries: Sequence[Any]) -> None:
    await news.put(LEGACY, {"articles": list(entries), "lastUpdatedExternal": 1_600_000_000_000})


async def read_ids(news: NewsHarness) -> list[str]:
    text = await FakeKV.get(news.snapshot_kv, "snapshot")
    return [each.article.id for each in Snapshot.parse(text).articles] if text else []


async def count_operations(news: NewsHarness) -> list[str]:
    before = len(news.kv.operations)
    await news.run_minute()
    return [f"{name} {subject}" for name, subject in news.kv.operations[before:]]


def find_events(news: NewsHarness, name: str) -> list[dict[str, Any]]:
    return [fields for event, fields in news.log.events if event == name]


async def test_only_the_older_list():
    """All are served and in the index, the unfinished are processed to their end, and a new article joins them."""
    news = await start([finished("a"), unfinished("b"), finished("c"), unfinished("d")])
    await news.state.reconcile()
    assert await read_ids(news) == ["a", "b", "c", "d"]
    await news.run_until_idle()
    assert news.index() == ["a", "b", "c", "d"]
    assert sorted(news.checkpoint()["processedIds"]) == ["a", "b", "c", "d"]
    assert [news.stored_article(name)["aiSummary"] for name in "abcd"] == [
        "A summary.",
        "Summary of b.",
        "A summary.",
        "Summary of d.",
    ]
    assert news.upstream.calls == {f"{what} {name}": 1 for what in ("sentiment", "scrape", "summary") for name in "bd"}
    await news.put_pending("new")
    await news.run_until_idle()
    assert await read_ids(news) == ["new", "a", "b", "c", "d"]


async def test_beside_an_index():
    """What the index has stays before the adopted, and a stored article is not overwritten."""
    news = await start([finished("a"), unfinished("b")])
    stored = article("b", **DONE, needsSentiment=False, needsSummary=False).as_json()
    await news.put(article_key("b"), stored)
    await news.put(article_key("own"), article("own", **DONE, needsSentiment=False, needsSummary=False).as_json())
    await news.put(INDEX, ["own"])
    await news.run_until_idle()
    assert news.index() == ["own", "a", "b"]
    assert sorted(await read_ids(news)) == ["a", "b", "own"]
    assert news.stored_article("b") == stored
    assert news.upstream.calls == {}


async def test_later_than_the_first_article():
    """A list that appears while the service works is found by the next update."""
    news = NewsHarness()
    await news.put_pending("own")
    await news.run_until_idle()
    await put_legacy(news, [finished("a")])
    await news.run_minute(news.updater().run)
    await news.run_until_idle()
    assert await read_ids(news) == ["own", "a"]
    # The older Workers may still write it for a while.
    await put_legacy(news, [finished("b"), finished("a")])
    await news.run_minute(news.updater().run)
    await news.run_until_idle()
    assert sorted(await read_ids(news)) == ["a", "b", "own"]


@pytest.mark.parametrize("has_list", [True, False])
async def test_operations_of_a_run_stay_the_same(*, has_list: bool):
    """Before there is a checkpoint, and once the list is adopted, runs take the documented operations."""
    news = await start([finished("a")] if has_list else [])
    if has_list:
        await news.run_minute()
    else:
        await news.delete(LEGACY)
    idle = [f"get {CHECKPOINT}", f"get {PENDING}"]
    assert await count_operations(news) == idle
    await news.put_pending("new")
    writes = [f"put {CHECKPOINT}", "put article:new", f"put {INDEX}", f"put {CHECKPOINT}"]
    assert await count_operations(news) == [*idle, f"get {INDEX}", *writes]
    await news.run_until_idle()
    await news.run_minute(news.updater().run)
    assert await count_operations(news) == idle


async def test_state_object_is_asked_until_there_is_a_checkpoint(monkeypatch: pytest.MonkeyPatch):
    """A run that works stores that there was nothing to adopt; an outage of the object only postpones the question."""
    news = NewsHarness()
    asked: list[str] = []

    async def find_legacy(_self: object) -> str:
        asked.append("")
        if len(asked) == 1:
            raise Unavailable("not now")
        return ""

    monkeypatch.setattr(type(news.state), "find_legacy", find_legacy)
    await news.put_pending("a")
    await news.run_minute()
    await news.run_until_idle()
    await news.run_minute()
    assert len(asked) == 2


@pytest.mark.parametrize("stale_s", [0, 60])
async def test_long_list(stale_s: float):
    """A run adopts some; all are served meanwhile, in their order, and each is written once."""
    entries = [unfinished(f"n{n}") if n % 2 else finished(f"n{n}") for n in range(5 * MAX_ADOPTED)]
    news = await start(entries, stale_s=stale_s)
    names = [f"n{n}" for n in range(len(entries))]
    await news.state.reconcile()
    for _ in range(3):
        before = len(news.kv.operations)
        await news.run_minute()
        written = [key for name, key in news.kv.operations[before:] if name == "put" and key.startswith("article:")]
        assert len(written) <= MAX_ADOPTED
        assert await read_ids(news) == names
        assert len(news.checkpoint()["tryLater"]) <= MAX_WAITING
    await news.run_until_idle(900)
    assert sorted(news.checkpoint()["processedIds"]) == sorted(names)
    assert all(n == 1 for n in news.upstream.calls.values())
    assert await read_ids(news) == names
    assert all(news.stored_article(name)["aiSummary"] for name in names)


async def test_list_larger_than_the_index():
    """The index keeps its size; what does not fit is counted in the log."""
    news = await start([finished(f"n{n}") for n in range(9)], max_stored_articles=4)
    await news.put_pending("new")
    await news.run_until_idle()
    assert news.index() == ["new", "n0", "n1", "n2"]
    assert find_events(news, "legacy.adopted") == [{"articles": 4, "surplus": 5}]


async def test_malformed_entries():
    """They are skipped with a log line; the others are adopted."""
    odd: list[Any] = [5, None, "text", [], {}, {"title": "No id"}, {"id": "x"}, {"id": True, "title": "t"}]
    news = await start([*odd, finished("a"), {"id": 7, "title": "Seven", **DONE}, finished("a")])
    await news.run_until_idle()
    assert news.index() == ["a", "7"]
    [skipped] = find_events(news, "legacy.skipped")
    assert (skipped["entries"], skipped["places"]) == (8, tuple(range(8)))


@pytest.mark.parametrize(
    "text", ["{", "[]", "null", '{"articles": 5}', '{"articles": [{"id": "a", "title": "\\ud800"}]}']
)
async def test_unreadable_list(text: str):
    """Nothing is adopted, the log says so, and the next runs are as usual."""
    news = NewsHarness()
    await news.put(LEGACY, text)
    await news.run_minute()
    assert find_events(news, "legacy.unreadable") or find_events(news, "legacy.skipped")
    assert await count_operations(news) == [f"get {CHECKPOINT}", f"get {PENDING}"]
    assert await news.state.read_snapshot()


async def test_long_id():
    """An id that is too long for a key is shortened, always in the same way."""
    entry = finished("x" * (MAX_ID_BYTES + 1))
    first, second = (parse_legacy(json.dumps({"articles": [entry]})).articles for _ in range(2))
    assert first == second
    assert len(first[0].id) == 32


@pytest.mark.parametrize("stale_s", [0, 60])
async def test_crash_at_every_point(stale_s: float):
    """Wherever a run crashes that adopts, every article is adopted, once, and the unfinished one is processed once."""
    for point in range(1, 24):
        for before in (True, False):
            news = await start([finished("a"), unfinished("b"), finished("c")], stale_s=stale_s)
            await news.put(article_key("own"), article("own", **DONE).as_json())
            await news.put(INDEX, ["own"])
            await news.state.reconcile()
            news.steps.fail_at(point, before=before)
            await news.run_until_idle()
            assert news.index() == ["own", "a", "b", "c"]
            assert sorted(news.checkpoint()["processedIds"]) == ["a", "b", "c"]
            assert await read_ids(news) == ["own", "a", "b", "c"]
            assert news.stored_article("b")["aiSummary"] == "Summary of b."
            assert news.upstream.calls["summary b"] <= 2
            assert [news.stored_article(name)["aiSummary"] for name in "ac"] == ["A summary."] * 2
