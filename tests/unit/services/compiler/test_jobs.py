"""No accepted job is lost or done twice, even after a crash."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from fakes.binding import Crash, JsError
from fakes.objects import FakeStorage
from sluice.core.errors import Invalid, NotAccepted, SluiceError, Unavailable, Unusable
from sluice.platform.durable_objects import Alarm
from sluice.services.compiler.cache.compile_order import CompileOrder
from sluice.services.compiler.cache.compiled_list import ListSummary
from sluice.services.compiler.jobs import consumer as consumer_module
from sluice.services.compiler.jobs import job_store as jobs_module
from sluice.services.compiler.jobs.consumer import QueueConsumer
from sluice.services.compiler.jobs.dead_letters import DeadLetterRecorder
from sluice.services.compiler.jobs.job_store import LEASE_S
from sluice.services.compiler.jobs.queue_messages import BatchMessage, CompileMessage
from sluice.services.compiler.jobs.queue_stats import QueueStats
from sluice.services.compiler.jobs.sweeper import IsolateLife, Sweeper
from sluice.services.compiler.requests import BatchItem
from sluice.web import Request
from unit.services.compiler.world import LIST, URL, World, configuration, order

CONFIGURATION = configuration().model_dump(mode="json", exclude_unset=True)


class Delivered:
    """A message as the queue delivers it; records how it was answered."""

    def __init__(self, body: Any, attempts: int = 1) -> None:
        self.id = "m1"
        self.body = body
        self.attempts = attempts
        self.answer: str | None = None
        self.delay_s: int | None = None

    def ack(self) -> None:
        self.answer = "ack"

    def retry(self, delay_s: int | None = None) -> None:
        self.answer, self.delay_s = "retry", delay_s


def consumer(world: World) -> QueueConsumer:
    return world.service.queue_handler.consumer


def dead_letters(world: World) -> DeadLetterRecorder:
    return world.service.queue_handler.dead_letters


def message(request_id: str = "j1", **more: Any) -> CompileMessage:
    return CompileMessage(request_id=request_id, timestamp=1.0, configuration=CONFIGURATION, **more)


async def deliver(world: World, body: Mapping[str, Any], attempts: int = 1) -> Delivered:
    delivered = Delivered(body, attempts)
    await consumer(world).consume([delivered])
    return delivered


async def state(world: World, request_id: str = "j1") -> str:
    job = await world.jobs.find(request_id)
    assert job
    return str(job.state)


async def test_job_completes():
    """Accepted, sent, completed; a second delivery changes nothing."""
    world = World()
    await world.jobs.accept(message())
    [(priority, body)] = world.sent
    assert (priority, body["type"]) == ("standard", "compile")
    assert (await deliver(world, body)).answer == "ack"
    assert await state(world) == "completed"
    assert (await deliver(world, body)).answer == "ack"
    assert world.download.requests == [URL]


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("binding", ["d1_fake", "kv_fake", "r2_fake"])
async def test_crash_at_every_operation(binding: str, before: bool):
    """After a crash at any operation, while accepting or running, the sweep completes the job."""
    for operation in range(1, 40):
        world = World()
        getattr(world, binding).fail_at(operation, before=before)
        accepted = crashed = False
        try:
            await world.jobs.accept(message())
            accepted = True
            for _, body in list(world.sent):
                await deliver(world, body)
        except Crash:
            crashed = True
        getattr(world, binding).fail_at(10**9, before=True)
        world.start()
        job = await world.jobs.find("j1")
        if job:
            await finish(world)
            assert await state(world) == "completed"
        else:
            assert not accepted
        if not crashed:
            return
    pytest.fail("there are more operations than were tried")


async def finish(world: World) -> None:
    """Sweep and deliver until no job is unfinished; what was sent before the crash is lost."""
    for _ in range(20):
        if not await world.jobs.has_unfinished():
            return
        world.sent.clear()
        world.clock.advance(LEASE_S + 3601)
        await world.jobs.resend_lost()
        for _, body in list(world.sent):
            await deliver(world, body)
    pytest.fail("the job never ends")


async def test_sweep_resends_only_lost_jobs():
    """A job that was just sent or is running is not resent; one without a lease renewal is."""
    world = World()
    await world.jobs.accept(message())
    await world.jobs.resend_lost()
    assert len(world.sent) == 1
    await world.jobs.claim("j1")
    world.clock.advance(LEASE_S - 1)
    assert await world.jobs.renew_lease("j1", 1)
    world.clock.advance(LEASE_S - 1)
    await world.jobs.resend_lost()
    assert len(world.sent) == 1
    world.clock.advance(2)
    await world.jobs.resend_lost()
    assert len(world.sent) == 2


async def test_resending_slows_down():
    """A slow queue is not flooded with copies: each wait is twice the last."""
    world = World()
    await world.jobs.accept(message())
    for _ in range(24 * 60):
        world.clock.advance(60)
        await world.jobs.resend_lost()
    assert 20 < len(world.sent) < 35


async def test_when_a_message_counts_as_lost():
    """After 30 seconds, then each time after twice as long, up to an hour; an earlier sweep sends nothing."""
    world = World()
    await world.jobs.accept(message())
    for sends, wait_s in enumerate((30, 60, 120, 240, 480, 960, 1920, 3600, 3600), 1):
        world.clock.advance(wait_s)
        await world.jobs.resend_lost()
        assert len(world.sent) == sends
        world.clock.advance(0.001)
        await world.jobs.resend_lost()
        assert len(world.sent) == sends + 1


async def accept_unsent(world: World, *names: str) -> None:
    """Accept jobs a millisecond apart while the queue is down."""

    async def broken(*_arguments: Any) -> None:
        raise Unavailable("the queue is down")

    send = world.jobs.send
    object.__setattr__(world.jobs, "send", broken)
    for name in names:
        await world.jobs.accept(message(name))
        world.clock.advance(0.001)
    object.__setattr__(world.jobs, "send", send)


async def test_unsent_message_gets_five_seconds():
    """The request that accepted a job may still be sending it: a sweep leaves it alone until five seconds have passed."""
    world = World()
    await accept_unsent(world, "j1")
    world.clock.advance(4.999)
    await world.jobs.resend_lost()
    assert world.sent == []
    world.clock.advance(0.001)
    await world.jobs.resend_lost()
    assert [body["requestId"] for _, body in world.sent] == ["j1"]


async def test_sweep_sends_the_oldest_first():
    """One sweep sends 50 messages, the oldest first, and the next one the rest."""
    world = World()
    names = [f"j{number:02}" for number in range(60)]
    await accept_unsent(world, *names)
    world.clock.advance(6)
    await world.jobs.resend_lost()
    assert [body["requestId"] for _, body in world.sent] == names[:50]
    await world.jobs.resend_lost()
    assert [body["requestId"] for _, body in world.sent] == names


async def test_only_a_job_whose_lease_ended_is_put_back():
    """It waits in the queue again and is sent once; the job whose lease lasts goes on."""
    world = World()
    await world.jobs.accept(message("stalled"))
    await world.jobs.accept(message("running"))
    await world.jobs.claim("stalled")
    world.clock.advance(LEASE_S - 1)
    await world.jobs.claim("running")
    world.clock.advance(2)
    for _ in range(2):
        await world.jobs.resend_lost()
        assert [body["requestId"] for _, body in world.sent] == ["stalled", "running", "stalled"]
        assert [await state(world, "stalled"), await state(world, "running")] == ["queued", "running"]


async def test_what_becomes_of_one_job():
    """A retry, an end, a lease and a cancellation concern one job alone, and the attempt that holds it."""
    world = World()
    names = ("retried", "done", "cancelled", "bystander")
    for name in names:
        await world.jobs.accept(message(name))
        assert await world.jobs.claim(name) == 1
    world.clock.advance(LEASE_S - 1)
    assert await world.jobs.renew_lease("done", 1)
    assert not await world.jobs.renew_lease("done", 2)
    await world.jobs.release("retried", 2, "down", 0)
    assert await state(world, "retried") == "running"
    await world.jobs.release("retried", 1, "down", 0)
    assert not await world.jobs.complete("done", 2, duration_ms=1)
    assert await world.jobs.complete("done", 1, duration_ms=1)
    assert await world.jobs.cancel("cancelled")
    assert [await state(world, name) for name in names] == ["queued", "completed", "cancelled", "running"]
    world.clock.advance(2)
    assert await world.jobs.claim("bystander") == 2, "nobody has renewed its lease"


async def test_job_is_queued_before_it_is_sent_again():
    """A row first, a message second, as with a new job."""
    world = World()
    await world.jobs.accept(message())
    await world.jobs.claim("j1")
    world.clock.advance(LEASE_S + 1)
    seen: list[str] = []

    async def look(*_arguments: Any) -> None:
        seen.append(await state(world))

    object.__setattr__(world.jobs, "send", look)
    await world.jobs.resend_lost()
    assert seen == ["queued"]


async def test_job_that_is_claimed_while_the_sweep_looks():
    """An attempt that begins after the sweep has read the jobs keeps its lease."""
    world = World()
    await world.jobs.accept(message())
    await world.jobs.claim("j1")
    world.clock.advance(LEASE_S + 1)
    read = world.database.batch

    async def read_and_claim(*arguments: Any) -> Any:
        object.__setattr__(world.database, "batch", read)
        rows = await read(*arguments)
        assert await world.jobs.claim("j1") == 2
        return rows

    object.__setattr__(world.database, "batch", read_and_claim)
    await world.jobs.resend_lost()
    assert await state(world) == "running"
    assert await world.jobs.renew_lease("j1", 2)


async def test_nothing_is_stored_before_the_sweeper_is_armed(monkeypatch: pytest.MonkeyPatch):
    """If the sweep cannot be made sure of, the job is not accepted, and its content is not stored."""
    monkeypatch.setattr(jobs_module, "MAX_MESSAGE_BYTES", 200)
    world = World()

    async def refuse() -> None:
        raise Unavailable("the object is away")

    object.__setattr__(world.jobs, "arm_sweeper", refuse)
    with pytest.raises(NotAccepted):
        await world.jobs.accept(message(pre_fetched_content={URL: "||own.example^\n" * 100}), is_repeatable=True)
    assert [found.key async for found in world.bucket.objects()] == []
    assert await world.jobs.find("j1") is None


async def test_job_without_an_id():
    """It could not be found again, so it is refused."""
    world = World()
    with pytest.raises(SluiceError, match="without an id"):
        await world.jobs.accept(message().model_copy(update={"request_id": None}))
    assert not await world.jobs.has_unfinished()


async def test_jobs_are_deleted_a_week_after_their_end():
    """Not a moment earlier, and a job that waits is never deleted."""
    world = World()
    await world.jobs.accept(message("waiting"))
    await world.jobs.accept(message("over"))
    await world.jobs.cancel("over")
    world.clock.advance(7 * 24 * 3600)
    await world.jobs.delete_expired()
    assert await state(world, "over") == "cancelled"
    world.clock.advance(0.001)
    await world.jobs.delete_expired()
    assert await world.jobs.find("over") is None
    assert await state(world, "waiting") == "queued"


async def test_restart_resends_soon():
    """A message that was sent often, and lost when the process was restarted, is sent again after a minute, and once."""
    world = World()
    await world.jobs.accept(message())
    for _ in range(10):
        world.clock.advance(3601)
        await world.jobs.resend_lost()
    sends = len(world.sent)
    isolate = IsolateLife()
    for seconds, expected in ((0, 0), (59, 0), (2, 1), (30, 1), (600, 1)):
        world.clock.advance(seconds)
        await Sweeper(world.jobs, Alarm(FakeStorage()), world.clock, isolate).sweep()
        assert len(world.sent) - sends == expected, "a message that is only late is not sent again and again"
    assert (await deliver(world, world.sent[-1][1])).answer == "ack"
    assert (await deliver(world, world.sent[0][1])).answer == "ack"
    assert world.download.requests == [URL]


async def test_restart_while_a_retry_waits():
    """The retry of a failed attempt is due a moment after the restart: it counts as sent before it."""
    world = World()
    await world.jobs.accept(message())
    for _ in range(10):
        world.clock.advance(3601)
        await world.jobs.resend_lost()
    assert await world.jobs.claim("j1") == 1
    await world.jobs.release("j1", 1, "down", 32)
    sends, isolate = len(world.sent), IsolateLife()
    for seconds, expected in ((0, 0), (60, 0), (33, 1), (600, 1)):
        world.clock.advance(seconds)
        await Sweeper(world.jobs, Alarm(FakeStorage()), world.clock, isolate).sweep()
        assert len(world.sent) - sends == expected


async def test_retries_then_dead_letter():
    """A failure is retried after 2, 4, 8 and 16 s; after the last retry the job is failed with its last error."""
    world = World({URL: [Unavailable(f"down {n}") for n in range(100)]})
    await world.jobs.accept(message())
    [(_, body)] = world.sent
    delays = [(await deliver(world, body, attempts)).delay_s for attempts in (1, 2, 3, 4, 5)]
    assert delays == [2, 4, 8, 16, 32]
    letter = Delivered(body)
    await dead_letters(world).record([letter])
    job = await world.jobs.find("j1")
    assert job
    assert (letter.answer, job.state, job.attempts) == ("ack", "failed", 5)
    assert "down" in str(job.error)
    assert await letters(world) == {("j1", ""): job.error}
    assert world.counts["jobs", "failed"] == 1


async def test_job_that_fails_however_often_it_is_sent_again():
    """A message may be delivered more often than the queue's own retries: the sixth attempt is the last one."""
    world = World({URL: [Unavailable(f"down {n}") for n in range(100)]})
    await world.jobs.accept(message())
    [(_, body)] = world.sent
    answers = [(await deliver(world, body)).answer for _ in range(6)]
    assert answers == ["retry"] * 5 + ["ack"]
    assert await state(world) == "failed"
    [letter] = await world.dead_letters.load_newest()
    assert (letter.request_id, letter.item_id, letter.attempts) == ("j1", "", 6)
    assert "down" in letter.reason
    assert world.counts["jobs", "failed"] == 1
    assert (await deliver(world, body)).answer == "ack"
    assert len(await world.dead_letters.load_newest()) == 1


