"""Request metrics: requests of the last half hour by endpoint, and counters that only grow.

Every isolate collects its own numbers and adds them to D1 every few seconds. Adding is one statement, so isolates do not
overwrite each other. Nothing here can fail a request.
"""

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from sluice.core.errors import SluiceError
from sluice.core.ports import Clock, Database, Log
from sluice.services.compiler.ports import Analytics
from sluice.web import Handler, Reply, Request, encode_json

WINDOW_S: Final = 300
WINDOWS: Final = 6
FLUSH_AFTER_S: Final = 5.0
# If a flush is this late, the platform has ended its request, and another request schedules a new flush.
_FLUSH_LOST_S: Final = 30.0
MAX_ERROR_CHARS: Final = 200
MAX_ERRORS: Final = 20  # distinct texts for one endpoint and window
MAX_PENDING: Final = 200  # entries held while D1 cannot be reached; further ones are not counted
OTHER_ERRORS: Final = "other errors"

_ADD_REQUESTS: Final = """
insert into request_windows (window_s, endpoint, success, failed, duration_ms)
select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4 from json_each(?) where true
on conflict do update set
    success = success + excluded.success,
    failed = failed + excluded.failed,
    duration_ms = duration_ms + excluded.duration_ms
"""
_ADD_ERRORS: Final = """
insert into request_errors (window_s, endpoint, error, count)
select value ->> 0, value ->> 1, value ->> 2, value ->> 3 from json_each(?) where true
on conflict do update set count = count + excluded.count
"""
_ADD_COUNTERS: Final = """
insert into counters (name, labels, value)
select value ->> 0, value ->> 1, value ->> 2 from json_each(?) where true
on conflict do update set value = value + excluded.value
"""

Background = Callable[[Coroutine[Any, Any, None]], None]


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
        """Returns everything and keeps nothing."""
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
        """Returns a handler that counts each request under the name of the endpoint."""

        async def handle(request: Request) -> Reply:
            began_s = self.clock.now()
            try:
                reply = await handler(request)
            except SluiceError as error:
                self.record(endpoint, began_s, error.status, str(error))
                raise
            except Exception:
                self.record(endpoint, began_s, 500, "internal error")
                raise
            self.record(endpoint, began_s, reply.status, f"status {reply.status}")
            return reply

        return handle

    def record(self, endpoint: str, began_s: float, status: int, error: str) -> None:
        """Counts one request that began at `began_s` and ends now; `error` is used from status 400 on."""
        now = self.clock.now()
        duration_ms = max(0.0, (now - began_s) * 1000)
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
        """Adds one to a counter that has one label."""
        self.add(name, label)

    def add(self, name: str, *labels: str, value: float = 1) -> None:
        self.pending.add_count(name, encode_json(list(labels)), value)
        self._schedule_flush()

    async def flush(self) -> None:
        """Stores the pending metrics; if that fails, they stay pending."""
        pending = self.pending.take_all()
        if not pending.endpoints and not pending.counters:
            return
        try:
            await self.database.batch(self._statements(pending))
        except Exception as error:  # noqa: BLE001 - metrics are not worth a failed request
            self.pending.put_back(pending)
            self._log_failure(error)

    async def load_endpoints(self) -> dict[str, dict[str, Any]]:
        """Returns the last half hour by endpoint, including the newest requests of this isolate."""
        await self.flush()
        since = self._oldest_window()
        usage = await self.database.all(
            "select endpoint, sum(success) as success, sum(failed) as failed, sum(duration_ms) as duration_ms"
            " from request_windows where window_s >= ? group by endpoint order by endpoint",
            since,
        )
        failures = await self.database.all(
            "select endpoint, error, sum(count) as count from request_errors where window_s >= ?"
            " group by endpoint, error order by error = ?, count desc, error",
            since,
            OTHER_ERRORS,
        )
        return {str(row["endpoint"]): _summarize(row, failures) for row in usage}

    async def load_counters(self) -> list[dict[str, Any]]:
        """Returns every counter as {name, labels, value}, including the newest counts of this isolate."""
        await self.flush()
        return await self.database.all("select name, labels, value from counters order by name, labels")

    def _schedule_flush(self) -> None:
        """Schedules one flush a few seconds from now, unless one is scheduled."""
        due = self.pending.flush_due_at
        now = self.clock.now()
        if due is None or now > due + _FLUSH_LOST_S:
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

    def _statements(self, pending: PendingMetrics) -> list[tuple[str, tuple[object, ...]]]:
        requests = [
            [*key, counts.success, counts.failed, counts.duration_ms] for key, counts in pending.endpoints.items()
        ]
        errors = [[*key, text, n] for key, counts in pending.endpoints.items() for text, n in counts.errors.items()]
        counters = [[*key, value] for key, value in pending.counters.items()]
        oldest = self._oldest_window()
        return [
            (_ADD_REQUESTS, (encode_json(requests),)),
            (_ADD_ERRORS, (encode_json(errors),)),
            (_ADD_COUNTERS, (encode_json(counters),)),
            ("delete from request_windows where window_s < ?", (oldest,)),
            ("delete from request_errors where window_s < ?", (oldest,)),
        ]

    def _oldest_window(self) -> int:
        """Returns the first window that still counts; the current one is the last."""
        return int(self.clock.now() // WINDOW_S - (WINDOWS - 1)) * WINDOW_S

    def _log_failure(self, error: Exception) -> None:
        self.log.event("metrics.kept_back", reason=str(error))


def _summarize(row: Mapping[str, Any], failures: list[dict[str, Any]]) -> dict[str, Any]:
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
