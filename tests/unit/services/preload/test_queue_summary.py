"""The summary of a queue, by priority and in order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.objects import FakeStorage
from sluice.core.preload.queue_entries import WantedPage
from sluice.platform.durable_objects import Sql
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.queue.queue_summary import BANDS, MAX_NEXT, summarize_queue
from sluice.services.preload.zone.schema import create_tables

URL = "https://example.com/"


def build_queue(priorities: list[float]) -> tuple[Queue, Sql]:
    sql = Sql(FakeStorage())
    create_tables(sql)
    Batches(sql).open("b", "manual", 0)
    pages = [WantedPage(url=f"{URL}{at}", priority=each, trigger="manual") for at, each in enumerate(priorities)]
    Queue(sql, Batches(sql)).enqueue(pages, "b", now=0, max_depth=10_000)
    return Queue(sql, Batches(sql)), sql


@settings(max_examples=30)
@given(st.lists(st.sampled_from([0, 29.9, 30, 49, 50, 79, 80, 99.5, 100, 150]), max_size=40))
def test_every_page_is_in_one_band(priorities: list[float]):
    """The bands hold every page once, each where its priority belongs."""
    _, sql = build_queue(priorities)
    for band in summarize_queue(sql)["by_priority"]:
        low, high = band["from"] or 0, band["to"] or 1000
        assert band["waiting"] == sum(low <= each < high for each in priorities)
    assert sum(band["waiting"] for band in summarize_queue(sql)["by_priority"]) == len(priorities)


def test_bands():
    """From the highest down, without a gap; the first and the last are open."""
    _, sql = build_queue([])
    edges = [(band["from"], band["to"]) for band in summarize_queue(sql)["by_priority"]]
    assert edges == [(100, None), (80, 100), (50, 80), (30, 50), (None, 30)]
    assert len(edges) == len(BANDS) + 1


def test_next():
    """The next pages are those that are leased next, at most 20 of them."""
    queue, sql = build_queue([float(each) for each in range(50)])
    urls = [entry["url"] for entry in summarize_queue(sql)["next"]]
    leased = [queue.lease(0, 60) for _ in range(MAX_NEXT)]
    assert urls == [entry.url for entry in leased if entry]
    assert urls[0] not in [entry["url"] for entry in summarize_queue(sql)["next"]]
