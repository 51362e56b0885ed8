"""The SQL queue against the rules of the core: on the same operations both find the same entries in the same order."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.objects import FakeStorage
from sluice.core.preload.queue_entries import LEASED, READY, WAITING, QueueEntry, WantedPage, merge_request, order_key
from sluice.platform.durable_objects import Sql
from sluice.services.preload.queue.batches import Batches
from sluice.services.preload.queue.queue import Queue
from sluice.services.preload.zone.schema import create_tables

MAX_DEPTH = 5
URLS = [f"https://example.com/{n}" for n in range(8)]


@dataclass
class ModelQueue:
    """The queue as the core describes it, in plain Python."""

    entries: dict[str, QueueEntry] = field(default_factory=dict)
    last_id: int = 0

    def enqueue(self, wanted: WantedPage, now: float) -> None:
        entry = self.entries.get(wanted.url)
        if entry is None:
            self.last_id += 1
            entry = QueueEntry(
                id=self.last_id,
                url=wanted.url,
                variant="",
                priority=wanted.priority,
                enqueued_at=now,
                trigger=wanted.trigger,
                post_id=wanted.post_id,
                attempt=0,
                hops=0,
                first_failed_at=None,
            )
            self.entries[wanted.url] = entry
        else:
            self.entries[wanted.url] = merge_request(entry, wanted)
        droppable = sorted((each for each in self.entries.values() if each.state != LEASED), key=order_key)
        for dropped in droppable[::-1][: max(0, len(self.entries) - MAX_DEPTH)]:
            del self.entries[dropped.url]

    def lease(self) -> QueueEntry | None:
        ready = [entry for entry in self.entries.values() if entry.state == READY]
        if not ready:
            return None
        entry = min(ready, key=order_key)
        self.entries[entry.url] = replace(entry, state=LEASED, lease=entry.lease + 1)
        return self.entries[entry.url]

    def finish(self, entry: QueueEntry, now: float) -> None:
        current = self.entries[entry.url]
        if current.wanted_again:
            self.entries[entry.url] = replace(current, state=READY, wanted_again=False, attempt=0, enqueued_at=now)
        else:
            del self.entries[entry.url]

    def retry(self, entry: QueueEntry, now: float) -> None:
        current = self.entries[entry.url]
        first = now if current.first_failed_at is None else current.first_failed_at
        self.entries[entry.url] = replace(
            current, state=WAITING, attempt=current.attempt + 1, wanted_again=False, first_failed_at=first
        )

    def list_in_order(self) -> list[QueueEntry]:
        return sorted(self.entries.values(), key=order_key)


Step = Literal["lease", "finish", "retry", "release"]
wanted_pages = st.builds(
    WantedPage,
    url=st.sampled_from(URLS),
    priority=st.sampled_from([0.0, 10.0, 50.0, 99.5]),
    trigger=st.just("manual"),
    post_id=st.sampled_from([None, 1, 2]),
)
steps: st.SearchStrategy[Step] = st.sampled_from(["lease", "finish", "retry", "release"])


def without_ids(entries: Sequence[QueueEntry | None]) -> list[QueueEntry | None]:
    """Return the entries without ids: SQL leaves gaps between them, the model does not; both grow."""
    return [entry and replace(entry, id=0) for entry in entries]


@settings(max_examples=60)
@given(st.lists(wanted_pages | steps, max_size=40))
def test_same_order(operations: list[WantedPage | Step]):
    """Whatever is enqueued, leased, finished and delayed, every entry is the same and leases come in the same order."""
    sql = Sql(FakeStorage())
    create_tables(sql)
    queue = Queue(sql, Batches(sql))
    model, held = ModelQueue(), list[QueueEntry]()
    for number, operation in enumerate(operations):
        now = number // 4  # several entries come at the same time
        match operation:
            case WantedPage():
                queue.batches.open(str(number), "manual", now)
                queue.enqueue([operation], str(number), now=now, max_depth=MAX_DEPTH)
                model.enqueue(operation, now)
            case "lease":
                entry, expected = queue.lease(now, 60), model.lease()
                assert without_ids([entry]) == without_ids([expected])
                held += [entry] if entry else []
            case "finish" if held:
                queue.finish(held[0], "done", now)
                model.finish(held.pop(0), now)
            case "retry" if held:
                queue.retry(held[0], now, now)
                model.retry(held.pop(0), now)
            case "release":
                queue.release_due_retries(now)
                for url, each in model.entries.items():
                    model.entries[url] = replace(each, state=READY if each.state == WAITING else each.state)
        assert without_ids(queue.list_in_order(100)) == without_ids(model.list_in_order())