async def test_hopeless_job_fails_at_once():
    """A job that cannot succeed is not retried."""
    world = World()
    await world.jobs.accept(message().model_copy(update={"configuration": {"name": "T"}}))
    [(_, body)] = world.sent
    assert (await deliver(world, body)).answer == "ack"
    job = await world.jobs.find("j1")
    assert job
    assert (job.state, job.error) == ("failed", "sources is required")


async def test_cancelled_job_does_not_run():
    """A job that is cancelled while queued never runs; cancelling a finished job changes nothing."""
    world = World()
    await world.jobs.accept(message())
    assert await world.jobs.cancel("j1")
    assert not await world.jobs.cancel("j1")
    assert (await deliver(world, world.sent[0][1])).answer == "ack"
    assert world.download.requests == []
    assert await state(world) == "cancelled"


async def test_cancelled_while_running():
    """The result of a job that is cancelled while it runs is not recorded."""
    world = World()
    await world.jobs.accept(message())
    await world.jobs.claim("j1")
    await world.jobs.cancel("j1")
    assert not await world.jobs.renew_lease("j1", 1)
    assert not await world.jobs.complete("j1", 1, duration_ms=1)
    assert await state(world) == "cancelled"


class Stalled:
    """A compilation that stands still until the test lets it go on, as in an isolate that was stopped for a while."""

    def __init__(self, *outcomes: Exception | None) -> None:
        self.outcomes = list(outcomes)
        self.begun: asyncio.Queue[asyncio.Event] = asyncio.Queue()

    async def __call__(self, _order: CompileOrder) -> ListSummary:
        outcome, go_on = self.outcomes.pop(0), asyncio.Event()
        self.begun.put_nowait(go_on)
        await go_on.wait()
        if outcome:
            raise outcome
        return ListSummary(
            cache_key="cache:j1", name="T", rule_count=2, source_count=1, compiled_at="2027", duration_ms=3
        )


