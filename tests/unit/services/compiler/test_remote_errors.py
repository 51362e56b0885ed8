"""Errors of the service's own Durable Objects reach the caller with everything they carry."""

from collections.abc import Callable
from typing import Any

import pytest

from fakes.binding import Crash
from fakes.objects import FakeObjects, FakeStorage
from sluice.core.errors import BadField, Invalid, SluiceError, TooManyRequests, Unavailable, Unusable
from sluice.core.remote_errors import encode_error
from sluice.platform.durable_objects import Alarm
from sluice.services.compiler.cache import remote_single_flight
from sluice.services.compiler.cache.compile_order import CompileOptions
from sluice.services.compiler.cache.compiled_list import CACHED_HEAD
from sluice.services.compiler.cache.remote_single_flight import (
    CompilationCalls,
    CompilationServer,
    ListAnswer,
    RemoteSingleFlight,
)
from sluice.services.compiler.cache.served_list import ListForm, ServedList
from sluice.services.compiler.cache.single_flight import SingleFlight
from sluice.services.compiler.jobs.queue_messages import CompileMessage
from sluice.services.compiler.jobs.sweeper import INTERVAL_S, IsolateLife, Sweeper, SweeperCalls
from sluice.services.compiler.limits.allowance import FetchAllowance
from unit.services.compiler.remote_objects import Answering, connect_named
from unit.services.compiler.world import URL, World, order

ERRORS = [
    TooManyRequests("slow down", retry_after_s=42),
    Invalid("2 fields are invalid", [BadField("name", "is required"), BadField("sources[1].url", "is no URL")]),
    Unusable("the source answered 404"),
    Unavailable("down\non two lines: ×"),
]


def remote(world: World, make: Callable[[str], object] | None = None) -> RemoteSingleFlight:
    def make_server(_key: str) -> object:
        return Answering(CompilationCalls, CompilationServer(SingleFlight(world.compiler)))

    objects = connect_named(CompilationCalls, FakeObjects(make or make_server))
    return RemoteSingleFlight(object_named=objects, compiler=world.compiler, log=world.log)


async def serve(
    flight: RemoteSingleFlight, form: ListForm = "json", allowance: FetchAllowance | None = None
) -> ServedList:
    return await flight.serve(order(form=form, allowance=allowance or FetchAllowance()))


class Failing:
    """An object whose calls fail with an error, as a value."""

    def __init__(self, error: SluiceError) -> None:
        self.error = error

    async def serve_list(self, configuration: str, options: CompileOptions, max_fetches: int) -> ListAnswer:
        del configuration, options, max_fetches
        return ListAnswer(fetches=3, error=encode_error(self.error))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_error_survives_the_call(error: SluiceError):
    """Kind, text, Retry-After, fields and what was fetched arrive on the caller's side, and nothing is compiled twice."""
    world, allowance = World(), FetchAllowance()
    flight = remote(world, lambda _key: Answering(CompilationCalls, Failing(error)))
    with pytest.raises(type(error)) as raised:
        await serve(flight, allowance=allowance)
    assert allowance.used == 3
    assert str(raised.value) == str(error)
    assert vars(raised.value) == vars(error)
    assert world.download.requests == []


async def test_failed_compilation_is_not_a_failed_object():
    """The caller gets the error of the compilation, and does not compile itself."""
    world = World({URL: Unusable("gone")})
    with pytest.raises(Unusable, match="gone"):
        await serve(remote(world))
    assert world.download.requests == [URL]
    assert "flight.alone" not in world.log.names()


async def test_list_comes_through_the_object():
    """The object compiles; a second call finds the list in the cache."""
    world = World()
    flight = remote(world)
    first, second = await serve(flight), await serve(flight)
    assert (first.origin, second.origin) == ("fresh", "cached")
    cached = await world.lists.serve(order(form="json"))
    assert second == cached
    assert first.file is not None
    assert cached.file is not None
    assert first.file.with_head(CACHED_HEAD) == cached.file
    assert world.download.requests == [URL]


async def test_unreachable_object():
    """If the object cannot be called, the caller compiles itself."""
    world = World()
    assert (await serve(remote(world, lambda _key: object()))).origin == "fresh"
    assert "flight.alone" in world.log.names()


