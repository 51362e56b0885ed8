"""A clock that is set back: what the compiler has stored or remembers waits no longer than what begins now."""

import asyncio
from typing import Any

import pytest

from fakes.clock import ManualClock
from fakes.kv import FakeKV
from fakes.objects import FakeStorage
from sluice.core.errors import Unavailable
from sluice.platform.durable_objects import Alarm
from sluice.services.compiler.cache.list_cache import WORKFLOW_TTL_S, cache_key
from sluice.services.compiler.guard.idempotency import KEPT_S
from sluice.services.compiler.guard.rate_limit_window import decide
from sluice.services.compiler.jobs.job_store import LEASE_S
from sluice.services.compiler.jobs.queue_stats import MAX_INTERVAL_S, STATS_KEY
from sluice.services.compiler.jobs.sweeper import INTERVAL_S, IsolateLife, Sweeper
from sluice.services.compiler.limits.turns import MAX_AT_ONCE, MAX_DOWNLOAD_S, PATIENCE_S, TURN_S, CompilationTurns
from sluice.services.compiler.live.conversation import IDLE_TIMEOUT_S, Conversation
from sluice.services.compiler.published.builds.build_queue import LEASE_MS, MAX_WAIT_MS
from unit.services.compiler.listeners import ListLog
from unit.services.compiler.published.list_bench import ListBench, make_list
from unit.services.compiler.test_idempotency import JOBS, Jobs
from unit.services.compiler.test_jobs import deliver, message, state
from unit.services.compiler.test_turns import HeldClock, hold, let_others_look
from unit.services.compiler.world import World, configuration, order

DAY_S = 86_400.0
JUMPS = [1.0, 3600.0, DAY_S]
SOURCE = "https://lists.test/a.txt"