LATE_ENDS = [None, Unusable("gone"), Unavailable("down")]


@pytest.mark.parametrize("late", LATE_ENDS, ids=["success", "failure", "retry"])
async def test_late_attempt_changes_nothing(late: Exception | None):
    """Attempt 1 stalls past its lease and ends while attempt 2 runs: attempt 2 keeps its lease, and settles the job alone."""
    world = World()
    await world.jobs.accept(message())
    [(_, body)] = world.sent
    compile_list = Stalled(late, None)
    worker = replace(consumer(world), compile=compile_list)
    deliveries = [Delivered(body), Delivered(body)]
    first = asyncio.ensure_future(worker.consume(deliveries[:1]))
    first_goes_on = await compile_list.begun.get()
    world.clock.advance(LEASE_S + 1)
    await world.jobs.resend_lost()
    second = asyncio.ensure_future(worker.consume(deliveries[1:]))
    second_goes_on = await compile_list.begun.get()
    before = await world.database.all("select * from compile_jobs")

    first_goes_on.set()
    outcomes = await first
    assert list(outcomes) == (["retried"] if late is LATE_ENDS[2] else ["skipped"])
    assert await world.database.all("select * from compile_jobs") == before
    assert await world.dead_letters.load_newest() == []
    assert not [name for name in world.counts if name[0] == "jobs"]

    second_goes_on.set()
    assert list(await second) == ["acked"]
    assert await state(world) == "completed"
    assert [world.counts["jobs", name] for name in ("completed", "failed", "cancelled")] == [1, 0, 0]


