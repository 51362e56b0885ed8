"""Metrics of the service, which never fail a request."""

from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from sluice.core.errors import Invalid, TooManyRequests, Unavailable
from sluice.core.timestamps import iso
from sluice.core.variables import Variables
from sluice.platform.storage.d1 import D1
from sluice.services.compiler.cache.list_cache import cache_key
from sluice.services.compiler.http.metrics import MetricsApi, serve_turnstile
from sluice.services.compiler.metrics.gauges import Gauge, Gauges
from sluice.services.compiler.metrics.prometheus import METRICS, format_counters
from sluice.services.compiler.metrics.request_metrics import (
    FLUSH_AFTER_S,
    MAX_ERROR_CHARS,
    MAX_ERRORS,
    MAX_PENDING,
    OTHER_ERRORS,
    Counter,
    PendingMetrics,
    RequestMetrics,
)
from sluice.services.compiler.settings import Settings
from sluice.services.compiler.workflows.defaults import warm_configurations
from sluice.web import App, Reply, Request, Route
from unit.services.compiler.listeners import ListAnalytics, ListLog
from unit.services.metric_rules import find_violations
from unit.web.calls import content, get, parsed

MIGRATIONS = sorted((Path(__file__).parents[4] / "migrations").glob("*.sql"))


def ignore_error(_error: Exception, _request: Request) -> None:
    """Ignore the errors that the App reports."""


async def _no_gauges() -> list[Gauge]:
    return []


class Isolate:
    """One isolate of the Worker; several may share a database."""

    def __init__(self, clock: ManualClock, binding: FakeD1 | None = None) -> None:
        if binding is None:
            binding = FakeD1()
            for path in MIGRATIONS:
                binding.migrate(path.read_text())
        self.clock, self.binding = clock, binding
        self.pending, self.log, self.analytics = PendingMetrics(), ListLog(), ListAnalytics()
        self.later: list[Coroutine[Any, Any, None]] = []
        self.gauged = False
        self.metrics = RequestMetrics(
            database=D1(binding),
            clock=clock,
            pending=self.pending,
            background=self.later.append,
            analytics=self.analytics,
            log=self.log,
        )

    async def serve(self, endpoint: str, outcome: Reply | Exception, *, took_s: float = 0.0) -> None:
        async def handler(_request: Request) -> Reply:
            self.clock.advance(took_s)
            if isinstance(outcome, Exception):
                raise outcome
            return outcome

        measured = self.metrics.measure(endpoint, handler)
        if isinstance(outcome, Exception):
            with pytest.raises(type(outcome)):
                await measured(get(endpoint))
        else:
            assert await measured(get(endpoint)) is outcome

    async def run_later(self) -> None:
        while self.later:
            await self.later.pop(0)

    def abandon(self) -> None:
        """The platform ends the request whose task was to flush."""
        for work in self.later:
            work.close()
        self.later.clear()

    async def page(self, path: str) -> Reply:
        gauges = Gauges(database=self.metrics.database, clock=self.clock, configurations=warm_configurations)
        api = MetricsApi(metrics=self.metrics, load_gauges=gauges.load if self.gauged else _no_gauges, clock=self.clock)
        routes = [Route("GET", "/metrics", api.show_metrics), Route("GET", "/metrics/prometheus", api.show_prometheus)]
        return await App(routes, on_error=ignore_error).handle(get(path))


async def test_metrics():
    """The last half hour by endpoint: counts, average duration and errors by their text."""
    isolate = Isolate(ManualClock(1_800_000_000.0))
    await isolate.serve("/compile", Reply.json({}), took_s=0.2)
    await isolate.serve("/compile", Reply.json({}), took_s=0.4)
    await isolate.serve("/compile", Invalid("name is required"))
    await isolate.serve("/compile", Invalid("name is required"))
    await isolate.serve("/compile/stream", RuntimeError("a secret detail"))
    await isolate.serve("/queue/results/:id", Reply.json({}, 404))
    reply = await isolate.page("/metrics")
    body = parsed(reply)
    assert (body["window"], body["timestamp"]) == ("30 minutes", iso(isolate.clock.now()))
    assert body["endpoints"] == {
        "/compile": {"count": 4, "success": 2, "failed": 2, "avgDuration": 150, "errors": {"Invalid request": 2}},
        "/compile/stream": {"count": 1, "success": 0, "failed": 1, "avgDuration": 0, "errors": {"internal error": 1}},
        "/queue/results/:id": {"count": 1, "success": 0, "failed": 1, "avgDuration": 0, "errors": {"status 404": 1}},
    }
    isolate.abandon()


