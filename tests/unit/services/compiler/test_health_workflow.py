"""Health of the sources over many runs: history, one alert for each incident, and the recheck that resolves it."""

import json
from collections.abc import Mapping
from typing import Any

from fakes.transport import FakeTransport, Scripted
from fakes.workflows import FakeStep
from sluice.core.errors import Unavailable
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.net.transport import TransportRequest
from sluice.core.timestamps import iso
from sluice.services.compiler.health.health_workflow import HealthMonitoringWorkflow
from sluice.services.compiler.health.source_alerts import SourceAlerts
from sluice.services.compiler.health.source_check import CheckedSource, SourceCheck
from sluice.services.compiler.health.store import RETENTION_S, HealthStore
from sluice.services.compiler.limits.allowance import MAX_FETCHES, FetchAllowance
from sluice.services.compiler.workflows.defaults import health_sources
from unit.services.compiler.workflow_bench import Bench, crash_points, find_repeated

HOOK = "https://hook.example/alert"
LISTS = {name: f"https://lists.example/{name}.txt" for name in ("a", "b")}
RULES = b"||x.example^\n" * 3


def params(*names: str, **more: Any) -> dict[str, Any]:
    sources = [{"name": name, "url": LISTS[name], "expectedMinRules": 2} for name in names]
    return {"sources": sources, **more}


class Workflow(Bench):
    """Sources that are healthy unless they are in `down`, and a webhook that answers with `hook_status`."""

    def __init__(self, url: str = HOOK) -> None:
        super().__init__()
        self.down: set[str] = set()
        self.hook_status = 204
        self.delivered: list[dict[str, Any]] = []
        self.transport = FakeTransport(
            {HOOK: self._answer_webhook} | dict.fromkeys(LISTS.values(), self._answer_source)
        )
        fetch = Fetcher(self.transport, AllowedHosts.parse("")).fetch
        self.allowances: list[FetchAllowance] = []
        self.store = HealthStore(database=self.database, clock=self.clock)
        self.runs = 0
        self.ended: list[dict[str, Any]] = []
        self.next_step = FakeStep()
        self.workflow = HealthMonitoringWorkflow(
            check=SourceCheck(fetch=fetch, clock=self.clock),
            open_check=self._open_check,
            store=self.store,
            alerts=SourceAlerts(database=self.database, fetch=fetch, clock=self.clock, url=url),
            instances=self.instances,
            load_defaults=health_sources,
            recheck_delay_s=300,
            published=self.metrics,
            reporter=self.reporter,
            clock=self.clock,
        )

    def _open_check(self, allowance: FetchAllowance) -> SourceCheck:
        self.allowances.append(allowance)
        transport = allowance.limit_transport(self.transport)
        return SourceCheck(fetch=Fetcher(transport, AllowedHosts.parse("")).fetch, clock=self.clock)

    async def _answer_source(self, request: TransportRequest) -> Scripted:
        self.clock.advance(0.25)
        return Scripted(503) if request.url in {LISTS[name] for name in self.down} else Scripted(200, (), RULES)

    async def _answer_webhook(self, request: TransportRequest) -> Scripted:
        assert request.body is not None
        alert = json.loads(request.body)
        is_end = alert["type"] == "source-recovered"
        assert ("idempotency-key", alert["alertId"] + ("-resolved" if is_end else "")) in request.headers
        if self.hook_status < 300:
            (self.ended if is_end else self.delivered).append(alert)
        return Scripted(self.hook_status)

    async def outcome(self, params: Mapping[str, Any], workflow_id: str = "") -> dict[str, Any]:
        """Return the outcome of one run, an hour after the one before."""
        self.runs += 1
        self.clock.advance(3600)
        self.step, self.next_step = self.next_step, FakeStep()
        name = workflow_id or f"health-{self.runs}"
        return await self.finish(lambda steps: self.workflow.run(name, params, steps))

    async def failing_runs(self, count: int, *names: str) -> None:
        self.down = set(names)
        for _ in range(count):
            await self.outcome(params("a", "b"))

    async def recheck(self) -> dict[str, Any]:
        [(name, instance)] = self.engine.instances.items()
        return await self.outcome(instance.params, name)