async def test_stalled_attempt_that_nobody_replaced_counts():
    """An attempt that outlived its lease settles the job, if no other was claimed since."""
    world = World()
    await world.jobs.accept(message())
    attempt = await world.jobs.claim("j1")
    assert attempt == 1
    world.clock.advance(LEASE_S + 1)
    await world.jobs.resend_lost()
    assert await world.jobs.complete("j1", attempt, duration_ms=1)
    assert await world.jobs.claim("j1") is None


async def test_lost_lease_ends_the_work(monkeypatch: pytest.MonkeyPatch):
    """An attempt that sees that another one holds the job stops."""
    monkeypatch.setattr(consumer_module, "LEASE_S", 0)
    world = World()
    await world.jobs.accept(message())
    [(_, body)] = world.sent
    compile_list = Stalled(None)
    delivered = Delivered(body)
    running = asyncio.ensure_future(replace(consumer(world), compile=compile_list).consume([delivered]))
    await compile_list.begun.get()
    world.clock.advance(LEASE_S + 1)
    assert await world.jobs.claim("j1") == 2
    assert list(await running) == ["skipped"]
    assert delivered.answer == "ack"


async def test_given_up_message_leaves_a_running_attempt_alone():
    """The dead letter of one message of a job does not end the attempt that another message has started."""
    world = World()
    await world.jobs.accept(message())
    [(_, body)] = world.sent
    await world.jobs.claim("j1")
    await dead_letters(world).record([Delivered(body)])
    assert (await state(world), await world.dead_letters.load_newest()) == ("running", [])
    world.clock.advance(LEASE_S + 1)
    await dead_letters(world).record([Delivered(body)])
    assert await state(world) == "failed"
    assert len(await world.dead_letters.load_newest()) == 1


