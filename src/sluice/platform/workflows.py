"""Workflows: the instances as seen from outside, and the steps of a running one."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Literal

from sluice.core.errors import Conflict, Invalid, NotAccepted, NotFound, SluiceError, TimedOut
from sluice.core.ports import InstanceState
from sluice.core.remote_errors import encode_error
from sluice.platform.failures import find_error, get_js_message, is_step_timeout, translate_errors
from sluice.platform.values import measure_json, to_plain

MAX_RESULT_BYTES: Final = 1024 * 1024
MAX_STEP_NAME: Final = 256
# How long to wait for an instance that its engine has not stored yet.
_PAUSES_S: Final = (0.05, 0.2, 0.5, 1.0, 2.0)
_MODULE: Final = re.compile(r"^(?:\w+\.)+(?=\w+:)")
_INSTANCE_ID: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,99}")

Backoff = Literal["constant", "linear", "exponential"]


@dataclass(frozen=True, slots=True)
class InstanceStatus:
    state: InstanceState
    output: Any
    error: str | None


class Workflows:
    """The instances of one workflow, by id; a missing id raises NotFound."""

    def __init__(self, binding: Any, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._binding = binding
        self._sleep = sleep

    async def create(self, instance_id: str, params: object) -> None:
        """Start the instance, which exists once this returns; do nothing if an instance with this id exists.

        Miniflare answers before its engine has stored the instance, and drops the error if it cannot: so it is asked for.
        """
        if not _INSTANCE_ID.fullmatch(instance_id):
            raise Invalid(f"a workflow id has 1 to 100 letters, digits, - and _: {instance_id[:120]!r}")
        measure_json(params, "workflow parameters", MAX_RESULT_BYTES)
        try:
            with translate_errors(f"workflow {instance_id!r}"):
                await self._binding.create({"id": instance_id, "params": params})
        except Conflict:
            return
        await self._require_stored(instance_id)

    async def _require_stored(self, instance_id: str) -> None:
        for pause_s in (*_PAUSES_S, None):
            try:
                with translate_errors(f"workflow {instance_id!r}"):
                    await self._binding.get(instance_id)
            except NotFound:
                if pause_s is not None:
                    await self._sleep(pause_s)
            else:
                return
        raise NotAccepted(f"workflow {instance_id!r} was not stored")

    async def status(self, instance_id: str) -> InstanceStatus:
        raw = to_plain(await self._call(instance_id, lambda instance: instance.status()))
        error = raw.get("error")
        message = error["message"] if isinstance(error, dict) else error
        return InstanceStatus(raw["status"], raw.get("output"), message and _drop_traceback(message))

    async def pause(self, instance_id: str) -> None:
        await self._call(instance_id, lambda instance: instance.pause())

    async def resume(self, instance_id: str) -> None:
        await self._call(instance_id, lambda instance: instance.resume())

    async def terminate(self, instance_id: str) -> None:
        """Stop the instance for good; raise Conflict if it has already ended."""
        await self._call(instance_id, lambda instance: instance.terminate())

    async def send_event(self, instance_id: str, kind: str, payload: object) -> None:
        measure_json(payload, "event payload", MAX_RESULT_BYTES)
        await self._call(instance_id, lambda instance: instance.send_event({"type": kind, "payload": payload}))

    async def _call(self, instance_id: str, call: Callable[[Any], Awaitable[Any]]) -> Any:
        with translate_errors(f"workflow {instance_id!r}"):
            return await call(await self._binding.get(instance_id))


def _drop_traceback(message: str) -> str:
    """Return the last line of an error of Python, which names it: callers need not see our code."""
    last = message.strip().splitlines()[-1] if message.strip() else ""
    return _MODULE.sub("", last) if "Traceback" in message else message


class StepFailedError(Exception):
    """Carries an encoded SluiceError out of a step, because an error leaves a step as text only."""


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
        """Run `work` once and store its result; after the last failed try, raise the SluiceError that `work` raised."""
        if not 1 <= len(name) <= MAX_STEP_NAME:
            raise Invalid(f"a step name has 1 to {MAX_STEP_NAME} characters: {name[:80]!r}")

        # It has no parameters, because the SDK takes the names of parameters for the names of other steps.
        async def attempt() -> Any:
            try:
                result = await work()
                measure_json(result, f"result of step {name!r}", MAX_RESULT_BYTES)
            except SluiceError as error:
                kind = StepFailedError if error.retryable else self._non_retryable
                raise kind(encode_error(error)) from error
            return result

        policy = {"limit": retries, "delay": int(delay_s * 1000), "backoff": backoff}
        config = {"retries": policy, "timeout": int(timeout_s * 1000)}
        try:
            return to_plain(await self._step.do(name, config=config)(attempt)())
        except Exception as error:
            # The error is made from text, so that a replay after a restart sees the same error as the first run.
            # A foreign error passes unchanged: a pause arrives as an error too and must not look like a failed step.
            if ours := self._find_error(name, error):
                raise ours from error
            raise

    async def sleep(self, name: str, seconds: float) -> None:
        await self._step.sleep(name, int(seconds * 1000))

    def _find_error(self, name: str, error: Exception) -> SluiceError | None:
        message = str(error) if isinstance(error, self._non_retryable) else get_js_message(error) or ""
        return TimedOut(f"step {name!r}: {message}") if is_step_timeout(message) else find_error(message)