async def test_report():
    """The documented structure: results, summary with the average response time, history."""
    bench = Workflow()
    await bench.failing_runs(1, "b")
    outcome = await bench.outcome(params("a", "b"))
    down = {"healthy": False, "statusCode": 503, "ruleCount": 0, "error": "Status 503 instead of 200"}
    assert outcome["results"] == [
        {"name": "a", "url": LISTS["a"], "healthy": True, "statusCode": 200, "responseTimeMs": 250, "ruleCount": 3},
        {"name": "b", "url": LISTS["b"], "responseTimeMs": 250, **down},
    ]
    assert outcome["summary"] == {"total": 2, "healthy": 1, "unhealthy": 1, "avgResponseTimeMs": 250}
    assert outcome["history"] == {
        "timestamps": ["2027-01-15T09:00:00.250Z", "2027-01-15T10:00:00.750Z"],
        "sourceResults": {"a": [True, True], "b": [False, False]},
        "consecutiveFailures": 2,
    }
    assert (outcome["success"], outcome["runId"], outcome["alerts"]) == (True, "health-2", [])


async def test_steps_pauses_and_events():
    """One step for each source with two seconds between; progress 10, to 70, 75, 100."""
    bench = Workflow()
    await bench.outcome(params("a", "b"))
    assert [(name, config["retries"], config["timeout"] / 1000) for name, config in bench.step.configs.items()] == [
        ("load-health-history", {"limit": 1, "delay": 1000, "backoff": "linear"}, 30),
        ("check-source-1", {"limit": 2, "delay": 5000, "backoff": "linear"}, 120),
        ("check-source-2", {"limit": 2, "delay": 5000, "backoff": "linear"}, 120),
        ("analyze-results", {"limit": 1, "delay": 1000, "backoff": "linear"}, 30),
        ("store-results", {"limit": 2, "delay": 2000, "backoff": "linear"}, 30),
    ]
    assert bench.step.slept_ms == [2000]
    assert [(e["type"], e.get("step"), e.get("progress")) for e in await bench.events("health-1")] == [
        ("workflow:started", None, 0),
        ("workflow:step:completed", "load-health-history", 10),
        ("health:check:started", "check-source-1", None),
        ("health:check:completed", "check-source-1", 40),
        ("health:check:started", "check-source-2", None),
        ("health:check:completed", "check-source-2", 70),
        ("workflow:step:completed", "analyze-results", 75),
        ("workflow:step:completed", "store-results", None),
        ("workflow:completed", None, 100),
    ]
    begun, ended = [e["timestamp"] for e in await bench.events("health-1") if e.get("step") == "check-source-1"]
    assert (begun, ended) == ("2027-01-15T09:00:00.002Z", "2027-01-15T09:00:00.250Z"), "shown when it begins"


async def test_defaults():
    """Without sources, those of the popular lists are checked."""
    bench = Workflow()
    urls = [source.url for source in health_sources()]
    bench.transport.answers = dict.fromkeys(urls, Scripted(404))
    outcome = await bench.outcome({})
    assert [result["name"] for result in outcome["results"]] == [source.name for source in health_sources()]


async def test_alert_after_three_failures_once():
    """The third consecutive failure opens an alert, the fourth and fifth do not."""
    bench = Workflow()
    await bench.failing_runs(2, "b")
    assert bench.delivered == []
    await bench.failing_runs(3, "b")
    [alert] = bench.delivered
    assert alert == {
        "type": "source-unhealthy",
        "alertId": "health-3-1",
        "runId": "health-3",
        "timestamp": alert["timestamp"],
        "source": {"name": "b", "url": LISTS["b"]},
        "consecutiveFailures": 3,
        "statusCode": 503,
        "responseTimeMs": 250,
        "ruleCount": 0,
        "error": "Status 503 instead of 200",
    }
    assert await bench.read_published("health:alerts:health-3") == [alert]
    assert (await bench.rows("source_health"))[1]["status"] == "unhealthy"