async def test_batch_retries_only_failed_items():
    """Of three items one fails and one is invalid: the retry compiles the failed one alone."""
    other = "https://lists.example/b"
    world = World({URL: LIST, other: [Unavailable("down")] * 4 + [LIST]})
    items = [
        BatchItem(id="good", configuration=CONFIGURATION),
        BatchItem(id="late", configuration=configuration(other).model_dump(mode="json", exclude_unset=True)),
        BatchItem(id="bad", configuration={"name": 7}),
    ]
    await world.jobs.accept(BatchMessage(request_id="b1", requests=items))
    [(_, body)] = world.sent
    assert (await deliver(world, body)).answer == "retry"
    assert (await deliver(world, body, 2)).answer == "ack"
    assert world.download.requests.count(URL) == 1
    outcomes = await world.items.load_outcomes("b1")
    assert {name: outcome.success for name, outcome in outcomes.items()} == {"good": True, "late": True, "bad": False}
    assert await state(world, "b1") == "completed"


async def test_warming_message():
    """A message with configurations to warm needs no row: one is stored for it."""
    world = World()
    body = {"type": "cache-warm", "configurations": [CONFIGURATION]}
    assert (await deliver(world, body)).answer == "ack"
    assert await state(world, "message-m1") == "completed"
    assert (await world.lists.serve(order())).origin == "cached"


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ({"type": "fold"}, "unknown"),
        ({"type": "compile", "configuration": 5}, "malformed"),
        ("text", "malformed"),
        ({}, "malformed"),
        (None, "malformed"),
    ],
    ids=str,
)
async def test_nonsense_is_acknowledged(body: Any, outcome: str):
    """Otherwise the queue would deliver it again until the last retry."""
    world = World()
    assert (await deliver(world, body)).answer == "ack"
    assert world.counts["queue_messages", outcome] == 1


async def test_large_message_goes_by_key(monkeypatch):
    """Its content is in R2, and the job runs from there."""
    monkeypatch.setattr(jobs_module, "MAX_MESSAGE_BYTES", 200)
    world = World({})
    large = message(pre_fetched_content={URL: "||own.example^\n" * 100})
    await world.jobs.accept(large)
    [(_, body)] = world.sent
    assert set(body) == {"type", "requestId", "timestamp", "contentKey"}
    assert (await deliver(world, body)).answer == "ack"
    assert await state(world) == "completed"


async def test_job_that_is_not_stored_is_not_accepted():
    """With a full disk the caller gets a 503, and nothing stays in R2 or waits."""
    world = World()
    world.d1_fake.failure = JsError("D1_ERROR: database or disk is full: SQLITE_FULL")
    with pytest.raises(NotAccepted):
        await world.jobs.accept(message())
    assert world.sent == []


async def test_sending_fails():
    """A queue that is down does not fail the request: the sweep sends the message."""
    world = World()

    async def broken(*_arguments: Any) -> None:
        raise Unavailable("the queue is down")

    send = world.jobs.send
    object.__setattr__(world.jobs, "send", broken)
    await world.jobs.accept(message())
    object.__setattr__(world.jobs, "send", send)
    world.clock.advance(10)
    await world.jobs.resend_lost()
    assert len(world.sent) == 1


async def test_job_that_can_never_be_sent():
    """A message that no queue accepts fails, and those behind it are still sent."""
    world = World()
    take = world.jobs.send

    async def refuse(*arguments: Any) -> None:
        if arguments[1]["requestId"] == "poison":
            raise Invalid("message.configuration is too odd")
        raise Unavailable("the queue is down")

    object.__setattr__(world.jobs, "send", refuse)
    await world.jobs.accept(message("poison"))
    await world.jobs.accept(message("j1"))
    world.clock.advance(10)
    await world.jobs.resend_lost()
    assert [await state(world, "poison"), await state(world)] == ["failed", "queued"]
    object.__setattr__(world.jobs, "send", take)
    await world.jobs.resend_lost()
    assert [body["requestId"] for _, body in world.sent] == ["j1"]


