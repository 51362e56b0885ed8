"""Workflow instances by id, and steps whose failures keep their meaning."""

import pytest

from fakes.binding import Crash, JsError
from fakes.workflows import FakeStep, FakeWorkflows, NonRetryableError
from sluice.core.errors import (
    BadField,
    Conflict,
    Invalid,
    NotAccepted,
    NotFound,
    SluiceError,
    TimedOut,
    TooLarge,
    TooManyRequests,
    Unavailable,
)
from sluice.platform.workflows import InstanceStatus, Steps, Workflows

POLICY = {"retries": 2, "delay_s": 30, "backoff": "exponential", "timeout_s": 60.5}


class Work:
    """Counts how often it is done, and fails the first times."""

    def __init__(self, result: object, *failures: Exception) -> None:
        self.result = result
        self.failures = list(failures)
        self.times = 0

    async def __call__(self) -> object:
        self.times += 1
        if self.failures:
            raise self.failures.pop(0)
        return self.result


async def do(work: Work, step: FakeStep | None = None, name: str = "step") -> object:
    return await Steps(step or FakeStep(), NonRetryableError).do(name, work, **POLICY)  # type: ignore[arg-type]


async def test_result_is_plain():
    """A step gives what the work returned."""
    assert await do(Work({"a": [1, None]})) == {"a": [1, None]}


async def test_policy_is_passed_on():
    """Retries, delay, backoff and timeout reach the engine in its own words, in milliseconds."""
    step = FakeStep()
    await do(Work(1), step)
    retries = {"limit": 2, "delay": 30_000, "backoff": "exponential"}
    assert step.configs == {"step": {"retries": retries, "timeout": 60_500}}


async def test_retryable_failure_is_tried_again():
    """An outage is tried again."""
    work = Work("up", Unavailable("down"), Unavailable("down"))
    assert await do(work) == "up"
    assert work.times == 3


async def test_last_failure_is_raised_as_it_was():
    """After the last try the error of the work is raised, not a foreign error with its traceback."""
    with pytest.raises(Unavailable, match=r"^origin: down$"):
        await do(Work(0, *[Unavailable("origin: down")] * 3))


async def test_final_failure_is_not_tried_again():
    """An error that is not retryable ends the retries at once and keeps its type and message."""
    work = Work(0, Invalid("bad: value\nin line 2"))
    with pytest.raises(Invalid, match=r"^bad: value\nin line 2$"):
        await do(work)
    assert work.times == 1


async def test_failures_keep_their_details():
    """The Retry-After of a retryable error and the fields of a final one survive the step."""
    with pytest.raises(TooManyRequests) as throttled:
        await do(Work(0, *[TooManyRequests("later", 17)] * 3))
    assert throttled.value.retry_after_s == 17
    with pytest.raises(Invalid) as invalid:
        await do(Work(0, Invalid("bad", [BadField("sources[2].url", "is not a URL")])))
    assert invalid.value.fields == (BadField("sources[2].url", "is not a URL"),)


@pytest.mark.parametrize(
    ("result", "kind"),
    [((1, 2), Invalid), ([(1,)], Invalid), (bytearray(), Invalid), (b"", Invalid), ("x" * 2**20, TooLarge)],
    ids=["tuple", "nested tuple", "bytearray", "bytes", "over 1 MiB"],
)
async def test_result_that_cannot_be_kept_is_refused(result, kind):
    """A result that the engine cannot store is refused and not retried."""
    work = Work(result)
    with pytest.raises(kind, match="result of step 'step'"):
        await do(work)
    assert work.times == 1


async def test_bug_is_no_error_of_ours():
    """An error that is not in the tree stays foreign, so that nobody handles it as an outage."""
    with pytest.raises(JsError, match="ZeroDivisionError"):
        await do(Work(0, *[ZeroDivisionError()] * 3))


class Engine:
    """A step whose engine raises by itself."""

    def __init__(self, message: str) -> None:
        self.message = message

    def do(self, *_: object, **__: object):
        async def run() -> None:
            raise JsError(self.message)

        return lambda _: run


async def test_timeout_of_the_engine():
    """A step that takes too long is TimedOut."""
    with pytest.raises(TimedOut, match="500ms"):
        await do(Work(0), Engine("Execution timed out after 500ms"))  # type: ignore[arg-type]


