"""The queue: order, one entry for a page, leases, and the same cost at any depth."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.objects import FakeStorage
from sluice.core.preload.queue_entries import WantedPage
from sluice.platform.durable_objects import Sql
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.queue import DueTimes, Queue, entry_as_json
from sluice.services.preload.zone.schema import create_tables

URL = "https://example.com/"


def build_queue() -> Queue:
    sql = Sql(FakeStorage())
    create_tables(sql)
    return Queue(sql, Batches(sql))


def add(queue: Queue, *wanted: tuple[str, float], at: float = 0, batch: str = "b", depth: int = 10_000) -> int:
    queue.batches.open(batch, "manual", at)
    pages = [WantedPage(url=URL + name, priority=priority, trigger="manual") for name, priority in wanted]
    return queue.enqueue(pages, batch, now=at, max_depth=depth).queued


def pop_all(queue: Queue) -> list[str]:
    names = []
    while entry := queue.lease(0, 60):
        names.append(entry.url.removeprefix(URL))
        queue.finish(entry, "done", 0)
    return names


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 150), st.integers(0, 5)), max_size=40))
def test_order(entries: list[tuple[int, int]]):
    """The highest priority comes first; among equals the first enqueued."""
    queue = build_queue()
    for number, (priority, at) in enumerate(entries):
        add(queue, (str(number), priority), at=at)
    expected = sorted(range(len(entries)), key=lambda n: (-entries[n][0], entries[n][1], n))
    assert pop_all(queue) == [str(number) for number in expected]
    assert queue.depth == 0


def test_second_enqueue():
    """A page that is queued already is not added again: its priority rises, never falls, and it keeps its place."""
    queue = build_queue()
    add(queue, ("a", 10), ("b", 50), at=1)
    assert add(queue, ("a", 90), ("b", 20), at=2, batch="second") == 2
    assert queue.depth == 2
    assert [(e.url, e.priority, e.enqueued_at) for e in queue.list_in_order(9)] == [
        (f"{URL}a", 90, 1),
        (f"{URL}b", 50, 1),
    ]


def test_batches_share_a_page():
    """Two batches that want one page both count it when it is done."""
    queue = build_queue()
    add(queue, ("a", 10), ("a", 10), ("b", 10))
    add(queue, ("a", 10), batch="second")
    assert pop_all(queue) == ["a", "b"]
    for batch, total in (("b", 2), ("second", 1)):
        row = queue.batches.load(batch)
        assert (row["total"], row["done"], row["queued"]) == (total, total, 0)
        assert row["finished_at"] is not None


def test_leases():
    """A leased page is leased to nobody else until its lease ends."""
    queue = build_queue()
    add(queue, ("a", 10))
    entry = queue.lease(100, 60)
    assert entry is not None
    assert queue.lease(100, 60) is None
    assert queue.load_due_times() == DueTimes(is_ready=False, has_late=False, retry_at=None, lease_ends_at=160)
    assert queue.reclaim(159) == []
    assert queue.lease(159, 60) is None
    queue.reclaim(160, held=[entry.id])
    assert queue.lease(160, 60) is None
    queue.reclaim(160)
    again = queue.lease(160, 60)
    assert again is not None
    assert again.id == entry.id


def test_late_pages():
    """A page that timed out stands behind all others, whatever its priority; once it is done and wanted again, no more."""
    queue = build_queue()
    add(queue, ("slow", 90), ("a", 10))
    slow = queue.lease(0, 60)
    assert slow is not None
    queue.retry(slow, 5, 0, is_late=True)
    queue.release_due_retries(5)
    due = queue.load_due_times()
    assert (due.is_ready, due.has_late) == (True, True)
    first = queue.lease(5, 60)
    assert first is not None
    assert (first.url.endswith("/a"), queue.lease(5, 60)) == (True, None)
    late = queue.lease_late(5, 60)
    assert late is not None
    assert (late.url.endswith("/slow"), late.attempt) == (True, 1)
    queue.reclaim(65, held=[first.id])  # the Worker died
    assert queue.lease(65, 60) is None
    late = queue.lease_late(65, 60)
    assert late is not None
    add(queue, ("slow", 90), batch="second")
    queue.finish(late, "done", 66)
    again = queue.lease(66, 60)
    assert again is not None
    queue.finish(again, "done", 66)
    assert queue.sql.rows("SELECT * FROM late") == []


def test_retry_waits():
    """A delayed page is not leased before its time."""
    queue = build_queue()
    add(queue, ("a", 10))
    entry = queue.lease(0, 60)
    assert entry is not None
    queue.retry(entry, 25, 0)
    queue.release_due_retries(24)
    assert (queue.lease(24, 60), queue.load_due_times().retry_at) == (None, 25)
    queue.release_due_retries(25)
    again = queue.lease(25, 60)
    assert again is not None
    assert again.attempt == 1


@settings(max_examples=40)
@given(st.integers(1, 8), st.lists(st.integers(0, 20), min_size=1, max_size=30))
def test_depth_limit(limit: int, priorities: list[int]):
    """In any order of arrival, the pages of highest priority stay and every page is counted."""
    queue = build_queue()
    for number, priority in enumerate(priorities):
        add(queue, (str(number), priority), at=number, depth=limit)
    best = sorted(range(len(priorities)), key=lambda n: (-priorities[n], n))[:limit]
    assert pop_all(queue) == [str(number) for number in best]
    row = queue.batches.load("b")
    assert row["total"] == len(priorities)
    assert (row["done"], row["dropped"]) == (len(best), len(priorities) - len(best))


def test_mirror_shape():
    """The documented shape of an entry."""
    queue = build_queue()
    queue.batches.open("b", "post-purge", 0)
    page = WantedPage(url=f"{URL}blog/my-post/", priority=85, trigger="post-purge", post_id=123)
    queue.enqueue([page], "b", now=1_700_000_000.25, max_depth=10)
    assert [entry_as_json(entry) for entry in queue.list_in_order(10)] == [
        {
            "url": f"{URL}blog/my-post/",
            "priority": 85,
            "enqueued_at": 1_700_000_000,
            "trigger": "post-purge",
            "post_id": 123,
            "attempt": 0,
        }
    ]


@pytest.mark.parametrize("sql", ["push", "pop", "drop"])
def test_no_statement_walks_the_queue(sql: str):
    """What is done for each page finds its rows by an index, so a long queue costs no more than a short one."""
    queue = build_queue()
    add(queue, *((str(n), random.Random(n).random()) for n in range(50)))
    statements = {
        "push": "SELECT 1 FROM entry WHERE url = 'u' AND variant = ''",
        "pop": "SELECT * FROM entry WHERE state = 0 ORDER BY priority DESC, enqueued_at, id LIMIT 1",
        "drop": "SELECT * FROM entry WHERE state = 0 ORDER BY priority, enqueued_at DESC, id DESC LIMIT 1",
    }
    plan = " ".join(str(row["detail"]) for row in queue.sql.rows(f"EXPLAIN QUERY PLAN {statements[sql]}"))
    assert "SEARCH entry USING" in plan
    assert "TEMP B-TREE" not in plan