async def test_statistics():
    """Counted from the jobs: states, times, depth after each change."""
    world = World()
    await world.jobs.accept(message("j1"))
    world.clock.advance(1)
    await world.jobs.accept(message("j2"))
    await deliver(world, world.sent[0][1])
    stats = QueueStats(database=world.database, clock=world.clock)
    counts = await stats.load_counts()
    assert (counts["pending"], counts["completed"], counts["enqueued"]) == (1, 1, 2)
    assert counts["processingRate"] == 1
    assert [job["status"] for job in await stats.load_history()] in (["completed", "queued"], ["queued", "completed"])
    assert not {"requestId", "configName", "cacheKey", "error"} & {
        name for job in await stats.load_history() for name in job
    }
    assert sorted(job["requestId"] for job in await stats.load_named_history()) == ["j1", "j2"], "for the operator"
    assert [moment["depth"] for moment in await stats.load_depths()][-1] == 1


async def letters(world: World) -> dict[tuple[str, str], str]:
    """Return the reason of each dead letter, by its job and its item."""
    return {(letter.request_id, letter.item_id): letter.reason for letter in await world.dead_letters.load_newest()}


async def test_statistics_of_the_last_day():
    """Times are those of completed jobs, the lag that of the oldest waiting one, the rate that of the last minute."""
    world = World()
    stats = QueueStats(database=world.database, clock=world.clock)

    async def run_job(name: str, duration_ms: int) -> None:
        await world.jobs.accept(message(name))
        attempt = await world.jobs.claim(name)
        assert attempt
        assert await world.jobs.complete(name, attempt, duration_ms=duration_ms)

    await run_job("yesterday", 9000)
    world.clock.advance(24 * 3600 - 300)
    await run_job("early", 1000)
    await world.jobs.accept(message("waits"))
    await world.jobs.accept(message("failed"))
    await world.jobs.finish("failed", [world.jobs.fail("failed", None, "down", 700)])
    world.clock.advance(240)
    await run_job("late", 2000)
    await world.jobs.accept(message("waits too"))
    world.clock.advance(60)
    counts = await stats.load_counts()
    assert (counts["completed"], counts["failed"], counts["pending"], counts["enqueued"]) == (2, 1, 2, 5)
    assert (counts["totalProcessingTime"], counts["averageProcessingTime"]) == (3000, 1500)
    assert (counts["processingRate"], counts["queueLag"]) == (0, 300_000)
    history = [job["requestId"] for job in await stats.load_named_history()]
    assert (set(history[:2]), history[-1]) == ({"late", "waits too"}, "yesterday")


async def test_depth_after_each_change():
    """Each change has its time and how many jobs were unfinished then; of many, the last hundred."""
    world = World()
    stats = QueueStats(database=world.database, clock=world.clock)
    began_ms = round(world.clock.now() * 1000)
    for name in ("j1", "j2"):
        await world.jobs.accept(message(name))
        world.clock.advance(1)
    await world.jobs.cancel("j1")
    depths = [(change["timestamp"] - began_ms, change["depth"]) for change in await stats.load_depths()]
    assert depths == [(0, 1), (1000, 2), (2000, 1)]
    for number in range(120):
        world.clock.advance(1)
        await world.jobs.accept(message(f"more{number}"))
    depths = [(change["timestamp"] - began_ms, change["depth"]) for change in await stats.load_depths()]
    assert depths == [(2000 + 1000 * number, 1 + number) for number in range(21, 121)]


async def test_newest_dead_letters_come_first():
    """The operator sees what failed last at the top."""
    world = World({URL: Unusable("gone")})
    for name in ("b", "a", "c"):
        await world.jobs.accept(message(name))
        await deliver(world, world.sent[-1][1])
        world.clock.advance(1)
    assert [letter.request_id for letter in await world.dead_letters.load_newest()] == ["c", "a", "b"]


async def test_permanent_failure_is_a_dead_letter():
    """A source that is missing is asked once, and the job stands among the dead letters with its reason."""
    world = World({URL: Unusable("Status 404")})
    await world.jobs.accept(message())
    [(_, body)] = world.sent
    assert (await deliver(world, body)).answer == "ack"
    assert (world.download.requests, await state(world)) == ([URL], "failed")
    assert await letters(world) == {("j1", ""): f"Source {URL}: Status 404"}
    assert [name for name in world.log.names() if name == "queue.dead_letter"] == ["queue.dead_letter"]