async def test_list_too_large_for_a_call(monkeypatch):
    """A list that no call can carry is read from the cache; without a cache entry the error says when to retry."""
    monkeypatch.setattr(remote_single_flight, "MAX_CARRIED_BYTES", 10)
    world = World()
    served = await serve(remote(world))
    assert (served.origin, served.file is not None) == ("cached", True)
    world = World()

    async def refuse(*_arguments: Any, **_options: Any) -> None:
        raise Unavailable("KV is down")

    world.kv_fake.put = refuse  # type: ignore[method-assign]
    with pytest.raises(Unavailable, match="too large for one call"):
        await serve(remote(world))


async def test_summary_carries_no_list():
    """A caller who wants the summary gets no file."""
    world = World()
    assert (await serve(remote(world), "summary")).file is None


async def test_sweeper():
    """Arming sets the alarm once; an error of the object's storage reaches the caller as it is."""
    world, storage = World(), FakeStorage()
    sweeper = Sweeper(world.jobs, Alarm(storage), world.clock, IsolateLife())
    sweepers = connect_named(SweeperCalls, FakeObjects(lambda _name: Answering(SweeperCalls, sweeper)))
    for _ in range(2):
        await sweepers("jobs").arm()
    assert storage.alarm_ms == (world.clock.now() + INTERVAL_S) * 1000
    assert storage.operations.count(("alarm", "set")) == 1


async def test_sweep_follows_unfinished_jobs():
    """The alarm is set again while a job is unfinished or the sweeper was armed lately, and not after that."""
    world, storage = World(), FakeStorage()
    sweeper = Sweeper(world.jobs, Alarm(storage), world.clock, IsolateLife())
    await sweeper.arm()
    await sweeper.sweep()
    assert storage.alarm_ms == (world.clock.now() + INTERVAL_S) * 1000
    storage.alarm_ms = None
    world.clock.advance(INTERVAL_S)
    await sweeper.sweep()
    assert storage.alarm_ms is None


JOB = CompileMessage(request_id="j1", timestamp=1.0, configuration={"name": "T", "sources": [{"source": URL}]})


async def test_sweeper_that_was_not_armed():
    """One that the platform made anew for the alarm goes on while a job is unfinished, and sends the lost ones again."""
    world, storage = World(), FakeStorage()
    await world.jobs.accept(JOB)
    world.clock.advance(3600)
    await Sweeper(world.jobs, Alarm(storage), world.clock, IsolateLife()).sweep()
    assert storage.alarm_ms == (world.clock.now() + INTERVAL_S) * 1000
    assert [body["requestId"] for _, body in world.sent] == ["j1", "j1"]


async def test_sweep_that_fails_is_repeated():
    """The next alarm is set although the lost jobs could not be sent again."""
    world, storage = World(), FakeStorage()
    await world.jobs.accept(JOB)
    world.clock.advance(3600)
    world.d1_fake.fail_at(2, before=True)
    with pytest.raises(Crash):
        await Sweeper(world.jobs, Alarm(storage), world.clock, IsolateLife()).sweep()
    assert storage.alarm_ms == (world.clock.now() + INTERVAL_S) * 1000


async def test_sweeper_that_was_armed_waits_for_the_job():
    """The row of the job may be stored a little later: the alarm rings again until the interval is over."""
    world, storage = World(), FakeStorage()
    sweeper = Sweeper(world.jobs, Alarm(storage), world.clock, IsolateLife())
    await sweeper.arm()
    world.clock.advance(INTERVAL_S - 1)
    await sweeper.sweep()
    assert storage.alarm_ms == (world.clock.now() + INTERVAL_S) * 1000
    await world.jobs.accept(JOB)
    world.clock.advance(3600)
    await sweeper.sweep()
    assert len(world.sent) == 2


async def test_idle_sweeper_is_silent():
    """Over five idle minutes no alarm rings, although the platform makes the object anew for each."""
    world, storage = World(), FakeStorage()
    await Sweeper(world.jobs, Alarm(storage), world.clock, IsolateLife()).arm()
    rung = 0
    for _ in range(300):
        world.clock.advance(1)
        if storage.alarm_ms is not None and storage.alarm_ms <= world.clock.now() * 1000:
            storage.alarm_ms = None
            rung += 1
            await Sweeper(world.jobs, Alarm(storage), world.clock, IsolateLife()).sweep()
    assert rung == 1  # the one that was set before
    assert storage.alarm_ms is None
