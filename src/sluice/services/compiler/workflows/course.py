"""The steps of a workflow, each with the policy it is retried by, and which of them is under way."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from sluice.core.compiler.sources.failures import to_plain_error
from sluice.core.errors import SluiceError
from sluice.services.compiler.ports import Backoff, Steps


@dataclass(frozen=True, slots=True)
class Policy:
    """How often a step is tried again, after which wait, and how long one try may take."""

    retries: int
    delay_s: float
    backoff: Backoff
    timeout_s: float


class Course:
    """Goes from step to step; `at` is the last one entered, so that a failure can be told with its place."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self.at = ""

    async def do(self, name: str, policy: Policy, work: Callable[[], Awaitable[Any]]) -> Any:
        """The result of the step, from an earlier run if it has ended there."""
        self.at = name

        async def told() -> Any:
            try:
                return await work()
            except SluiceError as error:
                raise to_plain_error(error) from None

        return await self._steps.do(
            name,
            told,
            retries=policy.retries,
            delay_s=policy.delay_s,
            backoff=policy.backoff,
            timeout_s=policy.timeout_s,
        )

    async def sleep(self, name: str, seconds: float) -> None:
        await self._steps.sleep(name, seconds)
