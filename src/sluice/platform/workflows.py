"""Workflows: instances from outside, and from inside the steps whose results are kept."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from sluice.core.errors import Conflict, Invalid, SluiceError, TimedOut
from sluice.platform.failures import get_js_message, revived, translate_errors, written
from sluice.platform.values import measure_json, to_plain

MAX_RESULT_BYTES: Final = 1024 * 1024
MAX_STEP_NAME: Final = 256
_INSTANCE_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")

Backoff = Literal["constant", "linear", "exponential"]


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    """How an instance stands: queued, running, paused, waiting, complete, errored, terminated or unknown."""

    state: str
    output: Any
    error: str | None


class Workflows:
    """The instances of one workflow, each found by its id; a missing one raises NotFound."""

    def __init__(self, binding: Any) -> None:
        self._binding = binding

    async def create(self, instance_id: str, params: object) -> None:
        """Start the instance; if the id is taken, its first start stands."""
        if not _INSTANCE_ID.fullmatch(instance_id):
            raise Invalid(f"a workflow id has 1 to 100 letters, digits, - and _: {instance_id[:120]!r}")
        measure_json(params, "workflow parameters", MAX_RESULT_BYTES)
        try:
            with translate_errors(f"workflow {instance_id!r}"):
                await self._binding.create({"id": instance_id, "params": params})
        except Conflict:
            return

    async def status(self, instance_id: str) -> InstanceStatus:
        raw = to_plain(await self._on(instance_id, lambda instance: instance.status()))
        error = raw.get("error")
        return InstanceStatus(raw["status"], raw.get("output"), error["message"] if isinstance(error, dict) else error)

    async def pause(self, instance_id: str) -> None:
        await self._on(instance_id, lambda instance: instance.pause())

    async def resume(self, instance_id: str) -> None:
        await self._on(instance_id, lambda instance: instance.resume())

    async def terminate(self, instance_id: str) -> None:
        """Stop it for good; Conflict when it is already over."""
        await self._on(instance_id, lambda instance: instance.terminate())

    async def send_event(self, instance_id: str, kind: str, payload: object) -> None:
        measure_json(payload, "event payload", MAX_RESULT_BYTES)
        await self._on(instance_id, lambda instance: instance.send_event({"type": kind, "payload": payload}))

    async def _on(self, instance_id: str, call: Callable[[Any], Awaitable[Any]]) -> Any:
        with translate_errors(f"workflow {instance_id!r}"):
            return await call(await self._binding.get(instance_id))


class Steps:
    """The steps of a running instance; `non_retryable` is the SDK's error class that ends the retries."""

    def __init__(self, step: Any, non_retryable: type[Exception]) -> None:
        self._step = step
        self._non_retryable = non_retryable

    async def do(
        self,
        name: str,
        work: Callable[[], Awaitable[Any]],
        *,
        retries: int,
        delay_s: float,
        backoff: Backoff,
        timeout_s: float,
    ) -> Any:
        """The result of `work`, from now on kept; after its last failure the SluiceError that `work` raised."""
        if not 1 <= len(name) <= MAX_STEP_NAME:
            raise Invalid(f"a step name has 1 to {MAX_STEP_NAME} characters: {name[:80]!r}")

        # Without parameters, because the SDK takes the names of parameters for the names of other steps.
        async def attempt() -> Any:
            try:
                result = await work()
                measure_json(result, f"result of step {name!r}", MAX_RESULT_BYTES)
            except SluiceError as error:
                if error.retryable:
                    raise
                raise self._non_retryable(written(error)) from error
            return result

        policy = {"limit": retries, "delay": int(delay_s * 1000), "backoff": backoff}
        config = {"retries": policy, "timeout": int(timeout_s * 1000)}
        try:
            return to_plain(await self._step.do(name, config=config)(attempt)())
        except Exception as error:
            # Made anew from text, so that a replay after a restart sees the same error as the first run. Anything
            # else goes on untouched: a pause, too, arrives here as an error and must not look like a failed step.
            message = str(error) if isinstance(error, self._non_retryable) else get_js_message(error) or ""
            ours = TimedOut(f"step {name!r}: {message}") if "Execution timed out" in message else revived(message)
            if ours is None:
                raise
            raise ours from error

    async def sleep(self, name: str, seconds: float) -> None:
        await self._step.sleep(name, int(seconds * 1000))