async def test_no_text_of_a_caller():
    """The public figures name the kind of an error: its text may hold the addresses of a caller."""
    isolate = Isolate(ManualClock(1_800_000_000.0))
    await isolate.serve("/compile", Unavailable("Source https://private.example/list?token=1: status 500"))
    await isolate.serve("/compile", TooManyRequests("Rate limit exceeded.", retry_after_s=1))
    page = content(await isolate.page("/metrics"))
    assert b"private.example" not in page
    assert b"Upstream failed" in page
    assert b"Rate limit exceeded." in page
    isolate.abandon()


async def test_nothing_yet():
    """Without a request there is no endpoint to report."""
    isolate = Isolate(ManualClock())
    assert parsed(await isolate.page("/metrics"))["endpoints"] == {}
    assert content(await isolate.page("/metrics/prometheus")) == b""


async def test_isolates_add_up():
    """The numbers of several isolates are added, whichever writes first."""
    clock = ManualClock()
    one = Isolate(clock)
    other = Isolate(clock, one.binding)
    for isolate in (one, other, one):
        await isolate.serve("/compile", Reply.json({}))
        isolate.metrics.count("cache", "hit")
    await other.run_later()
    await one.run_later()
    assert parsed(await other.page("/metrics"))["endpoints"]["/compile"]["count"] == 3
    assert b'sluice_cache_total{result="hit"} 3\n' in content(await other.page("/metrics/prometheus"))


async def test_old_rows_are_folded():
    """What is older than half an hour is neither reported nor stored; its counts stay, also if it is folded twice."""
    isolate = Isolate(ManualClock(1_800_000_000.0))
    await isolate.serve("/compile", Invalid("no"))
    await isolate.run_later()
    isolate.clock.advance(1700)
    assert parsed(await isolate.page("/metrics"))["endpoints"]["/compile"]["count"] == 1
    isolate.clock.advance(100)
    await isolate.serve("/compile", Reply.json({}))
    assert parsed(await isolate.page("/metrics"))["endpoints"]["/compile"]["count"] == 1
    before = content(await isolate.page("/metrics/prometheus"))
    assert b'sluice_requests_total{endpoint="/compile",outcome="error"} 1\n' in before
    for _ in range(2):
        await isolate.metrics.delete_expired()
        assert await D1(isolate.binding).value("select count(*) from metric_flushes") == 1
        assert content(await isolate.page("/metrics/prometheus")) == before
    isolate.abandon()


async def test_few_writes():
    """A burst of requests is one row a few seconds later."""
    isolate = Isolate(ManualClock())
    for _ in range(500):
        await isolate.serve("/compile", Reply.json({}))
    assert isolate.binding.operations == []
    assert len(isolate.later) == 1
    await isolate.run_later()
    assert isolate.clock.slept == [FLUSH_AFTER_S]
    assert await D1(isolate.binding).value("select count(*) from metric_flushes") == 1
    await isolate.serve("/compile", Reply.json({}))
    assert len(isolate.later) == 1
    isolate.abandon()


async def test_lost_flush():
    """If the platform ends the request that was to flush, a later one does it."""
    isolate = Isolate(ManualClock())
    await isolate.serve("/compile", Reply.json({}))
    # As the platform leaves it: the task is gone and nobody ran its last lines.
    due = isolate.pending.flush_due_at
    isolate.abandon()
    isolate.pending.flush_due_at = due
    isolate.clock.advance(20)
    await isolate.serve("/compile", Reply.json({}))
    assert isolate.later == []
    isolate.clock.advance(20)
    await isolate.serve("/compile", Reply.json({}))
    await isolate.run_later()
    assert (await isolate.metrics.load_endpoints())["/compile"]["success"] == 3


class BrokenDatabase:
    """A database that cannot be reached."""

    async def _away(self, *_arguments: object) -> Any:
        raise Unavailable("D1 is away")

    all = batch = first = run = value = _away


