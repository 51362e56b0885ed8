"""Workflow instances, and a step that stores results so that a test can continue a workflow after a crash."""

import json
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fakes.binding import Fake, JsError, check_sendable


class NonRetryableError(Exception):
    """Stands for the SDK's class of this name."""


@dataclass
class FakeInstance:
    """One instance; a test sets `state`, `output` and `error` as the engine would."""

    id: str
    params: Any
    state: str = "queued"
    output: Any = None
    error: dict[str, str] | None = None
    events: list[dict[str, Any]] = field(default_factory=list)

    async def status(self) -> dict[str, Any]:
        return {"status": self.state, "output": self.output, "error": self.error}

    async def pause(self) -> None:
        self.state = "paused"

    async def resume(self) -> None:
        self.state = "running"

    async def terminate(self) -> None:
        if self.state in {"complete", "errored", "terminated"}:
            raise JsError("WorkflowError: (instance.cannot_terminate) Cannot terminate instance")
        self.state = "terminated"

    async def send_event(self, event: dict[str, Any]) -> None:
        check_sendable(event)
        self.events.append(event)


class FakeWorkflows(Fake):
    """Refuses an id that exists, as the platform does; Miniflare returns the running instance.

    While it is `full`, it says yes and stores nothing, as Miniflare does on a full disk. An instance is seen by the
    requests after the next `unseen` ones.
    """

    def __init__(self) -> None:
        super().__init__()
        self.full = False
        self.unseen = 0
        self.instances: dict[str, FakeInstance] = {}

    async def create(self, options: dict[str, Any]) -> FakeInstance:
        check_sendable(options)
        name = options["id"]
        with self.operation("create", name):
            if name in self.instances:
                raise JsError("(instance.already_exists) Instance already exists")
            _check_size(options["params"])
            instance = FakeInstance(name, options["params"])
            if not self.full:
                self.instances[name] = instance
            return instance

    async def get(self, name: str) -> FakeInstance:
        with self.operation("get", name):
            self.unseen -= 1
            if name not in self.instances or self.unseen >= 0:
                raise JsError("instance.not_found")
            return self.instances[name]


class FakeStep(Fake):
    """Stores results in `stored`; a run that gets the results of another does not repeat its finished steps."""

    def __init__(self, stored: dict[str, str] | None = None) -> None:
        super().__init__()
        self.stored: dict[str, str] = {} if stored is None else stored
        self.slept_ms: list[int] = []
        self.configs: dict[str, dict[str, Any]] = {}
        self._counts: Counter[str] = Counter()

    def do(self, name: str, *, config: dict[str, Any]) -> Callable[[Any], Callable[[], Awaitable[Any]]]:
        def decorate(work: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
            async def run() -> Any:
                self._counts[name] += 1
                # As in the engine, a step is identified by its name and the number of earlier steps with this name.
                key = f"{name}-{self._counts[name]}"
                self.configs[name] = config
                with self.operation("step", key):
                    if key not in self.stored:
                        self.stored[key] = await _run_with_retries(work, config["retries"]["limit"])
                    return json.loads(self.stored[key])

            return run

        return decorate

    async def sleep(self, name: str, duration_ms: int) -> None:
        with self.operation("sleep", name):
            self.slept_ms.append(duration_ms)


async def _run_with_retries(work: Callable[[], Awaitable[Any]], retries: int) -> str:
    for attempt in range(retries + 1):
        try:
            result = await work()
            check_sendable(result)
            return _check_size(result)
        except NonRetryableError:
            raise
        except Exception as error:
            if attempt == retries:
                text = "".join(traceback.format_exception(error))
                raise JsError(f"PythonError: {text}") from error
    raise AssertionError("a step is tried at least once")


def _check_size(value: object) -> str:
    encoded = json.dumps(value, allow_nan=False)
    if len(encoded) > 1024 * 1024:
        raise JsError("the value exceeds 1MiB")
    return encoded
