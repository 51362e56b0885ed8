"""The queue: order, one entry for a page, leases, and the same cost at any depth."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.objects import FakeStorage
from sluice.platform.durable_objects import Sql
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.queue import Queue, Wanted, mirrored
from sluice.services.preload.zone.schema import create_tables

URL = "https://example.com/"


def queue_of(sql: Sql | None = None) -> tuple[Queue, Sql]:
    sql = sql or Sql(FakeStorage())
    create_tables(sql)
    return Queue(sql), sql


def add(
    queue: Queue, sql: Sql, *wanted: tuple[str, float], at: float = 0, batch: str = "b", depth: int = 10_000
) -> int:
    Batches(sql).open(batch, "manual", at)
    pages = [Wanted(url=URL + name, priority=priority, trigger="manual") for name, priority in wanted]
    return queue.enqueue(pages, batch, now=at, max_depth=depth).queued


def popped(queue: Queue) -> list[str]:
    names = []
    while entry := queue.lease(0, 60):
        names.append(entry.url.removeprefix(URL))
        queue.finish(entry, "done", 0)
    return names


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 150), st.integers(0, 5)), max_size=40))
def test_order(entries: list[tuple[int, int]]):
    """The highest priority comes first; among equals the first to come."""
    queue, sql = queue_of()
    for number, (priority, at) in enumerate(entries):
        add(queue, sql, (str(number), priority), at=at)
    expected = sorted(range(len(entries)), key=lambda n: (-entries[n][0], entries[n][1], n))
    assert popped(queue) == [str(number) for number in expected]
    assert queue.depth == 0


def test_second_enqueue():
    """A page that waits already is not added again: its priority is raised, never lowered, and it keeps its place."""
    queue, sql = queue_of()
    add(queue, sql, ("a", 10), ("b", 50), at=1)
    assert add(queue, sql, ("a", 90), ("b", 20), at=2, batch="second") == 2
    assert queue.depth == 2
    assert [(e.url, e.priority, e.enqueued_at) for e in queue.in_order(9)] == [(f"{URL}a", 90, 1), (f"{URL}b", 50, 1)]


def test_batches_share_a_page():
    """Two batches that want one page are both told when it is done."""
    queue, sql = queue_of()
    add(queue, sql, ("a", 10), ("a", 10), ("b", 10))
    add(queue, sql, ("a", 10), batch="second")
    assert popped(queue) == ["a", "b"]
    for batch, total in (("b", 2), ("second", 1)):
        row = Batches(sql).row(batch)
        assert (row["total"], row["done"], row["queued"]) == (total, total, 0)
        assert row["finished_at"] is not None


def test_leases():
    """A leased page is given to nobody else until its lease ends."""
    queue, sql = queue_of()
    add(queue, sql, ("a", 10))
    entry = queue.lease(100, 60)
    assert entry is not None
    assert queue.lease(100, 60) is None
    assert (queue.next_due_at(), queue.lease_ends_at()) == (None, 160)
    assert queue.reclaim(159) == []
    assert queue.lease(159, 60) is None
    queue.reclaim(160, held=[entry.id])
    assert queue.lease(160, 60) is None
    queue.reclaim(160)
    again = queue.lease(160, 60)
    assert again is not None
    assert again.id == entry.id


def test_retry_waits():
    """A page put off is not given out before its time."""
    queue, sql = queue_of()
    add(queue, sql, ("a", 10))
    entry = queue.lease(0, 60)
    assert entry is not None
    queue.retry(entry, 25, 0)
    queue.wake(24)
    assert (queue.lease(24, 60), queue.next_due_at()) == (None, 25)
    queue.wake(25)
    again = queue.lease(25, 60)
    assert again is not None
    assert again.attempt == 1


@settings(max_examples=40)
@given(st.integers(1, 8), st.lists(st.integers(0, 20), min_size=1, max_size=30))
def test_depth_limit(limit: int, priorities: list[int]):
    """However pages come, the best of them stay and every one is counted."""
    queue, sql = queue_of()
    for number, priority in enumerate(priorities):
        add(queue, sql, (str(number), priority), at=number, depth=limit)
    best = sorted(range(len(priorities)), key=lambda n: (-priorities[n], n))[:limit]
    assert popped(queue) == [str(number) for number in best]
    row = Batches(sql).row("b")
    assert row["total"] == len(priorities)
    assert (row["done"], row["dropped"]) == (len(best), len(priorities) - len(best))


def test_mirror_shape():
    """The documented shape of an entry."""
    queue, sql = queue_of()
    Batches(sql).open("b", "post-purge", 0)
    page = Wanted(url=f"{URL}blog/my-post/", priority=85, trigger="post-purge", post_id=123)
    queue.enqueue([page], "b", now=1_700_000_000.25, max_depth=10)
    assert mirrored(queue.in_order(10)) == [
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
    queue, database = queue_of()
    add(queue, database, *((str(n), random.Random(n).random()) for n in range(50)))
    statements = {
        "push": "SELECT 1 FROM entry WHERE url = 'u' AND variant = ''",
        "pop": "SELECT * FROM entry WHERE state = 0 ORDER BY priority DESC, enqueued_at, id LIMIT 1",
        "drop": "SELECT * FROM entry WHERE state = 0 ORDER BY priority, enqueued_at DESC, id DESC LIMIT 1",
    }
    plan = " ".join(str(row["detail"]) for row in database.rows(f"EXPLAIN QUERY PLAN {statements[sql]}"))
    assert "SEARCH entry USING" in plan
    assert "TEMP B-TREE" not in plan
