"""The queue: order, one entry for a page, leases, and the same cost at any depth."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.objects import FakeStorage
from sluice.core.errors import NotFound
from sluice.core.ports import Row
from sluice.core.preload.queue_entries import QueueEntry, WantedPage
from sluice.core.preload.retry_backoff import MAX_DELAY_S
from sluice.platform.durable_objects import Sql
from sluice.services.preload.discovery.known_pages import KnownPages
from sluice.services.preload.discovery.page_index import Page
from sluice.services.preload.queue.batches import COUNTS, Batches
from sluice.services.preload.queue.dead_letters import DeadLetterQueue
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


def lease(queue: Queue, now: float = 0, lease_s: float = 60) -> QueueEntry:
    entry = queue.lease(now, lease_s)
    assert entry is not None
    return entry


def name(entry: QueueEntry | None) -> str | None:
    return entry.url.removeprefix(URL) if entry else None


def test_probe():
    """A page that has worked says most about the origin, then one that has not failed; a variant's copy is another page's."""
    queue = build_queue()
    add(queue, ("failed", 90), ("new", 50), ("worked", 10), ("variant", 40))
    queue.retry(lease(queue), 5, 0)
    queue.release_due_retries(5)
    known = KnownPages(queue.sql)
    known.store(Page(f"{URL}worked", ""), (), now=0, fresh_until=1)
    known.store(Page(f"{URL}variant", "mobile"), (), now=0, fresh_until=1)
    assert [name(queue.lease_probe(5, 60)) for _ in range(5)] == ["worked", "new", "variant", "failed", None]


def test_pages_that_are_wanted_by_hand():
    """While the queue is paused, only they are leased, in each of the ways, and only their times count."""
    queue = build_queue()
    queue.batches.open("b", "scheduled", 0)
    pages = [
        WantedPage(url=f"{URL}bot", priority=99, trigger="scheduled"),
        WantedPage(url=f"{URL}first", priority=50, trigger="manual"),
        WantedPage(url=f"{URL}last", priority=10, trigger="manual"),
        WantedPage(url=f"{URL}other", priority=5, trigger="scheduled"),
    ]
    queue.enqueue(pages, "b", now=0, max_depth=99)
    assert name(queue.lease(0, 60, by_hand=True)) == "first"
    assert name(queue.lease_last(0, 60, by_hand=True)) == "last"
    assert not queue.load_due_times(by_hand=True).is_ready
    assert queue.load_due_times().is_ready
    assert queue.lease(0, 60, by_hand=True) is None
    assert queue.lease_last(0, 60, by_hand=True) is None
    assert queue.lease_probe(0, 60, by_hand=True) is None
    assert [name(queue.lease_last(0, 60)), name(queue.lease_probe(0, 60))] == ["other", "bot"]


def test_due_times():
    """The next retry and the next end of a lease are the earliest of their kind."""
    queue = build_queue()
    add(queue, ("a", 50), ("b", 40), ("c", 30), ("d", 20))
    a, b = lease(queue), lease(queue)
    lease(queue, 0, 90)
    lease(queue, 0, 70)
    queue.retry(a, 30, 0)
    queue.retry(b, 20, 0)
    due = queue.load_due_times()
    assert (due.retry_at, due.lease_ends_at) == (20, 70)
    assert (queue.find_last_retry(0), queue.find_last_retry(31)) == (30, 31)
    queue.release_due_retries(20)
    assert name(queue.lease(20, 60)) == "b"
    assert queue.load_due_times().retry_at == 30


def test_clock_that_was_set_back():
    """No lease and no retry lasts longer than one that begins now."""
    queue = build_queue()
    add(queue, ("waits", 50), ("leased", 40), ("soon", 30))
    queue.retry(lease(queue, 1000), 5000, 1000)
    lease(queue, 1000)
    queue.retry(lease(queue, 1000), 130, 1000)
    queue.clamp_waits(100, 60)
    due = queue.load_due_times()
    assert (due.retry_at, due.lease_ends_at) == (130, 160)
    assert queue.find_last_retry(100) == 100 + MAX_DELAY_S
    queue.shorten_all(150)
    assert queue.load_due_times().lease_ends_at == 150
    queue.shorten_all(155)
    assert queue.load_due_times().lease_ends_at == 150


def test_page_that_is_given_back():
    """Given back, it counts no attempt; repeated, it counts one and does not count as failing; others stay as they are."""
    queue = build_queue()
    add(queue, ("a", 50), ("b", 40))
    first, held = lease(queue), lease(queue)
    queue.give_back(first)
    again = lease(queue)
    assert (name(again), again.attempt, queue.is_held(first), queue.is_held(held)) == ("a", 0, False, True)
    queue.repeat(again)
    repeated = lease(queue)
    assert (name(repeated), repeated.attempt, repeated.first_failed_at) == ("a", 1, None)
    assert queue.is_held(held)


def test_page_that_changes_while_it_is_fetched():
    """It is fetched once more, with its attempts counted anew; nobody else is."""
    queue = build_queue()
    add(queue, ("a", 50), ("b", 40), ("c", 30))
    a, b = lease(queue), lease(queue)
    queue.mark_wanted_again([f"{URL}a", f"{URL}c"])
    queue.finish(a, "done", 7)
    queue.finish(b, "done", 7)
    again = lease(queue, 7)
    assert (name(again), again.attempt, again.enqueued_at) == ("a", 0, 7)
    assert [name(lease(queue, 7)), queue.depth] == ["c", 2]


def test_page_that_crashes_the_worker():
    """The sixth time its lease ends without a word it is given up; a page that is held here is not touched."""
    queue = build_queue()
    add(queue, ("a", 50), ("held", 40))
    lease(queue)
    held = lease(queue)
    for crash in range(1, 7):
        crashed = queue.reclaim(60 * crash, held=[held.id])
        assert [name(entry) for entry in crashed] == (["a"] if crash == 6 else [])
        if crash < 6:
            lease(queue, 60 * crash)
    assert queue.is_held(held)


class TestBatches:
    """The progress of pages that were wanted together."""

    def counts(self, queue: Queue, batch: str = "b") -> Row:
        row = queue.batches.load(batch)
        return {each: row[each] for each in ("total", "queued", *COUNTS) if row[each]} | {
            "finished_at": row["finished_at"]
        }

    def test_cancelled(self):
        """What only this batch wants and nobody fetches is removed; the rest goes on for whoever else wants it."""
        queue = build_queue()
        add(queue, ("leased", 50), ("shared", 40), ("own", 30))
        add(queue, ("shared", 40), ("other", 20), batch="second")
        leased = lease(queue)
        queue.batches.cancel("b", 9)
        assert self.counts(queue) == {"total": 3, "queued": 1, "cancelled": 2, "finished_at": None}
        assert self.counts(queue, "second") == {"total": 2, "queued": 2, "finished_at": None}
        assert [name(entry) for entry in queue.list_in_order(9)] == ["leased", "shared", "other"]
        assert queue.batches.list_ids(leased.id) == ["b"]
        queue.finish(leased, "done", 11)
        assert self.counts(queue) == {"total": 3, "done": 1, "cancelled": 2, "finished_at": 11}
        assert pop_all(queue) == ["shared", "other"]
        with pytest.raises(NotFound):
            queue.batches.cancel("nobody", 9)

    def test_cancelled_while_its_sitemaps_are_read(self):
        """Its sitemaps are not read any more, and it is over; those of another batch are."""
        queue = build_queue()
        for batch in ("b", "second"):
            queue.batches.open(batch, "manual", 0)
            queue.batches.begin_crawl(batch)
            queue.sql.run("INSERT INTO crawl (batch_id, url, depth, trigger_name) VALUES (?, 'u', 0, 'manual')", batch)
        queue.batches.cancel("b", 9)
        assert [row["batch_id"] for row in queue.sql.rows("SELECT batch_id FROM crawl")] == ["second"]
        assert (self.counts(queue)["finished_at"], self.counts(queue, "second")["finished_at"]) == (9, None)

    def test_not_finished_before_its_sitemaps_are(self):
        """While a sitemap is read there may be more pages; the end is when the last of both is over, and stays."""
        queue = build_queue()
        add(queue, ("a", 50))
        add(queue, ("b", 40), batch="second")
        queue.batches.begin_crawl("b")
        queue.finish(lease(queue), "failed", 3)
        assert self.counts(queue) == {"total": 1, "failed": 1, "finished_at": None}
        queue.batches.end_crawl("b", 5)
        queue.batches.close_if_over("b", 8)
        queue.batches.close_if_over("second", 8)
        assert (self.counts(queue)["finished_at"], self.counts(queue, "second")["finished_at"]) == (5, None)

    def test_dropped(self):
        """A batch whose last pages had no room is over; a batch that has others waits for them."""
        queue = build_queue()
        add(queue, ("a", 10), ("b", 20))
        add(queue, ("b", 20), ("c", 5), batch="second")
        add(queue, ("x", 90), ("y", 80), batch="third", at=4, depth=3)
        assert self.counts(queue) == {"total": 2, "queued": 1, "dropped": 1, "finished_at": None}
        assert self.counts(queue, "second") == {"total": 2, "queued": 1, "dropped": 1, "finished_at": None}
        add(queue, ("z", 70), batch="third", at=6, depth=3)
        assert self.counts(queue) == {"total": 2, "dropped": 2, "finished_at": 6}
        assert self.counts(queue, "second") == {"total": 2, "dropped": 2, "finished_at": 6}
        assert self.counts(queue, "third") == {"total": 3, "queued": 3, "finished_at": None}

    def test_pages_that_never_wait(self):
        """They are counted with the others, in their batch alone."""
        queue = build_queue()
        for batch in ("b", "second"):
            queue.batches.open(batch, "manual", 0)
        queue.batches.add_settled("b", "skipped", 3)
        assert self.counts(queue) == {"total": 3, "skipped": 3, "finished_at": None}
        assert self.counts(queue, "second") == {"finished_at": None}

    def test_latest_and_old(self):
        """The latest batches come first; after a week those go that have nothing in the queue."""
        queue = build_queue()
        for number in range(3):
            queue.batches.open(f"b{number}", "manual", number)
        add(queue, ("a", 10), at=0, batch="waits")
        assert [row["id"] for row in queue.batches.list_latest(2)] == ["b2", "b1"]
        queue.batches.forget_old(7 * 86_400 + 1)
        assert {row["id"] for row in queue.batches.list_latest(9)} == {"b2", "b1", "waits"}


class TestDeadLetters:
    """Pages that failed for good."""

    def build(self) -> tuple[Queue, DeadLetterQueue]:
        queue = build_queue()
        add(queue, ("a", 50), ("b", 40), ("c", 30))
        letters = DeadLetterQueue(queue.sql)
        assert not letters.may_have_any
        for failed_at in (3, 1, 2):
            letters.add(lease(queue), status=500, reason=f"status 500 at {failed_at}", now=failed_at)
        return queue, letters

    def names(self, letters: DeadLetterQueue) -> list[str]:
        return [letter["url"].removeprefix(URL) for letter in letters.list_oldest(9)]

    def test_order(self):
        """The oldest failure comes first; a page that fails again keeps its place among those that have failed for long."""
        queue, letters = self.build()
        assert (self.names(letters), letters.count) == (["b", "c", "a"], 3)
        assert [page.url.removeprefix(URL) for page in letters.take(2)] == ["b", "c"]
        assert (self.names(letters), letters.count) == (["a"], 1)
        [letter] = letters.list_oldest(9)
        assert (letter["reason"], letter["failed_at"], letter["fails_since"]) == ("status 500 at 3", 3, 3)
        [entry] = [each for each in queue.list_in_order(9) if each.url == f"{URL}a"]
        letters.add(entry, status=404, reason="status 404", now=9)
        [letter] = letters.list_oldest(9)
        assert (letter["status"], letter["reason"], letter["failed_at"], letter["fails_since"]) == (
            404,
            "status 404",
            9,
            3,
        )

    def test_chosen_letters(self):
        """Those with the ids are taken or deleted, and no others."""
        _, letters = self.build()
        ids = {letter["url"].removeprefix(URL): letter["id"] for letter in letters.list_oldest(9)}
        assert [page.url.removeprefix(URL) for page in letters.take(9, [ids["c"], 999])] == ["c"]
        assert letters.delete([ids["b"], 999]) == 1
        assert self.names(letters) == ["a"]
        assert (letters.delete(), letters.delete(), letters.count) == (1, 0, 0)

    def test_page_that_works_again(self):
        """Its letter goes, and that of no other page or variant."""
        _, letters = self.build()
        letters.remove(f"{URL}a", "mobile")
        letters.remove(f"{URL}b", "")
        assert self.names(letters) == ["c", "a"]

    def test_old_letters(self):
        """They go a week after the first failure of their page."""
        _, letters = self.build()
        letters.delete_old(7 * 86_400 + 2)
        assert self.names(letters) == ["c", "a"]
        letters.delete_old(7 * 86_400 + 4)
        assert (self.names(letters), letters.may_have_any) == ([], False)