async def test_two_failures_and_a_success_count_from_the_start():
    """Only consecutive failures count."""
    bench = Workflow()
    await bench.failing_runs(2, "b")
    await bench.failing_runs(1)
    await bench.failing_runs(2, "b")
    assert bench.delivered == []


async def test_a_new_incident_alerts_again():
    """Healthy again, then three more failures: another alert."""
    bench = Workflow()
    await bench.failing_runs(3, "b")
    await bench.failing_runs(1)
    await bench.failing_runs(3, "b")
    assert [alert["alertId"] for alert in bench.delivered] == ["health-3-1", "health-7-1"]
    rows = await bench.rows("health_alerts")
    assert [row["resolved_ms"] is None for row in rows] == [False, True]


async def test_alert_on_failure_off():
    """No alert is sent, and the next run that may alert sends it."""
    bench = Workflow()
    bench.down = {"b"}
    for _ in range(3):
        await bench.outcome(params("b", alertOnFailure=False))
    assert (bench.delivered, bench.engine.instances) == ([], {})
    await bench.outcome(params("b"))
    assert [alert["consecutiveFailures"] for alert in bench.delivered] == [4]


async def test_recheck_resolves():
    """An alert starts a recheck of the failed sources alone; it waits, and resolves the alert if they are healthy."""
    bench = Workflow()
    await bench.failing_runs(3, "b")
    [instance] = bench.engine.instances.values()
    assert [source["name"] for source in instance.params["sources"]] == ["b"]
    bench.down = set()
    outcome = await bench.recheck()
    assert bench.step.slept_ms == [300_000]
    assert (outcome["recheck"], outcome["summary"]["healthy"], outcome["history"]["consecutiveFailures"]) == (
        True,
        1,
        0,
    )
    [row] = await bench.rows("health_alerts")
    assert row["resolved_ms"] is not None
    [ended] = bench.ended
    assert (ended["alertId"], ended["source"]["name"]) == ("health-3-1", "b")


async def test_end_is_delivered_once():
    """The end of an alert is a message of its own, sent again after a failed webhook, and not twice."""
    bench = Workflow()
    await bench.failing_runs(3, "b")
    bench.hook_status = 500
    await bench.failing_runs(1)
    assert bench.ended == []
    bench.hook_status = 200
    for _ in range(2):
        await bench.failing_runs(1)
    assert [alert["type"] for alert in bench.ended] == ["source-recovered"]


async def test_private_check_is_forgotten():
    """A check of a stranger's own sources is answered; it leaves no history, raises no alert and replaces no report."""
    bench = Workflow()
    await bench.failing_runs(1)
    before = await bench.store.load_latest()
    bench.down = {"a", "b"}
    for _ in range(4):
        outcome = await bench.outcome(params("a", "b", private=True))
        assert (outcome["success"], outcome["summary"]["unhealthy"], outcome["alerts"]) == (True, 2, [])
    assert await bench.store.load_latest() == before
    assert await bench.rows("health_alerts") == []
    assert {row["run_id"] for row in await bench.rows("source_attempts")} == {"health-1"}
    assert (bench.delivered, bench.engine.instances) == ([], {})


async def test_recheck_does_not_alert_again():
    """If a source is still down, the recheck sends no alert and starts nothing."""
    bench = Workflow()
    await bench.failing_runs(3, "b")
    await bench.recheck()
    assert len(bench.delivered) == 1
    assert len(bench.engine.instances) == 1
    assert "send-alerts" not in bench.step.configs