async def test_permanent_failures_of_items_are_dead_letters():
    """Items of a batch are treated as single jobs: the missing and the invalid one are dead letters, tried once."""
    missing, late = "https://lists.example/b", "https://lists.example/c"
    world = World({URL: LIST, missing: Unusable("Status 404"), late: [Unavailable("down")] * 4 + [LIST]})
    items = [
        BatchItem(id="good", configuration=CONFIGURATION),
        BatchItem(id="missing", configuration=configuration(missing).model_dump(mode="json", exclude_unset=True)),
        BatchItem(id="late", configuration=configuration(late).model_dump(mode="json", exclude_unset=True)),
        BatchItem(id="bad", configuration={"name": "T"}),
    ]
    await world.jobs.accept(BatchMessage(request_id="b1", requests=items))
    [(_, body)] = world.sent
    assert (await deliver(world, body)).answer == "retry"
    expected = {("b1", "missing"): f"Source {missing}: Status 404", ("b1", "bad"): "sources is required"}
    assert await letters(world) == expected
    assert (await deliver(world, body, 2)).answer == "ack"
    assert (await letters(world), await state(world, "b1")) == (expected, "failed")
    assert world.download.requests.count(missing) == 1
    assert world.log.names().count("queue.dead_letter") == 2


async def test_given_up_batch_leaves_a_letter_for_each_item():
    """After the last retry every failed item is a dead letter with its own last error."""
    world = World({URL: [Unavailable("down")] * 100})
    items = [BatchItem(id=name, configuration=CONFIGURATION) for name in ("one", "two")]
    await world.jobs.accept(BatchMessage(request_id="b1", requests=items))
    [(_, body)] = world.sent
    await deliver(world, body)
    for _ in range(2):
        await dead_letters(world).record([Delivered(body)])
    assert await letters(world) == {("b1", name): f"Source {URL}: down" for name in ("one", "two")}


async def test_letters_of_one_batch():
    """The failed items of a batch are its own letters; another batch that still waits for its retry has none."""
    missing = "https://lists.example/b"
    world = World({URL: [Unavailable("down")] * 100, missing: Unusable("Status 404")})
    late = BatchItem(id="late", configuration=CONFIGURATION)
    bad = BatchItem(id="bad", configuration=configuration(missing).model_dump(mode="json", exclude_unset=True))
    await world.jobs.accept(BatchMessage(request_id="waits", requests=[late]))
    await world.jobs.accept(BatchMessage(request_id="ends", requests=[late, bad]))
    for _, body in list(world.sent):
        assert (await deliver(world, body)).answer == "retry"
    assert set(await letters(world)) == {("ends", "bad")}
    await dead_letters(world).record([Delivered(world.sent[1][1])])
    assert set(await letters(world)) == {("ends", "bad"), ("ends", "late")}
    assert [await state(world, "waits"), await state(world, "ends")] == ["queued", "failed"]


async def test_single_job_beside_a_failed_batch():
    """A job whose list fails has a letter of its own, whatever failed before."""
    missing = "https://lists.example/b"
    world = World({missing: Unusable("Status 404"), URL: LIST})
    bad = configuration(missing).model_dump(mode="json", exclude_unset=True)
    await world.jobs.accept(BatchMessage(request_id="b1", requests=[BatchItem(id="bad", configuration=bad)]))
    await world.jobs.accept(message("j1").model_copy(update={"configuration": bad}))
    for _, body in list(world.sent):
        await deliver(world, body)
    assert set(await letters(world)) == {("b1", "bad"), ("j1", "")}


async def test_chunks_in_the_log():
    """A batch of four is logged as chunks of three: each begins once, and ends with the number of its lists that succeeded."""
    missing = "https://lists.example/b"
    world = World({URL: LIST, missing: Unusable("Status 404")})
    bad = configuration(missing).model_dump(mode="json", exclude_unset=True)
    items = [BatchItem(id=str(at), configuration=bad if at == 1 else CONFIGURATION) for at in range(4)]
    await world.jobs.accept(BatchMessage(request_id="b1", requests=items))
    await deliver(world, world.sent[0][1])
    chunks = [(name, fields) for name, fields in world.log.events if name.startswith("batch.chunk")]
    assert sorted((name, fields["chunk"], fields.get("successful")) for name, fields in chunks) == [
        ("batch.chunk", "1/2", None),
        ("batch.chunk", "2/2", None),
        ("batch.chunk_done", "1/2", "2/3"),
        ("batch.chunk_done", "2/2", "1/1"),
    ]