async def test_database_is_down():
    """A failed write fails no request and is repeated later, within bounds."""
    isolate = Isolate(ManualClock())
    working = isolate.metrics
    isolate.metrics = replace(working, database=BrokenDatabase())
    for number in range(MAX_PENDING + 100):
        await isolate.serve(f"/{number}", Reply.json({}))
    await isolate.run_later()
    assert {name for name, _ in isolate.log.events} == {"metrics.kept_back"}
    assert len(isolate.pending.endpoints) == MAX_PENDING
    assert len(isolate.pending.counters) == MAX_PENDING
    assert (await isolate.page("/metrics")).status == 502
    isolate.metrics = working
    assert len(parsed(await isolate.page("/metrics"))["endpoints"]) == MAX_PENDING


async def test_error_texts_are_bounded():
    """However many different errors occur, few texts are stored, and all errors are counted."""
    isolate = Isolate(ManualClock())
    for number in range(MAX_ERRORS + 30):
        isolate.metrics.record("/compile", isolate.clock.now(), 400, f"{number} " + "x" * 5000)
    endpoint = parsed(await isolate.page("/metrics"))["endpoints"]["/compile"]
    assert len(endpoint["errors"]) == MAX_ERRORS + 1
    assert endpoint["errors"][OTHER_ERRORS] == 30
    assert max(map(len, endpoint["errors"])) == MAX_ERROR_CHARS
    isolate.abandon()


async def test_no_background():
    """If background work is refused, the request is still answered."""
    isolate = Isolate(ManualClock())

    def refuse(_work: Coroutine[Any, Any, None]) -> None:
        raise RuntimeError("the context is gone")

    isolate.metrics = replace(isolate.metrics, background=refuse)
    await isolate.serve("/compile", Reply.json({}))
    assert parsed(await isolate.page("/metrics"))["endpoints"]["/compile"]["count"] == 1


async def test_data_points():
    """Each request is a data point with its duration and status."""
    isolate = Isolate(ManualClock(1_800_000_000.0))
    await isolate.serve("/compile", Reply.json({}), took_s=0.5)
    await isolate.serve("/compile", Invalid("no"))
    assert isolate.analytics.points == [
        ("api_request", ("/compile", ""), (500.0, 200, 1.0)),
        ("api_request", ("/compile", "Invalid request"), (0.0, 400, 0.0)),
    ]
    isolate.abandon()


async def test_prometheus_page():
    """The page is in the text format 0.0.4, each metric described once."""
    isolate = Isolate(ManualClock(1_800_000_000.0))
    await isolate.serve("/compile", Reply.json({}), took_s=0.5)
    isolate.metrics.count("cache", "hit")
    isolate.metrics.count("cache", "miss")
    reply = await isolate.page("/metrics/prometheus")
    assert reply.header("Content-Type") == "text/plain; version=0.0.4; charset=utf-8"
    assert content(reply).decode() == (
        "# HELP sluice_cache_total Lists asked for, by how they were found.\n"
        "# TYPE sluice_cache_total counter\n"
        'sluice_cache_total{result="hit"} 1\n'
        'sluice_cache_total{result="miss"} 1\n'
        "# HELP sluice_request_duration_seconds_total Time spent on HTTP requests, by endpoint.\n"
        "# TYPE sluice_request_duration_seconds_total counter\n"
        'sluice_request_duration_seconds_total{endpoint="/compile"} 0.5\n'
        "# HELP sluice_requests_total HTTP requests, by endpoint and outcome.\n"
        "# TYPE sluice_requests_total counter\n"
        'sluice_requests_total{endpoint="/compile",outcome="success"} 1\n'
    )
    isolate.abandon()


def test_metrics_are_named_as_prometheus_wants():
    """Every counter that the service has, and one that it does not know, has a name and a description by the rules."""
    rows: list[Counter] = [
        {"name": name, "labels": '["a", "b"]', "value": 1.5} for name in sorted([*METRICS, "unknown"])
    ]
    assert find_violations(format_counters(rows)) == []


def test_labels_cannot_break_out():
    """A label's value stays within its quotes; an unknown counter gets a name that the format allows."""
    page = format_counters([{"name": "odd-name", "labels": '["a\\"b\\\\c\\nd"]', "value": 1e15}])
    assert page.splitlines()[-1] == 'sluice_odd_name_total{kind="a\\"b\\\\c\\nd"} 1000000000000000'


@pytest.mark.parametrize(("key", "site_key"), [("k", "k"), ("", None)])
async def test_turnstile_config(key: str, site_key: str | None):
    """Everyone may see whether a challenge is required, and cache that for an hour."""
    settings = Settings.read(Variables({"TURNSTILE_SITE_KEY": key, "TURNSTILE_SECRET_KEY": key}.get))
    reply = await serve_turnstile(settings)(get("/api/turnstile-config"))
    assert parsed(reply) == {"siteKey": site_key, "enabled": bool(key)}
    assert reply.header("Cache-Control") == "public, max-age=3600"


