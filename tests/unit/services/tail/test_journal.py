"""What is kept, and in which order it is read back."""

import json
from collections.abc import Iterable

import pytest

from sluice.services.tail.events import MAX_LOGS, MAX_TEXT_CHARS, Event, Failure, LogLine, as_json
from sluice.services.tail.journal import Journal


class SortedStore:
    """Keys in ascending order, as KV lists them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.lifetimes: list[int | None] = []

    async def put_json(self, key: str, value: object, *, ttl_s: int | None = None) -> None:
        self.texts[key] = json.dumps(value)
        self.lifetimes.append(ttl_s)

    async def names(self, prefix: str, *, limit: int) -> list[str]:
        return sorted(key for key in self.texts if key.startswith(prefix))[:limit]

    async def get_many(self, keys: Iterable[str]) -> dict[str, str | None]:
        return {key: self.texts.get(key) for key in keys}


def event(outcome: str = "ok", *, at: int = 1, levels: tuple[str, ...] = (), fails: bool = False) -> Event:
    return Event(
        timestamp=at,
        script="worker",
        outcome=outcome,
        url="https://example.com/a",
        method="GET",
        logs=tuple(LogLine(level=level, message="m", timestamp=at) for level in levels),
        exceptions=(Failure(name="ValueError", message="m", timestamp=at),) if fails else (),
    )


@pytest.mark.parametrize(
    ("given", "failed", "silent"),
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
def test_what_matters(given: Event, failed: bool, silent: bool):
    """An event fails by its outcome, an exception or an error line; only a wordless success is not worth keeping."""
    assert (given.failed, given.silent) == (failed, silent)


async def test_newest_first():
    """Records come back newest first, across batches written in the same millisecond and later ones."""
    store = SortedStore()
    journal = Journal(store=store, retention_s=60)
    await journal.keep([event(at=1, levels=("log",)), event(at=2, levels=("log",))], now_ms=1_000, unique="a")
    await journal.keep([event(at=3, levels=("log",))], now_ms=2_000, unique="a")
    assert [record["timestamp"] for record in await journal.latest(10)] == [3, 2, 1]
    assert [record["timestamp"] for record in await journal.latest(2)] == [3, 2]
    assert store.lifetimes == [60, 60]


async def test_same_millisecond():
    """Two batches of the same millisecond do not overwrite each other."""
    journal = Journal(store=SortedStore(), retention_s=60)
    await journal.keep([event(at=1, levels=("log",))], now_ms=5, unique="a")
    await journal.keep([event(at=2, levels=("log",))], now_ms=5, unique="b")
    assert len(await journal.latest(10)) == 2


async def test_silence_costs_nothing():
    """A batch of wordless successes is not written."""
    store = SortedStore()
    assert await Journal(store=store, retention_s=60).keep([event(), event()], now_ms=1, unique="a") == []
    assert store.texts == {}


def test_bounded():
    """However much a Worker logs, a record stays small, and says what was left out."""
    lines = tuple(LogLine(level="log", message="x" * 10_000, timestamp=1) for _ in range(1_000))
    record = as_json(Event(timestamp=1, script="w", outcome="ok", logs=lines))
    assert len(record["logs"]) == MAX_LOGS
    assert record["logs"][0]["message"].endswith("(6000 characters more)")
    assert len(record["logs"][0]["message"]) < MAX_TEXT_CHARS + 50
