"""The stored events of a workflow: none lost, none stored twice, and the figures of the whole run."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.binding import Crash
from sluice.core.errors import Invalid
from sluice.core.timestamps import iso, parse_iso_ms
from sluice.services.compiler.workflows.event_log import EVENTS_TTL_S, RUNS_TTL_S, RunEvents
from sluice.services.compiler.workflows.run_events import (
    RunEvent,
    WorkflowRun,
    step_completed,
    step_started,
    workflow_completed,
    workflow_failed,
    workflow_progress,
    workflow_started,
)
from unit.services.compiler.workflow_bench import Bench

RUN = WorkflowRun("wf-1", "compilation")


def loose(number: int) -> RunEvent:
    return RunEvent(type="source:fetch:started", data={"number": number})


async def log_of(bench: Bench, since_ms: int | None = None) -> RunEvents:
    log = await bench.event_log.read(RUN.id, since_ms)
    assert log is not None
    return log


async def test_shape():
    """An event has only the documented members that it was given."""
    bench = Bench()
    await bench.event_log.emit(RUN, workflow_started("Go", requestId="r"), step_started("validate"))
    log = await log_of(bench)
    assert log == {
        "workflowId": "wf-1",
        "workflowType": "compilation",
        "startedAt": "2027-01-15T08:00:00.000Z",
        "progress": 0,
        "isComplete": False,
        "events": [
            {
                "type": "workflow:started",
                "workflowId": "wf-1",
                "workflowType": "compilation",
                "timestamp": "2027-01-15T08:00:00.000Z",
                "progress": 0,
                "message": "Go",
                "data": {"requestId": "r"},
            },
            {
                "type": "workflow:step:started",
                "workflowId": "wf-1",
                "workflowType": "compilation",
                "timestamp": "2027-01-15T08:00:00.001Z",
                "step": "validate",
            },
        ],
    }


async def test_unknown_run():
    """A run that never started has no log."""
    assert await Bench().event_log.read("nobody") is None


async def test_many_writers_lose_nothing():
    """Events of several writers at the same time are all stored, each with a time of its own, in order."""
    bench = Bench()
    await asyncio.gather(*(bench.event_log.emit(RUN, loose(n), loose(n + 1)) for n in range(0, 60, 2)))
    events = (await log_of(bench))["events"]
    assert sorted(event["data"]["number"] for event in events) == list(range(60))
    moments = [event["timestamp"] for event in events]
    assert moments == sorted(set(moments))


async def test_since_is_strictly_later():
    """A reader who asks for events after the last one it has numbers misses none and gets none twice."""
    bench = Bench()
    numbers: list[int] = []
    since: int | None = None
    for number in range(30):
        await bench.event_log.emit(RUN, loose(number))
        if number % 3 == 0:
            bench.clock.advance(0.0004)
        if number % 4 == 0:
            events = (await log_of(bench, since))["events"]
            numbers += [event["data"]["number"] for event in events]
            since = parse_iso_ms(events[-1]["timestamp"], "since")
    numbers += [event["data"]["number"] for event in (await log_of(bench, since))["events"]]
    assert numbers == list(range(30))


async def test_late_events_keep_their_time():
    """A late writer keeps the time of its event, unless a later event is stored already."""
    bench = Bench()
    now_ms = round(bench.clock.now() * 1000)
    await bench.event_log.emit(RUN, RunEvent(type="source:fetch:started", at_ms=now_ms - 500))
    await bench.event_log.emit(RUN, RunEvent(type="source:fetch:completed", at_ms=now_ms - 900))
    moments = [parse_iso_ms(event["timestamp"], "t") for event in (await log_of(bench))["events"]]
    assert moments == [now_ms - 500, now_ms - 499]


async def test_at_most_a_hundred():
    """The oldest events are dropped; progress and end are still those of the whole run."""
    bench = Bench()
    await bench.event_log.emit(RUN, workflow_started("Go"), workflow_progress("p", 40, "Well under way"))
    for number in range(0, 150, 5):
        await bench.event_log.emit(RUN, *(loose(n) for n in range(number, number + 5)))
    log = await log_of(bench)
    assert [event["data"]["number"] for event in log["events"]] == list(range(50, 150))
    assert (log["progress"], log["isComplete"]) == (40, False)


async def test_since_reaches_no_further_than_the_last_hundred():
    """A time long ago returns the last hundred events, not the first."""
    bench = Bench()
    await bench.event_log.emit(RUN, *(loose(n) for n in range(120)))
    events = (await log_of(bench, 0))["events"]
    assert [event["data"]["number"] for event in events] == list(range(20, 120))


async def test_keyed_events_are_stored_once():
    """A repeated step does not store its event again, even after a hundred other events."""
    bench = Bench()
    await bench.event_log.emit(RUN, step_started("compile-sources"))
    await bench.event_log.emit(RUN, *(loose(n) for n in range(150)))
    await bench.event_log.emit(RUN, step_started("compile-sources"))
    assert "workflow:step:started" not in await bench.types(RUN.id)


async def test_progress_never_goes_back():
    """A late event with less progress does not lower it."""
    bench = Bench()
    await bench.event_log.emit(RUN, step_completed("a", 70))
    await bench.event_log.emit(RUN, workflow_progress(None, 20, "late"))
    assert (await log_of(bench))["progress"] == 70


async def test_completion():
    """The end has its time, and the first end stays."""
    bench = Bench()
    await bench.event_log.emit(RUN, workflow_started("Go"))
    bench.clock.advance(4)
    await bench.event_log.emit(RUN, workflow_completed("Done"))
    bench.clock.advance(4)
    await bench.event_log.emit(RUN, workflow_failed("too late"))
    log = await log_of(bench)
    assert (log["progress"], log["isComplete"], log["completedAt"]) == (100, True, "2027-01-15T08:00:04.000Z")
    [row] = await bench.rows("workflow_runs")
    assert (row["outcome"], row["error"], row["duration_ms"]) == ("completed", None, 4000)


async def test_failure():
    """A failure ends the run at its step, with its reason."""
    bench = Bench()
    await bench.event_log.emit(
        RUN, workflow_started("Go"), step_completed("validate", 10), workflow_failed("no source")
    )
    log = await log_of(bench)
    assert (log["progress"], log["isComplete"]) == (10, True)
    [row] = await bench.rows("workflow_runs")
    assert (row["outcome"], row["error"]) == ("failed", "no source")


async def test_expiry():
    """Events are readable for an hour and then deleted; the figures of the run stay for 30 days."""
    bench = Bench()
    await bench.event_log.emit(RUN, workflow_started("Go"), step_completed("validate", 10))
    bench.clock.advance(EVENTS_TTL_S + 1)
    log = await log_of(bench)
    assert (log["events"], log["progress"]) == ([], 10)
    assert len(await bench.rows("workflow_event_pages")) == 1
    await bench.event_log.delete_expired()
    assert await bench.rows("workflow_event_pages") == []
    bench.clock.advance(RUNS_TTL_S)
    await bench.event_log.delete_expired()
    assert await bench.rows("workflow_runs") == []


async def test_reason_of_a_failure_is_kept_for_an_hour():
    """It may quote what the caller has sent, so it ends with the events of the run; the run itself stays."""
    bench = Bench()
    await bench.event_log.emit(RUN, workflow_started("Go"), workflow_failed("no source", step="validate"))
    bench.clock.advance(EVENTS_TTL_S)
    await bench.event_log.delete_expired()
    [row] = await bench.rows("workflow_runs")
    assert row["error"] == "no source"
    assert len(await bench.rows("workflow_event_pages")) == 1
    bench.clock.advance(0.01)
    await bench.event_log.delete_expired()
    [row] = await bench.rows("workflow_runs")
    assert (row["outcome"], row["error"]) == ("failed", None)


async def test_failure_names_its_step():
    """The last event of a failed run has the reason and the step."""
    bench = Bench()
    await bench.event_log.emit(RUN, workflow_started("Go"), workflow_failed("no source", step="validate"))
    end = (await bench.events(RUN.id))[-1]
    assert (end["type"], end["message"], end["data"]) == ("workflow:failed", "no source", {"step": "validate"})


async def test_long_run_shows_its_last_events():
    """However many events were stored one by one, the last hundred are read."""
    bench = Bench()
    for number in range(620):
        await bench.event_log.emit(RUN, loose(number))
    assert [event["data"]["number"] for event in (await log_of(bench))["events"]] == list(range(520, 620))


async def test_events_of_one_call_are_one_transaction():
    """Many events of one call cost one database operation."""
    bench = Bench()
    await bench.event_log.emit(RUN, *(loose(n) for n in range(40)))
    assert [name for name, _ in bench.d1.operations] == ["batch"]


@pytest.mark.parametrize("before", [True, False])
async def test_crash_while_writing(*, before: bool):
    """Emitted again after a crash, all events are stored once."""
    bench = Bench()
    bench.d1.fail_at(1, before=before)
    events = [workflow_started("Go"), step_completed("validate", 10)]
    with pytest.raises(Crash):
        await bench.event_log.emit(RUN, *events)
    await bench.event_log.emit(RUN, *events)
    assert await bench.types(RUN.id) == ["workflow:started", "workflow:step:completed"]


async def test_metrics():
    """Runs are counted by type and outcome."""
    bench = Bench()
    for number, end in enumerate((workflow_completed("a"), workflow_completed("b"), workflow_failed("c"), None)):
        run = WorkflowRun(f"wf-{number}", "batch")
        await bench.event_log.emit(run, workflow_started("Go"))
        bench.clock.advance(number + 1)
        if end:
            await bench.event_log.emit(run, end)
    assert await bench.event_log.load_metrics() == {
        "batch": {
            "totalRuns": 4,
            "completed": 2,
            "failed": 1,
            "unfinished": 1,
            "avgDurationMs": 2000,
            "maxDurationMs": 3000,
            "lastRunAt": "2027-01-15T08:00:06.000Z",
        }
    }


@given(st.integers(min_value=0, max_value=253_402_300_799_999))
def test_times_survive(at_ms: int):
    """A time written and read again is the same millisecond."""
    assert parse_iso_ms(iso(at_ms / 1000), "since") == at_ms


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T01:00:01.5+01:00", 1500),
        ("1970-01-01T01:00:01.5 01:00", 1500),
        ("1970-01-01T00:00:01", 1000),
        ("1970-01-02", 86_400_000),
    ],
)
def test_times_as_callers_write_them(text: str, at_ms: int):
    """Time zones count, a missing one is UTC, and a plus that arrived as a space is a plus."""
    assert parse_iso_ms(text, "since") == at_ms


@pytest.mark.parametrize("text", ["", "yesterday", "2026-13-01T00:00:00Z", "0", "٢٠٢٦-01-01x"])
def test_invalid_times(text: str):
    """Anything else is refused with the name of the field."""
    with pytest.raises(Invalid, match=r"^since is not a time") as caught:
        parse_iso_ms(text, "since")
    assert caught.value.fields[0].field == "since"