async def test_gauges():
    """Prometheus sees the depth of the queue, the age of the operator's lists and the health of its sources, and no others."""
    isolate = Isolate(ManualClock(1_800_000_000.0))
    isolate.gauged = True
    [own, *_] = warm_configurations()
    database = D1(isolate.binding)
    now_ms = 1_800_000_000_000
    insert = (
        "insert into compilation_metadata"
        " (config_name, at_ms, path, source_count, rule_count, duration_ms, cache_key, success) values (?, ?, 'x', 1, 1, 1, ?, 1)"
    )
    await database.run(insert, own.name, now_ms - 90_000, cache_key(own))
    await database.run(insert, "a stranger's", now_ms - 5_000, "cache:other")
    await database.run(
        "insert into compile_jobs (request_id, kind, priority, state, config_name, message, created_ms)"
        " values ('j', 'compile', 'high', 'queued', 'x', '{}', ?)",
        now_ms,
    )
    await database.run(
        "insert into source_health (source, name, status, total_attempts, successful_attempts, failed_attempts,"
        " consecutive_failures, average_duration_ms, last_attempt_ms) values ('u', 'A', 'degraded', 1, 0, 1, 1, 1, ?)",
        now_ms,
    )
    await database.run(
        "insert into source_health (source, name, status, total_attempts, successful_attempts, failed_attempts,"
        " consecutive_failures, average_duration_ms, last_attempt_ms) values ('v', 'A', 'healthy', 1, 1, 0, 0, 1, ?)",
        now_ms,
    )
    page = content(await isolate.page("/metrics/prometheus")).decode()
    assert find_violations(page) == [], "of two sources of one name, the worse one counts"
    assert 'sluice_list_age_seconds{list="EasyList"} 90\n' in page
    assert "# TYPE sluice_queue_depth gauge\nsluice_queue_depth 1\n" in page
    assert 'sluice_source_healthy{source="A"} 0\n' in page
    assert "stranger" not in page


async def test_streams_are_counted_at_their_end():
    """A reply in chunks is counted when it is sent, as a failure if it breaks off."""
    isolate = Isolate(ManualClock(1_800_000_000.0))

    async def chunks(error: Exception | None) -> AsyncIterator[bytes]:
        yield b"x"
        isolate.clock.advance(2)
        if error:
            raise error

    async def serve(error: Exception | None) -> Reply:
        async def handler(_request: Request) -> Reply:
            return Reply.stream(chunks(error), content_type="text/plain")

        return await isolate.metrics.measure("/compile/batch", handler)(get("/compile/batch"))

    whole, broken = await serve(None), await serve(RuntimeError("broken off"))
    assert isolate.pending.endpoints == {}
    assert [chunk async for chunk in whole.body] == [b"x"]  # type: ignore[union-attr]
    with pytest.raises(RuntimeError):
        [chunk async for chunk in broken.body]  # type: ignore[union-attr]
    [counts] = isolate.pending.endpoints.values()
    assert (counts.success, counts.failed) == (1, 1)
    isolate.abandon()


async def test_folded_counts_stay_the_same():
    """Adding old rows to the counters changes no sum, whenever it happens."""
    isolate = Isolate(ManualClock(1_800_000_000.0))
    isolate.metrics.count("jobs", "completed")
    await isolate.metrics.flush()
    for _ in range(70):
        isolate.clock.advance(30)
        await isolate.metrics.delete_expired()
        [counter] = await isolate.metrics.load_counters()
        assert counter["value"] == 1
    assert await D1(isolate.binding).value("select count(*) from metric_flushes") == 0
    isolate.abandon()


async def test_background_work_flushes_after_a_while():
    """The requests of the next seconds are in the same row."""
    isolate = Isolate(ManualClock(1_800_000_000.0))
    await isolate.serve("/compile", Reply.json({}))
    [flush] = isolate.later
    isolate.later.clear()
    await isolate.serve("/compile", Reply.json({}))
    assert isolate.later == []
    await flush
    assert await D1(isolate.binding).all("select at_s, count(*) as n from metric_flushes") == [
        {"at_s": 1_800_000_000 + round(FLUSH_AFTER_S), "n": 1}
    ]
