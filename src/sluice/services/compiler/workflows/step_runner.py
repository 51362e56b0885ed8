"""Runs the steps of a workflow, each with its retry policy, and remembers which step is running."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sluice.core.compiler.sources.source_errors import to_plain_error
from sluice.core.errors import SluiceError
from sluice.services.compiler.ports import Backoff, Result, Steps


@dataclass(frozen=True, slots=True)
class StepPolicy:
    """How often a step is retried, after which delay, and how long one attempt may take."""

    retries: int
    delay_s: float
    backoff: Backoff
    timeout_s: float


class StepRunner:
    """Runs the steps of one workflow instance. `current_step` is the last step that was started, so that a failure can be reported with its step."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self.current_step = ""

    async def do(self, name: str, policy: StepPolicy, work: Callable[[], Awaitable[Result]]) -> Result:
        """Return the result of the step, from before a restart if it had finished by then."""
        self.current_step = name

        async def run_work() -> Result:
            try:
                return await work()
            except SluiceError as error:
                # Only leaves of the common error tree survive the way through the engine.
                raise to_plain_error(error) from None

        return await self._steps.do(
            name,
            run_work,
            retries=policy.retries,
            delay_s=policy.delay_s,
            backoff=policy.backoff,
            timeout_s=policy.timeout_s,
        )

    async def sleep(self, name: str, seconds: float) -> None:
        await self._steps.sleep(name, seconds)
