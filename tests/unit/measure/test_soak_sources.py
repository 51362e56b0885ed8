"""The made sources of a soak: what they say names its edition, and faults come one at a time and end."""

import json
import random

import pytest

from soak_checks import read_editions
from soak_samples import parse_errors
from soak_sources import FEED_ITEMS, KINDS, Faults, Sources


@pytest.fixture(name="sources")
def _sources() -> Sources:
    sources = Sources(Faults(random.Random(1)))
    sources.address = "127.0.0.1:1"
    return sources


def test_lists_and_pages(sources: Sources):
    """A list and a page have the edition that the load gave them; a steady list never changes."""
    sources.list_editions["alpha"] = 7
    sources.page_editions[3] = 9
    found = {path: sources.answer(path) for path in ("/lists/alpha", "/steady/alpha", "/page/3", "/nothing")}
    kind, _, text = found["/lists/alpha"] or ("", "", "")
    assert (kind, read_editions(text)) == ("lists", {"alpha": 7})
    _, _, text = found["/steady/alpha"] or ("", "", "")
    assert read_editions(text) == {"alpha": 1}
    kind, _, text = found["/page/3"] or ("", "", "")
    assert (kind, json.loads(text)) == ("site", {"page": 3, "edition": 9})
    assert found["/nothing"] is None


def test_a_feed_grows(sources: Sources):
    """It lists the newest articles first, and no more than a feed does."""
    sources.articles = FEED_ITEMS + 5
    _, _, feed = sources.answer("/feed") or ("", "", "")
    assert feed.count("<item>") == FEED_ITEMS
    assert feed.index(sources.link(FEED_ITEMS + 5)) < feed.index(sources.link(6))
    assert f"{sources.link(5)}<" not in feed
    _, _, page = sources.answer("/news/6") or ("", "", "")
    assert page.count("<p>") == 5


def test_faults_come_one_at_a_time():
    """At any moment at most one kind of source has a fault; each fault is in the windows of its kind, and ends."""
    faults = Faults(random.Random(1))
    seen = set()
    for now in range(1, 20_000):
        faults.tick(float(now))
        active = {kind: fault for kind in KINDS if (fault := faults.find(kind))}
        assert len(active) <= 1
        assert [kind for kind in KINDS if faults.windows[kind].is_open] == list(active)
        seen |= set(active.items())
    assert len(seen) == 9
    faults.end(20_000.0)
    assert not any(faults.windows[kind].is_open for kind in KINDS)
    spans = [span for kind in KINDS for span in faults.windows[kind].list_spans(30_000.0)]
    assert all(1 <= ended - began <= 25 for began, ended in spans)


def test_errors_of_the_log():
    """Only lines that were logged as errors count; a half line of a killed runtime is passed over."""
    lines = [
        "Ready on http://127.0.0.1:1",
        '{"level": "info", "event": "a"}',
        '{"level": "error", "event": "b"}',
        '{"lev',
    ]
    assert [row["event"] for row in parse_errors(lines)] == ["b"]