async def test_pause_is_not_a_failure():
    """A pause interrupts the run by an error that must not be taken for a failed step."""
    with pytest.raises(JsError) as caught:
        await do(Work(0), Engine("Aborting engine: User called pause"))  # type: ignore[arg-type]
    assert not isinstance(caught.value, SluiceError)


async def test_finished_steps_are_not_repeated():
    """After a crash the next run continues with the stored results; the same name twice is two steps."""
    first, second = Work("a"), Work("b")
    kept: dict[str, str] = {}
    step = FakeStep(kept)
    step.fail_at(2, before=True)
    with pytest.raises(Crash):
        await run_both(first, second, step)
    assert await run_both(first, second, FakeStep(kept)) == ["a", "b"]
    assert (first.times, second.times) == (1, 1)


async def run_both(first: Work, second: Work, step: FakeStep) -> list[object]:
    return [await do(first, step), await do(second, step)]


async def test_sleep_is_in_seconds():
    """A sleep is given in seconds and passed on in milliseconds."""
    step = FakeStep()
    await Steps(step, NonRetryableError).sleep("nap", 1.5)
    assert step.slept_ms == [1500]


@pytest.mark.parametrize("name", ["", "x" * 257])
async def test_step_name_is_checked(name):
    """A name the engine would refuse is refused."""
    with pytest.raises(Invalid, match="step name"):
        await do(Work(1), name=name)


async def test_create_is_idempotent():
    """Creating an id twice is no error, and the first parameters stand."""
    fake = FakeWorkflows()
    workflows = Workflows(fake)
    await workflows.create("one", {"n": 1})
    await workflows.create("one", {"n": 2})
    assert fake.instances["one"].params == {"n": 1}


async def test_created_instance_exists():
    """Creating waits until the engine has stored the instance; one that is never stored is not accepted."""
    fake, slept = FakeWorkflows(), []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    workflows = Workflows(fake, sleep)
    fake.unseen = 2
    await workflows.create("late", {})
    assert len(slept) == 2
    fake.full = True
    with pytest.raises(NotAccepted, match="'lost' was not stored"):
        await workflows.create("lost", {})


@pytest.mark.parametrize("name", ["", "a b", "a/b", "-a", "x" * 101, "é"])
async def test_instance_id_is_checked(name):
    """An id the platform would refuse is refused with the rule."""
    with pytest.raises(Invalid, match="workflow id"):
        await Workflows(FakeWorkflows()).create(name, {})


async def test_parameters_are_checked():
    """Parameters too large or not JSON are refused."""
    with pytest.raises(TooLarge):
        await Workflows(FakeWorkflows()).create("a", "x" * 2**20)
    with pytest.raises(Invalid, match="tuple"):
        await Workflows(FakeWorkflows()).create("a", {"x": (1,)})


async def test_instance_is_steered_by_id():
    """An instance is paused, resumed, sent events and terminated by its id; terminating it twice is a Conflict."""
    fake = FakeWorkflows()
    workflows = Workflows(fake)
    await workflows.create("one", {})
    await workflows.pause("one")
    assert await workflows.status("one") == InstanceStatus("paused", None, None)
    await workflows.resume("one")
    await workflows.send_event("one", "go", {"n": 1})
    assert fake.instances["one"].events == [{"type": "go", "payload": {"n": 1}}]
    await workflows.terminate("one")
    with pytest.raises(Conflict):
        await workflows.terminate("one")


async def test_failed_instance_tells_why():
    """The status of a failed instance holds the message."""
    fake = FakeWorkflows()
    await Workflows(fake).create("one", {})
    fake.instances["one"].state, fake.instances["one"].error = "errored", {"name": "Error", "message": "no"}
    assert await Workflows(fake).status("one") == InstanceStatus("errored", None, "no")


async def test_missing_instance_is_not_found():
    """An unknown id is NotFound."""
    with pytest.raises(NotFound):
        await Workflows(FakeWorkflows()).status("none")


async def test_error_of_an_instance_shows_no_code():
    """Callers see what failed, without our traceback."""
    fake = FakeWorkflows()
    await Workflows(fake).create("one", {})
    trace = 'PythonError: Traceback (most recent call last):\n  File "/src/x.py", line 1, in run\nsluice.core.errors.ConfigError: X: wrong\n'
    fake.instances["one"].error = {"name": "Error", "message": trace}
    assert (await Workflows(fake).status("one")).error == "ConfigError: X: wrong"
    fake.instances["one"].error = {"name": "Error", "message": "the source is gone"}
    assert (await Workflows(fake).status("one")).error == "the source is gone"