async def test_webhook_is_down():
    """The report is still stored; the next run with a working webhook delivers the alert."""
    bench = Workflow()
    bench.hook_status = 500
    await bench.failing_runs(3, "b")
    types = [(event["type"], event.get("step")) for event in await bench.events("health-3")]
    assert ("workflow:step:failed", "send-alerts") in types
    assert types[-1] == ("workflow:completed", None)
    assert len([r for r in bench.transport.requests if r.url == HOOK]) == 3
    bench.hook_status = 204
    await bench.failing_runs(2, "b")
    assert [alert["alertId"] for alert in bench.delivered] == ["health-3-1"]


async def test_undelivered_alerts_keep_their_order():
    """What the webhook did not take is sent by a later run, the oldest alert first, and so are the ends."""
    bench = Workflow()
    bench.hook_status = 500
    await bench.failing_runs(1, "b")
    await bench.failing_runs(3, "a", "b")
    bench.hook_status = 204
    await bench.failing_runs(1, "a", "b")
    assert [alert["source"]["name"] for alert in bench.delivered] == ["b", "a"]
    bench.hook_status = 500
    await bench.failing_runs(1, "b")
    await bench.failing_runs(1)
    bench.hook_status = 204
    await bench.failing_runs(1)
    assert [alert["source"]["name"] for alert in bench.ended] == ["a", "b"]


async def test_two_alerts_of_one_run():
    """The report names them in the order of their sources."""
    bench = Workflow()
    await bench.failing_runs(2, "a", "b")
    outcome = await bench.outcome(params("a", "b"))
    assert outcome["alerts"] == ["health-3-0", "health-3-1"]


def checked(name: str, *, healthy: bool = True, etag: str | None = None) -> CheckedSource:
    return CheckedSource(
        name=name, url=LISTS[name], healthy=healthy, status_code=200, response_ms=1, rule_count=3, etag=etag
    )


async def test_validators_of_the_last_healthy_check():
    """A source is compared with what it was when it was last healthy, not with its failure, nor with another source."""
    bench = Workflow()
    checks = [checked("a", etag="1"), checked("a", etag="2"), checked("a", etag="3", healthy=False), checked("b")]
    for number, check in enumerate(checks):
        bench.clock.advance(1)
        await bench.store.record_attempt(f"health-{number}", 1, check, recheck=False)
    known = await bench.store.find_validators(LISTS["a"])
    assert known is not None
    assert known.etag == "2"


async def test_history_of_the_last_hundred_runs():
    """The earliest comes first; a run that did not check a source has null for it."""
    bench = Workflow()
    for number in range(105):
        bench.clock.advance(1)
        check = checked("a", healthy=number % 3 > 0)
        await bench.store.record_attempt(f"health-{number}", 1, check, recheck=False)
    bench.clock.advance(1)
    await bench.store.record_attempt("health-105", 1, checked("b"), recheck=False)
    history = await bench.store.load_history({LISTS["a"]: "a", LISTS["b"]: "b"})
    assert history["sourceResults"] == {
        "a": [*(number % 3 > 0 for number in range(6, 105)), None],
        "b": [*[None] * 99, True],
    }
    assert history["timestamps"] == [iso(1_800_000_000 + number + 1) for number in range(6, 106)]


async def test_no_webhook():
    """Without a webhook the alert is stored, and the recheck is started."""
    bench = Workflow(url="")
    await bench.failing_runs(4, "b")
    assert len(await bench.rows("health_alerts")) == 1
    assert len(bench.engine.instances) == 1


async def test_latest():
    """The last full report is published, and a recheck changes only the sources that it checked."""
    bench = Workflow()
    assert await bench.store.load_latest() is None
    await bench.failing_runs(3, "a", "b")
    bench.down = {"a"}
    await bench.recheck()
    latest = await bench.store.load_latest()
    assert latest is not None
    assert (latest["runId"], latest["summary"]["healthy"]) == ("health-3", 1)
    assert [(result["name"], result["healthy"]) for result in latest["results"]] == [("a", False), ("b", True)]
    assert await bench.read_published("health:latest") == latest


