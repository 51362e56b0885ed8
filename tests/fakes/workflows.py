"""Workflow instances, and a step that keeps results so that a test can run a workflow again where it stopped."""

import json
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fakes.binding import Fake, JsError, check_sendable


class NonRetryableError(Exception):
    """Stands for the SDK's own."""


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
    """A taken id is refused, as on the platform; Miniflare would hand out the running instance."""

    def __init__(self) -> None:
        super().__init__()
        self.instances: dict[str, FakeInstance] = {}

    async def create(self, options: dict[str, Any]) -> FakeInstance:
        check_sendable(options)
        name = options["id"]
        with self.operation("create", name):
            if name in self.instances:
                raise JsError("(instance.already_exists) Instance already exists")
            _check_size(options["params"])
            self.instances[name] = FakeInstance(name, options["params"])
            return self.instances[name]

    async def get(self, name: str) -> FakeInstance:
        with self.operation("get", name):
            if name not in self.instances:
                raise JsError("instance.not_found")
            return self.instances[name]


class FakeStep(Fake):
    """Give the `kept` results of one run to the next, and finished steps are not repeated."""

    def __init__(self, kept: dict[str, str] | None = None) -> None:
        super().__init__()
        self.kept: dict[str, str] = {} if kept is None else kept
        self.slept_ms: list[int] = []
        self.configs: dict[str, dict[str, Any]] = {}
        self._seen: Counter[str] = Counter()

    def do(self, name: str, *, config: dict[str, Any]) -> Callable[[Any], Callable[[], Awaitable[Any]]]:
        def decorate(work: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
            async def run() -> Any:
                self._seen[name] += 1
                # A step is known by its name and by how often the name came before, as in the engine.
                key = f"{name}-{self._seen[name]}"
                self.configs[name] = config
                with self.operation("step", key):
                    if key not in self.kept:
                        self.kept[key] = await _attempted(work, config["retries"]["limit"])
                    return json.loads(self.kept[key])

            return run

        return decorate

    async def sleep(self, name: str, duration_ms: int) -> None:
        with self.operation("sleep", name):
            self.slept_ms.append(duration_ms)


async def _attempted(work: Callable[[], Awaitable[Any]], retries: int) -> str:
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
    written = json.dumps(value, allow_nan=False)
    if len(written) > 1024 * 1024:
        raise JsError("the value exceeds 1MiB")
    return written