async def test_dead_letters_end():
    """They are deleted after a week, and so is what was spent."""
    world = World({URL: [Unavailable("down")] * 4 + [Unusable("gone")]})
    await world.jobs.accept(message())
    [(_, body)] = world.sent
    await deliver(world, body)
    await deliver(world, body, 2)
    assert await letters(world)
    world.clock.advance(8 * 24 * 3600)
    await world.dead_letters.delete_expired()
    await world.spent.delete_expired()
    assert (await letters(world), await world.spent.load("j1")) == ({}, {})


@pytest.mark.parametrize("in_batch", [False, True], ids=["job", "item"])
async def test_all_attempts_share_the_fetches(in_batch: bool):
    """A list of 40 good sources and a failing one is tried again, but never with more than 100 fetches in all."""
    good = {f"https://lists.example/{number}": LIST for number in range(40)}
    world = World({**good, URL: Unavailable("down")})
    sent = configuration(*good, URL).model_dump(mode="json", exclude_unset=True)
    job = message().model_copy(update={"configuration": sent})
    batch = BatchMessage(request_id="j1", requests=[BatchItem(id="a", configuration=sent)])
    await world.jobs.accept(batch if in_batch else job)
    [(_, body)] = world.sent
    answers = [(await deliver(world, body, attempts)).answer for attempts in range(1, 6)]
    assert answers[:2] == ["retry", "retry"]
    assert 88 <= len(world.download.requests) <= 100
    assert await state(world) == "failed"
    assert "fetches, with includes, redirects and retries" in str(await letters(world))


async def test_benchmark_of_an_item():
    """An item with `benchmark` is compiled anew, and its list has the figures."""
    world = World()
    await world.lists.serve(order())
    await world.jobs.accept(
        BatchMessage(request_id="b1", requests=[BatchItem(id="a", configuration=CONFIGURATION, benchmark=True)])
    )
    await deliver(world, world.sent[0][1])
    [outcome] = (await world.items.load_outcomes("b1")).values()
    reply = await world.cache.find_reply(str(outcome.cache_key))
    assert reply
    assert b'"metrics"' in b"".join(reply.inflate_chunks())
    assert world.download.requests == [URL, URL]


SECRET = "dear reader this secret sentence is no list at all and goes on for a while"


async def stored_text(world: World) -> str:
    """Return all that the service has stored, as one text."""
    tables = await world.database.all("select name from sqlite_master where type = 'table' and name not like 'sqlite%'")
    rows = [await world.database.all(f"select * from {table['name']!s}") for table in tables]  # noqa: S608 - own tables
    objects = [await world.bucket.get_bytes(found.key) async for found in world.bucket.objects()]
    keys = await world.kv_fake.list({})
    values = [await world.kv_fake.get(key["name"], "text") for key in keys["keys"]]
    return repr((rows, objects, values))


@pytest.mark.parametrize("large", [False, True], ids=["inline", "in R2"])
@pytest.mark.parametrize("text", [f"{SECRET}\n" * 20, f"!#if ({SECRET}\n||a.example^\n"], ids=["prose", "directive"])
async def test_content_of_a_failed_job_ends_with_it(monkeypatch, text: str, large: bool):
    """Nothing that the caller sent is stored after its job is deleted, not even as a quotation in an error."""
    if large:
        monkeypatch.setattr(jobs_module, "MAX_MESSAGE_BYTES", 200)
    world = World({})
    await world.jobs.accept(message(pre_fetched_content={URL: text}))
    await deliver(world, world.sent[0][1])
    assert await state(world) == "failed"
    world.clock.advance(8 * 24 * 3600)
    for store in (world.jobs, world.dead_letters, world.spent, world.service.records, world.items):
        await store.delete_expired()
    assert SECRET[:20] not in await stored_text(world)


async def test_content_of_a_job_that_was_not_accepted_is_deleted(monkeypatch):
    """If the row cannot be stored, neither is what the caller has sent."""
    monkeypatch.setattr(jobs_module, "MAX_MESSAGE_BYTES", 200)
    monkeypatch.setattr(jobs_module, "_INSERT", "insert into nowhere values (?, ?, ?, ?, ?, ?)")
    world = World({})
    with pytest.raises(SluiceError):
        await world.jobs.accept(message(pre_fetched_content={URL: f"{SECRET}\n" * 20}))
    assert [found.key async for found in world.bucket.objects()] == []


async def test_dead_letters_are_the_operators():
    """They hold what callers have sent: without the token nothing is even read."""
    world = World({URL: Unusable("gone")})
    await world.jobs.accept(message())
    await deliver(world, world.sent[0][1])
    before = len(world.d1_fake.operations)
    with pytest.raises(SluiceError) as refusal:
        await world.service.queue_api.show_dead_letters(Request("GET", "https://sluice.example/queue/dead-letters"))
    assert refusal.value.status in {401, 403}
    assert len(world.d1_fake.operations) == before
