"""Request metrics: requests of the last half hour by endpoint, and counters that only grow.

Every isolate collects its own numbers and stores them in D1 every few seconds, as one row. Readers add the rows up. Nothing
here can fail a request.
"""

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Annotated, Any, Final, TypedDict

from sluice.core.compiler.stage_metrics import Amount, Duration
from sluice.core.doc import Doc
from sluice.core.errors import SluiceError, TooManyRequests
from sluice.core.ports import Clock, Database, DatabaseRow, Log
from sluice.core.timestamps import elapsed_ms
from sluice.core.waits import is_waiting
from sluice.services.compiler.ports import Analytics
from sluice.web import Handler, Reply, Request, encode_json

WINDOW_S: Final = 300
WINDOWS: Final = 6
FLUSH_AFTER_S: Final = 10.0
# If a flush is this late, the platform has ended its request, and another request schedules a new flush.
_FLUSH_LOST_S: Final = 30.0
MAX_ERROR_CHARS: Final = 200
MAX_ERRORS: Final = 20  # distinct texts for one endpoint and window
MAX_PENDING: Final = 200  # entries held while D1 cannot be reached; further ones are not counted
OTHER_ERRORS: Final = "other errors"

_STORE: Final = "insert into metric_flushes (at_s, endpoints, counts) values (?, ?, ?)"
_ENDPOINTS: Final = """
select used.value ->> 1 as endpoint, sum(used.value ->> 2) as success, sum(used.value ->> 3) as failed,
    sum(used.value ->> 4) as duration_ms
from metric_flushes, json_each(endpoints) as used
where at_s >= ?1 and used.value ->> 0 >= ?1 group by 1 order by 1
"""
_ERRORS: Final = """
select used.value ->> 1 as endpoint, failure.key as error, sum(failure.value) as count
from metric_flushes, json_each(endpoints) as used, json_each(used.value, '$[5]') as failure
where at_s >= ?1 and used.value ->> 0 >= ?1 group by 1, 2 order by error = ?2, count desc, error
"""
_STORED_COUNTS: Final = """
select counted.value ->> 0 as name, counted.value ->> 1 as labels, counted.value ->> 2 as value
from metric_flushes, json_each(counts) as counted
"""
# Every counter, with what is not added to its row yet.
ALL_COUNTERS: Final = f"""
select name, labels, sum(value) as value from (select name, labels, value from counters union all {_STORED_COUNTS})
group by name, labels order by name, labels
"""  # noqa: S608 - only constants
_FOLD: Final = f"""
insert into counters (name, labels, value)
select name, labels, sum(value) from ({_STORED_COUNTS} where at_s < ?) where true group by name, labels
on conflict do update set value = value + excluded.value
"""  # noqa: S608 - only constants

# Counts a request by its endpoint, when it began, its status and the kind of its error.
RecordRequest = Callable[[str, float, int, str], None]
Background = Callable[[Coroutine[Any, Any, None]], None]


class EndpointMetrics(TypedDict):
    count: Amount
    success: Amount
    failed: Amount
    avgDuration: Duration
    errors: Annotated[dict[str, int], Doc("How often each error occurred.")]


class Counter(TypedDict):
    """The value of a counter; `labels` is a JSON array of texts."""

    name: str
    labels: str
    value: float


@dataclass(slots=True)
class EndpointCounts:
    """The requests of one endpoint in one window."""

    success: int = 0
    failed: int = 0
    duration_ms: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)

    def add(self, other: "EndpointCounts") -> None:
        self.success += other.success
        self.failed += other.failed
        self.duration_ms += other.duration_ms
        for text, count in other.errors.items():
            known = text if text in self.errors or len(self.errors) < MAX_ERRORS else OTHER_ERRORS
            self.errors[known] = self.errors.get(known, 0) + count