async def sweep(world: World, seconds: float, isolate: IsolateLife | None = None) -> None:
    """Let so much time pass, with a sweep each quarter of a minute."""
    for _ in range(int(seconds // INTERVAL_S) + 1):
        await Sweeper(world.jobs, Alarm(FakeStorage()), world.clock, isolate or IsolateLife()).sweep()
        world.clock.advance(INTERVAL_S)


@pytest.mark.parametrize("back_s", JUMPS)
async def test_lease_of_a_job(back_s: float):
    """A job whose attempt has died is free as soon as if it had been leased now."""
    world = World()
    await world.jobs.accept(message())
    assert await world.jobs.claim("j1") == 1
    world.clock.advance(-back_s)
    await sweep(world, LEASE_S + 2 * INTERVAL_S)
    assert len(world.sent) == 2
    await deliver(world, world.sent[-1][1])
    assert await state(world) == "completed"


@pytest.mark.parametrize("back_s", JUMPS)
async def test_lease_that_is_held(back_s: float):
    """An attempt that lives keeps its job through the jump."""
    world = World()
    await world.jobs.accept(message())
    assert await world.jobs.claim("j1") == 1
    world.clock.advance(-back_s)
    await sweep(world, 0)
    assert await world.jobs.claim("j1") is None
    assert await world.jobs.renew_lease("j1", 1)


@pytest.mark.parametrize("back_s", JUMPS)
@pytest.mark.parametrize("is_sent", [True, False])
async def test_message_of_a_job(back_s: float, is_sent: bool):
    """A message that was lost, or never sent, is sent again as if it had been sent now."""
    world = World()
    await world.jobs.accept(message())
    if not is_sent:
        await world.database.run("update compile_jobs set sent_ms = null, sends = 0")
    world.clock.advance(-back_s)
    await sweep(world, 120)
    assert len(world.sent) >= 2


@pytest.mark.parametrize("back_s", JUMPS)
async def test_waiting_messages_are_not_sent_each_minute(back_s: float):
    """The isolate has begun in the future: what it sent since counts as sent since then."""
    world, isolate = World(), IsolateLife()
    await world.jobs.accept(message())
    for _ in range(10):
        world.clock.advance(3601)
        await world.jobs.resend_lost(isolate.find_beginning(world.clock))
    world.clock.advance(-back_s)
    sends = len(world.sent)
    await sweep(world, 3000, isolate)
    assert len(world.sent) - sends <= 1


@pytest.mark.parametrize("back_s", JUMPS)
async def test_sweeper(back_s: float):
    """An alarm that lies far ahead is set anew by the next job, and nothing is swept while there is no job."""
    world, alarm = World(), Alarm(FakeStorage())
    sweeper = Sweeper(world.jobs, alarm, world.clock, IsolateLife())
    await sweeper.arm()
    world.clock.advance(-back_s)
    await sweeper.arm()
    at = await alarm.get()
    assert at is not None
    assert at <= world.clock.now() + INTERVAL_S
    world.clock.advance(DAY_S)
    await sweeper.arm()
    world.clock.advance(-back_s - INTERVAL_S)
    await alarm.delete()
    await sweeper.sweep()
    assert await alarm.get() is None


@pytest.mark.parametrize("back_s", JUMPS)
async def test_build_that_is_gone(back_s: float):
    """A build that has died, running or waiting, makes room for the next one as soon as if it had begun now."""
    bench = ListBench({SOURCE: make_list(3)})
    await bench.put("alpha", SOURCE)
    running = next(iter(bench.engine.instances))
    assert await bench.builds.claim("alpha", running)
    await bench.builds.add("alpha", "build-waiting")
    bench.clock.advance(-back_s)
    await bench.builds.add("alpha", "build-next")
    assert not await bench.builds.claim("alpha", "build-next")
    bench.clock.advance(max(LEASE_MS, MAX_WAIT_MS) / 1000 + 1)
    await bench.builds.add("alpha", "build-last")
    assert await bench.builds.claim("alpha", "build-last")


@pytest.mark.parametrize("back_s", JUMPS)
async def test_running_build_keeps_its_list(back_s: float):
    """A build that lives is not given up by the jump."""
    bench = ListBench({SOURCE: make_list(3)})
    await bench.put("alpha", SOURCE)
    running = next(iter(bench.engine.instances))
    assert await bench.builds.claim("alpha", running)
    bench.clock.advance(-back_s)
    await bench.builds.add("alpha", "build-next")
    assert not await bench.builds.claim("alpha", "build-next")
    await bench.builds.renew(running)


async def test_build_that_was_never_started():
    """The cron starts a build that has only its row, also one of the future."""
    bench = ListBench({SOURCE: make_list(3)})
    await bench.put("alpha", SOURCE)
    bench.engine.instances.clear()
    bench.clock.advance(-DAY_S)
    await bench.operator.run_due(round(bench.clock.now()) * 1000)
    assert len(bench.engine.instances) >= 1


@pytest.mark.parametrize("back_s", [0.0, *JUMPS])
async def test_schedule(back_s: float):
    """A scheduled build begins within the hour for which it was started."""
    bench = ListBench({SOURCE: make_list(3)})
    await bench.put("alpha", SOURCE, schedule="0 * * * *")
    await bench.run_all()
    scheduled_ms = round(bench.clock.now()) * 1000
    bench.clock.advance(-back_s)
    await bench.operator.run_due(scheduled_ms)
    [scheduled] = [each for each in bench.engine.instances.values() if each.id == f"build-{scheduled_ms}-alpha"]
    assert scheduled.params["waitS"] < 3600


@pytest.mark.parametrize("back_s", JUMPS)
async def test_idempotency_key(back_s: float):
    """A key protects its request for a day, and not for longer."""
    jobs = Jobs()
    path, body = JOBS[0]
    first = await jobs.post(path, body)
    jobs.clock.advance(-back_s)
    await jobs.open_api().keys.delete_expired()
    assert (await jobs.post(path, body)).body == first.body
    jobs.clock.advance(KEPT_S + 1)
    assert (await jobs.post(path, body)).body != first.body
    assert await jobs.count_jobs() == 2


@pytest.mark.parametrize("back_s", JUMPS)
def test_rate_limit(back_s: float):
    """A window that ends later than one that begins now is over."""
    now = 1_800_000_000.0
    assert decide((10, now + 60), now - back_s, 10, 60).allowed


async def test_place_among_compilations():
    """Who waits for a place hears after the usual time that there is none."""
    turns, clock = CompilationTurns(), HeldClock()
    holders = await hold(turns, clock, *(f"client {at}" for at in range(MAX_AT_ONCE)))
    clock.advance(TURN_S / 2)
    [waiting] = await hold(turns, clock, "other")
    clock.advance(-TURN_S / 4)
    await let_others_look()
    assert waiting.turn is None
    clock.advance(PATIENCE_S + 1)
    with pytest.raises(Unavailable):
        await waiting.task
    for holder in holders:
        await holder.end()


@pytest.mark.parametrize("back_s", JUMPS)
async def test_download_of_a_turn(back_s: float):
    """Slow sources have no more time than they would have from now on."""
    turns, clock = CompilationTurns(), ManualClock()
    async with turns.take(clock) as turn:
        clock.advance(-back_s)
        assert turn.abort_reason() == ""
        clock.advance(MAX_DOWNLOAD_S + 1)
        assert "took more than" in turn.abort_reason()


@pytest.mark.parametrize("back_s", JUMPS)
async def test_statistics_of_queues(back_s: float):
    """The statistics are published as often as ever."""
    world = World()
    publisher = world.service.queue_handler.publisher
    publisher.turn.due_at = world.clock.now() + MAX_INTERVAL_S
    world.clock.advance(-back_s)
    await publisher.publish()
    world.clock.advance(MAX_INTERVAL_S)
    await publisher.publish()
    assert await publisher.published.get_json(STATS_KEY)
    publisher.turn.due_at = 0.0


@pytest.mark.parametrize("back_s", JUMPS)
async def test_metrics_whose_flush_was_lost(back_s: float):
    """After the platform has ended a flush the next request schedules another one."""
    world = World()
    world.pending_metrics.flush_due_at = world.clock.now() + 5
    world.clock.advance(-back_s)
    world.clock.advance(300)
    world.count("jobs", "failed")
    due = world.pending_metrics.flush_due_at
    assert due is None or due > world.clock.now()


async def test_compiled_list():
    """A list that was compiled in the future counts as too old: nobody knows how old it is."""
    world, key = World(), cache_key(configuration())
    world.kv_fake = FakeKV(ManualClock())  # nobody sets the clock of KV back
    world.start()
    await world.lists.serve(order(form="text"))
    assert await world.cache.find_text(key)
    world.clock.advance(-2 * WORKFLOW_TTL_S)
    assert await world.cache.find_text(key) is None


class Silent:
    """A socket over which nothing comes."""

    def __init__(self) -> None:
        self.closed: list[int] = []

    def __aiter__(self) -> "Silent":
        return self

    async def __anext__(self) -> str:
        await asyncio.Event().wait()
        raise AssertionError

    async def send_text(self, text: str) -> None:
        """Drop it."""

    def close(self, code: int, _reason: str) -> None:
        self.closed.append(code)


@pytest.mark.parametrize("back_s", JUMPS)
async def test_idle_socket(back_s: float):
    """A socket over which nothing comes is closed after the usual time, and not at once."""
    unused: Any = None
    clock, socket = ManualClock(), Silent()
    talk = Conversation(
        socket, compile_list=unused, admit=unused, clock=clock, log=ListLog(), connection="ws", version="1",
        on_heartbeat=lambda: None,
    )  # fmt: skip
    clock.advance(-back_s)
    assert not talk._is_idle(clock.now())
    clock.advance(IDLE_TIMEOUT_S)
    assert talk._is_idle(clock.now())
