"""Which events are stored, and in which order they are returned."""

import pytest

from fakes.clock import ManualClock
from fakes.kv import FakeKV
from sluice.platform.storage.kv import KV
from sluice.services.tail.journal import Journal
from sluice.services.tail.tail_events import MAX_LOGS, MAX_TEXT_CHARS, LogEntry, TailEvent, UncaughtException


@pytest.fixture(name="kv")
def _kv() -> FakeKV:
    return FakeKV(ManualClock())


def make_journal(kv: FakeKV, *, stores_successes: bool = True) -> Journal:
    return Journal(kv=KV(kv, ManualClock()), retention_s=60, stores_successes=stores_successes)


def event(outcome: str = "ok", *, at: int = 1, levels: tuple[str, ...] = (), fails: bool = False) -> TailEvent:
    return TailEvent(
        timestamp=at,
        script="worker",
        outcome=outcome,
        url="https://example.com/a",
        method="GET",
        logs=tuple(LogEntry(level=level, message="m", timestamp=at) for level in levels),
        exceptions=(UncaughtException(name="ValueError", message="m", timestamp=at),) if fails else (),
    )


@pytest.mark.parametrize(
    ("tail_event", "is_failure", "is_silent"),
    [
        (event(), False, True),
        (event("canceled"), False, True),
        (event(levels=("log",)), False, False),
        (event(levels=("log", "error")), True, False),
        (event("exception"), True, False),
        (event("exceededCpu"), True, False),
        (event(fails=True), True, False),
    ],
)
def test_failures_and_silence(tail_event: TailEvent, is_failure: bool, is_silent: bool):
    """An event fails by its outcome, an exception or an error line; only a success without logs is silent."""
    assert (tail_event.is_failure, tail_event.is_silent) == (is_failure, is_silent)


async def test_newest_first(kv: FakeKV):
    """Records come back newest first, across batches written in the same millisecond and later ones."""
    journal = make_journal(kv)
    await journal.store_events([event(at=1, levels=("log",)), event(at=2, levels=("log",))], now_ms=1_000, unique="a")
    await journal.store_events([event(at=3, levels=("log",))], now_ms=2_000, unique="a")
    assert [record["timestamp"] for record in await journal.newest_records(10)] == [3, 2, 1]
    assert [record["timestamp"] for record in await journal.newest_records(2)] == [3, 2]
    for [(written_at, entry)] in kv._history.values():
        assert entry is not None
        assert entry.expires_at == pytest.approx(written_at + 60)


async def test_same_millisecond(kv: FakeKV):
    """Two batches of the same millisecond do not overwrite each other."""
    journal = make_journal(kv)
    await journal.store_events([event(at=1, levels=("log",))], now_ms=5, unique="a")
    await journal.store_events([event(at=2, levels=("log",))], now_ms=5, unique="b")
    assert len(await journal.newest_records(10)) == 2


async def test_silent_events_cost_nothing(kv: FakeKV):
    """A batch of silent events is not written."""
    assert await make_journal(kv).store_events([event(), event()], now_ms=1, unique="a") == []
    assert kv.operations == []


async def test_successes_are_left_to_the_platform(kv: FakeKV):
    """Unless asked for, what succeeded is not written, because every visit would be a write."""
    journal = make_journal(kv, stores_successes=False)
    assert await journal.store_events([event(levels=("log",))], now_ms=1, unique="a") == []
    assert kv.operations == []
    both = [event(levels=("log",)), event("exception", at=2)]
    assert [record["timestamp"] for record in await journal.store_events(both, now_ms=1, unique="a")] == [2]


def test_bounded():
    """However much a Worker logs, a record stays small and says what was left out."""
    lines = tuple(LogEntry(level="log", message="x" * 10_000, timestamp=1) for _ in range(1_000))
    record = TailEvent(timestamp=1, script="w", outcome="ok", logs=lines).as_json()
    assert len(record["logs"]) == MAX_LOGS
    assert record["logs"][0]["message"].endswith("(6000 characters more)")
    assert len(record["logs"][0]["message"]) < MAX_TEXT_CHARS + 50


def test_messages_cannot_steer_a_terminal():
    """A message is text for whoever reads it with curl or in an alert; the lines of a traceback stay lines."""
    line = LogEntry(level="log", message="one\n\x1b[2Jtwo\u202e", timestamp=1)
    record = TailEvent(timestamp=1, script="w", outcome="ok", logs=(line,)).as_json()
    assert record["logs"][0]["message"] == r"one" + "\n" + r"\u001b[2Jtwo\u202e"
