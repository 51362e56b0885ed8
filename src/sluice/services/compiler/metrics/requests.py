"""How the service is used: requests of the last half hour by endpoint, and counters that only ever grow.

Every isolate gathers what it sees and adds it to D1 now and then; adding is one statement, so no two isolates overwrite
each other. Nothing here can fail a request.
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
# When a flush that was due has not come, its request has been ended by the platform, and another one takes over.
_FLUSH_LOST_S: Final = 30.0
MAX_ERROR_CHARS: Final = 200
MAX_ERRORS: Final = 20  # distinct texts of one endpoint and window
MAX_CELLS: Final = 200  # kept while D1 cannot be reached; what is new beyond them is not counted
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
class Cell:
    """Requests of one endpoint in one window."""

    success: int = 0
    failed: int = 0
    duration_ms: float = 0.0
    errors: dict[str, int] = field(default_factory=dict)

    def add(self, other: "Cell") -> None:
        self.success += other.success
        self.failed += other.failed
        self.duration_ms += other.duration_ms
        for text, count in other.errors.items():
            known = text if text in self.errors or len(self.errors) < MAX_ERRORS else OTHER_ERRORS
            self.errors[known] = self.errors.get(known, 0) + count


@dataclass(slots=True)
class Gathered:
    """What an isolate has seen and not yet stored; one for all its requests."""

    cells: dict[tuple[int, str], Cell] = field(default_factory=dict)
    counters: dict[tuple[str, str], float] = field(default_factory=dict)
    flush_due_at: float | None = None

    def add_request(self, window_s: int, endpoint: str, cell: Cell) -> None:
        if (window_s, endpoint) in self.cells or len(self.cells) < MAX_CELLS:
            self.cells.setdefault((window_s, endpoint), Cell()).add(cell)

    def add_count(self, name: str, labels: str, value: float) -> None:
        if (name, labels) in self.counters or len(self.counters) < MAX_CELLS:
            self.counters[name, labels] = self.counters.get((name, labels), 0) + value

    def taken(self) -> "Gathered":
        """All of it, leaving nothing behind."""
        taken = Gathered(self.cells, self.counters)
        self.cells, self.counters = {}, {}
        return taken

    def put_back(self, taken: "Gathered") -> None:
        for (window_s, endpoint), cell in taken.cells.items():
            self.add_request(window_s, endpoint, cell)
        for (name, labels), value in taken.counters.items():
            self.add_count(name, labels, value)


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestMetrics:
    database: Database
    clock: Clock
    gathered: Gathered
    background: Background
    analytics: Analytics
    log: Log

    def measured(self, endpoint: str, handler: Handler) -> Handler:
        """The handler, with each of its requests counted under the endpoint's name."""

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
        """One request that began then and ended now; `error` counts from status 400 on."""
        now = self.clock.now()
        duration_ms = max(0.0, (now - began_s) * 1000)
        good = status < 400
        text = error[:MAX_ERROR_CHARS]
        cell = Cell(int(good), int(not good), duration_ms, {} if good else {text: 1})
        self.gathered.add_request(int(now // WINDOW_S) * WINDOW_S, endpoint, cell)
        self.add("requests", endpoint, "success" if good else "error")
        self.add("request_duration_seconds", endpoint, value=duration_ms / 1000)
        self.analytics.write(
            "api_request", blobs=(endpoint, "" if good else text), doubles=(duration_ms, status, float(good))
        )

    def count(self, name: str, label: str) -> None:
        """Add one to a counter that has one label."""
        self.add(name, label)

    def add(self, name: str, *labels: str, value: float = 1) -> None:
        self.gathered.add_count(name, encode_json(list(labels)), value)
        self._schedule()

    async def flush(self) -> None:
        """Store what was gathered; what cannot be stored is kept for the next time."""
        taken = self.gathered.taken()
        if not taken.cells and not taken.counters:
            return
        try:
            await self.database.batch(self._statements(taken))
        except Exception as error:  # noqa: BLE001 - metrics are not worth a failed request
            self.gathered.put_back(taken)
            self._log_lost(error)

    async def endpoints(self) -> dict[str, dict[str, Any]]:
        """The last half hour by endpoint, this isolate's newest requests included."""
        await self.flush()
        since = self._oldest()
        used = await self.database.all(
            "select endpoint, sum(success) as success, sum(failed) as failed, sum(duration_ms) as duration_ms"
            " from request_windows where window_s >= ? group by endpoint order by endpoint",
            since,
        )
        failed = await self.database.all(
            "select endpoint, error, sum(count) as count from request_errors where window_s >= ?"
            " group by endpoint, error order by error = ?, count desc, error",
            since,
            OTHER_ERRORS,
        )
        return {str(row["endpoint"]): _summary(row, failed) for row in used}

    async def counters(self) -> list[dict[str, Any]]:
        """Every counter as {name, labels, value}, this isolate's newest included."""
        await self.flush()
        return await self.database.all("select name, labels, value from counters order by name, labels")

    def _schedule(self) -> None:
        """One flush a few seconds from now, whoever comes in between."""
        due = self.gathered.flush_due_at
        now = self.clock.now()
        if due is None or now > due + _FLUSH_LOST_S:
            self.gathered.flush_due_at = now + FLUSH_AFTER_S
            self._begin(self._flush_later())

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            self.background(work)
        except Exception as error:  # noqa: BLE001 - metrics are not worth a failed request
            work.close()
            self._log_lost(error)

    async def _flush_later(self) -> None:
        try:
            await self.clock.sleep(FLUSH_AFTER_S)
            await self.flush()
        finally:
            self.gathered.flush_due_at = None

    def _statements(self, taken: Gathered) -> list[tuple[str, tuple[object, ...]]]:
        requests = [[*key, cell.success, cell.failed, cell.duration_ms] for key, cell in taken.cells.items()]
        errors = [[*key, text, n] for key, cell in taken.cells.items() for text, n in cell.errors.items()]
        counters = [[*key, value] for key, value in taken.counters.items()]
        oldest = self._oldest()
        return [
            (_ADD_REQUESTS, (encode_json(requests),)),
            (_ADD_ERRORS, (encode_json(errors),)),
            (_ADD_COUNTERS, (encode_json(counters),)),
            ("delete from request_windows where window_s < ?", (oldest,)),
            ("delete from request_errors where window_s < ?", (oldest,)),
        ]

    def _oldest(self) -> int:
        """The first window that still counts; the current one is the last."""
        return int(self.clock.now() // WINDOW_S - (WINDOWS - 1)) * WINDOW_S

    def _log_lost(self, error: Exception) -> None:
        self.log.event("metrics.kept_back", reason=str(error))


def _summary(row: Mapping[str, Any], failures: list[dict[str, Any]]) -> dict[str, Any]:
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