async def test_kv_is_down():
    """A snapshot that cannot be published does not fail the run: the database has the data."""
    bench = Workflow()

    async def broken(*_args: Any, **_options: Any) -> None:
        raise Unavailable("KV is down")

    bench.metrics.put_json = broken  # type: ignore[method-assign]
    await bench.failing_runs(3, "b")
    outcome = await bench.outcome(params("a"))
    assert outcome["success"]
    assert len(bench.delivered) == 1
    assert {name for name, _ in bench.log.errors} == {"workflow.side_effect_failed"}


async def test_thirty_days():
    """Older checks are neither reported nor counted, and are deleted."""
    bench = Workflow()
    await bench.failing_runs(2, "b")
    bench.clock.advance(RETENTION_S - 3000)
    outcome = await bench.outcome(params("b"))
    assert outcome["history"]["sourceResults"] == {"b": [False]}
    [row] = [row for row in await bench.rows("source_health") if row["name"] == "b"]
    assert (row["total_attempts"], row["consecutive_failures"]) == (1, 1)
    await bench.store.delete_expired()
    assert len(await bench.rows("source_attempts")) == 1


async def test_bad_parameters():
    """Invalid sources fail the run with the field."""
    outcome = await Workflow().outcome({"sources": [{"name": "x", "url": "ftp://x"}]})
    assert not outcome["success"]
    assert outcome["error"].startswith("sources[0].url")


async def test_two_sources_with_one_url():
    """Two sources with one URL are refused."""
    sources = [{"name": name, "url": LISTS["a"]} for name in "xy"]
    outcome = await Workflow().outcome({"sources": sources})
    assert "two sources have the url" in outcome["error"]


async def test_crash_at_any_operation():
    """Every source is checked and stored once, one alert is stored, and no event is stored twice."""

    async def prepare() -> Workflow:
        bench = Workflow()
        await bench.failing_runs(2, "b")
        for fake in bench.fakes.values():
            fake.operations.clear()
        return bench

    whole = await prepare()
    expected = await whole.outcome(params("a", "b"))
    assert len(whole.delivered) == 1
    counts = {name: len(fake.operations) for name, fake in whole.fakes.items()}
    assert counts["engine"] == 2  # the instance is created, and looked for
    for name, number, before in crash_points(counts):
        bench = await prepare()
        if name == "step":
            bench.next_step.fail_at(number, before=before)
        else:
            bench.fakes[name].fail_at(number, before=before)
        outcome = await bench.outcome(params("a", "b"))
        for member in ("results", "summary", "alerts"):
            assert outcome[member] == expected[member]
        assert len(await bench.rows("source_attempts")) == 6
        [health] = [row for row in await bench.rows("source_health") if row["name"] == "b"]
        assert (health["total_attempts"], health["consecutive_failures"]) == (3, 3)
        assert len(await bench.rows("health_alerts")) == 1
        assert {alert["alertId"] for alert in bench.delivered} == {"health-3-1"}
        assert len(bench.delivered) <= 2
        assert len(bench.engine.instances) == 1
        events = await bench.events("health-3")
        assert find_repeated(events) == []
        assert events[-1]["type"] == "workflow:completed"


async def test_private_check_causes_few_fetches():
    """Fifty sources that all redirect stay within the fetches of one request."""
    bench = Workflow()
    urls = [f"https://lists.example/{number}.txt" for number in range(50)]
    bench.transport.answers = {url: Scripted(302, (("location", url),)) for url in urls}
    sources = [{"name": url, "url": url} for url in urls]
    outcome = await bench.outcome({"sources": sources, "private": True})
    assert len(bench.transport.requests) == MAX_FETCHES
    assert {allowance.limit for allowance in bench.allowances} == {2}
    assert "fetches" in outcome["results"][0]["error"]