@dataclass(slots=True)
class PendingMetrics:
    """What an isolate has counted and not stored yet; one for all its requests."""

    endpoints: dict[tuple[int, str], EndpointCounts] = field(default_factory=dict)
    counters: dict[tuple[str, str], float] = field(default_factory=dict)
    flush_due_at: float | None = None

    def add_request(self, window_s: int, endpoint: str, counts: EndpointCounts) -> None:
        if (window_s, endpoint) in self.endpoints or len(self.endpoints) < MAX_PENDING:
            self.endpoints.setdefault((window_s, endpoint), EndpointCounts()).add(counts)

    def add_count(self, name: str, labels: str, value: float) -> None:
        if (name, labels) in self.counters or len(self.counters) < MAX_PENDING:
            self.counters[name, labels] = self.counters.get((name, labels), 0) + value

    def take_all(self) -> "PendingMetrics":
        """Return everything, and keep nothing."""
        pending = PendingMetrics(self.endpoints, self.counters)
        self.endpoints, self.counters = {}, {}
        return pending

    def put_back(self, pending: "PendingMetrics") -> None:
        for (window_s, endpoint), counts in pending.endpoints.items():
            self.add_request(window_s, endpoint, counts)
        for (name, labels), value in pending.counters.items():
            self.add_count(name, labels, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestMetrics:
    database: Database
    clock: Clock
    pending: PendingMetrics
    background: Background
    analytics: Analytics
    log: Log

    def measure(self, endpoint: str, handler: Handler) -> Handler:
        """Return a handler that counts each request under the name of the endpoint."""

        async def handle(request: Request) -> Reply:
            began_s = self.clock.now()
            try:
                reply = await handler(request)
            except SluiceError as error:
                self.record(endpoint, began_s, error.status, describe_error(error))
                raise
            except Exception:
                self.record(endpoint, began_s, 500, "internal error")
                raise
            if isinstance(reply.body, AsyncIterable):
                return replace(reply, body=self._record_at_end(endpoint, began_s, reply.status, reply.body))
            self.record(endpoint, began_s, reply.status, f"status {reply.status}")
            return reply

        return handle

    async def _record_at_end(
        self, endpoint: str, began_s: float, status: int, chunks: AsyncIterable[bytes]
    ) -> AsyncIterator[bytes]:
        """Count a reply that is sent in chunks when its last chunk is sent."""
        try:
            async for chunk in chunks:
                yield chunk
        except Exception:
            self.record(endpoint, began_s, 500, "internal error")
            raise
        finally:
            if isinstance(chunks, AsyncGenerator):
                await chunks.aclose()
        self.record(endpoint, began_s, status, f"status {status}")

    def record(self, endpoint: str, began_s: float, status: int, error: str) -> None:
        """Count one request that began at `began_s` and ends now; `error` is used from status 400 on."""
        now = self.clock.now()
        duration_ms = elapsed_ms(began_s, now)
        is_success = status < 400
        text = error[:MAX_ERROR_CHARS]
        counts = EndpointCounts(int(is_success), int(not is_success), duration_ms, {} if is_success else {text: 1})
        self.pending.add_request(int(now // WINDOW_S) * WINDOW_S, endpoint, counts)
        self.add("requests", endpoint, "success" if is_success else "error")
        self.add("request_duration_seconds", endpoint, value=duration_ms / 1000)
        self.analytics.write(
            "api_request",
            blobs=(endpoint, "" if is_success else text),
            doubles=(duration_ms, status, float(is_success)),
        )

    def count(self, name: str, label: str) -> None:
        """Add one to a counter that has one label."""
        self.add(name, label)

    def add(self, name: str, *labels: str, value: float = 1) -> None:
        self.pending.add_count(name, _encode_labels(labels), value)
        self._schedule_flush()

    async def flush(self) -> None:
        """Store the pending metrics; if that fails, they stay pending."""
        pending = self.pending.take_all()
        if not pending.endpoints and not pending.counters:
            return
        try:
            await self._store(pending)
        except Exception as error:  # noqa: BLE001 - metrics are not worth a failed request
            self.pending.put_back(pending)
            self._log_failure(error)

    async def load_endpoints(self) -> dict[str, EndpointMetrics]:
        """Return the last half hour by endpoint, including the newest requests of this isolate."""
        await self.flush()
        since = self._oldest_window()
        usage = await self.database.all(_ENDPOINTS, since)
        failures = await self.database.all(_ERRORS, since, OTHER_ERRORS)
        return {str(row["endpoint"]): _summarize(row, failures) for row in usage}

    async def load_counters(self) -> list[Counter]:
        """Return every counter, including the newest counts of this isolate."""
        await self.flush()
        rows = await self.database.all(ALL_COUNTERS)
        return [{"name": row["name"], "labels": row["labels"], "value": row["value"]} for row in rows]

    async def delete_expired(self) -> None:
        """Add the counts of old rows to the counters, and delete the rows, in one transaction."""
        before_s = self._oldest_window()
        await self.database.batch([(_FOLD, (before_s,)), ("delete from metric_flushes where at_s < ?", (before_s,))])

    def _schedule_flush(self) -> None:
        """Schedule one flush a few seconds from now, unless one is scheduled."""
        due = self.pending.flush_due_at
        now = self.clock.now()
        if due is None or not is_waiting(due + _FLUSH_LOST_S, now, FLUSH_AFTER_S + _FLUSH_LOST_S):
            self.pending.flush_due_at = now + FLUSH_AFTER_S
            self._start_background(self._flush_later())

    def _start_background(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            self.background(work)
        except Exception as error:  # noqa: BLE001 - metrics are not worth a failed request
            work.close()
            self._log_failure(error)

    async def _flush_later(self) -> None:
        try:
            await self.clock.sleep(FLUSH_AFTER_S)
            await self.flush()
        finally:
            self.pending.flush_due_at = None

    async def _store(self, pending: PendingMetrics) -> None:
        endpoints = [
            [*key, counts.success, counts.failed, counts.duration_ms, counts.errors]
            for key, counts in pending.endpoints.items()
        ]
        counters = [[*key, value] for key, value in pending.counters.items()]
        await self.database.run(_STORE, int(self.clock.now()), encode_json(endpoints), encode_json(counters))

    def _oldest_window(self) -> int:
        """Return the first window that still counts; the current one is the last."""
        return int(self.clock.now() // WINDOW_S - (WINDOWS - 1)) * WINDOW_S

    def _log_failure(self, error: Exception) -> None:
        self.log.event("metrics.kept_back", reason=str(error))


def describe_error(error: SluiceError) -> str:
    """Return what everybody may read of an error: its text may hold the sources of a caller."""
    return str(error) if isinstance(error, TooManyRequests) else error.title


@lru_cache(maxsize=256)
def _encode_labels(labels: tuple[str, ...]) -> str:
    return encode_json(labels)


def _summarize(row: DatabaseRow, failures: Sequence[DatabaseRow]) -> EndpointMetrics:
    count = row["success"] + row["failed"]
    errors: dict[str, int] = {}
    for failure in failures:
        if failure["endpoint"] == row["endpoint"]:
            text = failure["error"] if len(errors) < MAX_ERRORS else OTHER_ERRORS
            errors[text] = errors.get(text, 0) + failure["count"]
    return {
        "count": count,
        "success": row["success"],
        "failed": row["failed"],
        "avgDuration": round(row["duration_ms"] / count),
        "errors": errors,
    }
