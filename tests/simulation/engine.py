"""The workflow engine as it may behave: an instance continues after a crash with the results of its finished steps.

A step whose result was not stored runs again. One that takes too long is given up, and goes on beside its next attempt until its isolate dies.
"""

import asyncio
import json
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fakes.binding import JsError, check_sendable
from fakes.workflows import NonRetryableError
from simulation.loop import Died, Process
from simulation.platform import Ports

ENDED = frozenset({"complete", "errored", "terminated"})
_FACTORS: dict[str, Callable[[int], float]] = {
    "constant": lambda _: 1.0,
    "linear": float,
    "exponential": lambda at: 2.0 ** (at - 1),
}


@dataclass
class Instance:
    id: str
    params: Any
    state: str = "queued"
    output: Any = None
    error: dict[str, str] | None = None
    runs: int = 0
    stored: dict[str, str] = field(default_factory=dict)
    failed: dict[str, tuple[bool, str]] = field(default_factory=dict)
    tries: Counter[str] = field(default_factory=Counter)
    wakes_at: dict[str, float] = field(default_factory=dict)

    async def status(self) -> dict[str, Any]:
        return {"status": self.state, "output": self.output, "error": self.error}


# Runs an instance with its steps, in the isolate.
Run = Callable[[Instance, "SimulatedStep"], Awaitable[Any]]


@dataclass
class SimulatedWorkflows:
    """The instances of one workflow, as bound."""

    kind: str
    ports: Ports
    outside: Process
    find_process: Callable[[str], Process]
    run: Run
    note: Callable[[str], None] = lambda _text: None
    instances: dict[str, Instance] = field(default_factory=dict)

    async def create(self, options: dict[str, Any]) -> Instance:
        check_sendable(options)
        name, params = options["id"], json.loads(json.dumps(options["params"]))

        async def store() -> Instance:
            if name in self.instances:
                raise JsError("(instance.already_exists) Instance already exists")
            self.instances[name] = instance = Instance(name, params)
            self.outside.spawn(self._live(instance))
            return instance

        return await self.ports.call("workflow create", store, failure="WorkflowInternalError: try again")

    async def get(self, name: str) -> Instance:
        async def find() -> Instance:
            if name not in self.instances:
                raise JsError("instance.not_found")
            return self.instances[name]

        return await self.ports.call("workflow get", find, failure="WorkflowInternalError: try again")

    async def _live(self, instance: Instance) -> None:
        await asyncio.sleep(self.ports.chance.delay())
        while True:
            instance.runs += 1
            instance.state = "running"
            process = self.find_process(instance.id)
            step = SimulatedStep(self.ports, instance)
            try:
                instance.output = await process.ask(lambda: self.run(instance, step))  # noqa: B023 - awaited here
            except Died:
                await asyncio.sleep(1 + 10 * self.ports.chance.delays.random())
            except Exception as error:  # noqa: BLE001 - as the engine does
                instance.state, instance.error = "errored", {"message": str(error)}
                self.note(f"workflow {instance.id} fails: {error!r}"[:300])
                return
            else:
                instance.state = "complete"
                return


class SimulatedStep:
    """The steps of one run of an instance."""

    def __init__(self, ports: Ports, instance: Instance) -> None:
        self._ports = ports
        self._instance = instance
        self._counts: Counter[str] = Counter()

    def do(self, name: str, *, config: dict[str, Any]) -> Callable[[Any], Callable[[], Awaitable[Any]]]:
        def decorate(work: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
            async def run() -> Any:
                self._counts[name] += 1
                key = f"{name}-{self._counts[name]}"
                if key not in self._instance.stored and key not in self._instance.failed:
                    await self._attempt(key, work, config)
                if failure := self._instance.failed.get(key):
                    raise NonRetryableError(failure[1]) if failure[0] else JsError(failure[1])
                return json.loads(self._instance.stored[key])

            return run

        return decorate

    async def sleep(self, name: str, duration_ms: int) -> None:
        self._counts[name] += 1
        key, loop = f"{name}-{self._counts[name]}", asyncio.get_running_loop()
        until = self._instance.wakes_at.setdefault(key, loop.time() + duration_ms / 1000)
        await asyncio.sleep(max(0.0, until - loop.time()))

    async def _attempt(self, key: str, work: Callable[[], Awaitable[Any]], config: dict[str, Any]) -> None:
        while not await self._try_once(key, work, config):
            retries = config["retries"]
            await asyncio.sleep(retries["delay"] / 1000 * _FACTORS[retries["backoff"]](self._instance.tries[key]))

    async def _try_once(self, key: str, work: Callable[[], Awaitable[Any]], config: dict[str, Any]) -> bool:
        """Return whether the step has ended, well or for good."""
        instance = self._instance
        instance.tries[key] += 1
        try:
            result = json.dumps(await _run_within(work, config["timeout"] / 1000), allow_nan=False)
        except NonRetryableError as error:
            instance.failed[key] = True, str(error)
            return True
        except Exception as error:  # noqa: BLE001 - as the engine does
            if instance.tries[key] <= config["retries"]["limit"]:
                return False
            text = error.message if isinstance(error, JsError) else "".join(traceback.format_exception(error))
            instance.failed[key] = False, f"PythonError: {text}"
            return True
        await self._ports.call("step", lambda: self._store(key, result))
        return True

    async def _store(self, key: str, result: str) -> None:
        self._instance.stored.setdefault(key, result)


async def _run_within(work: Callable[[], Awaitable[Any]], timeout_s: float) -> Any:
    task = asyncio.ensure_future(work())
    done, _ = await asyncio.wait([task], timeout=timeout_s)
    if not done:
        raise JsError(f"WorkflowTimeoutError: Execution timed out after {timeout_s * 1000:.0f}ms")
    result = task.result()
    check_sendable(result)
    return result
