"""One runtime with the probe and its peer for all tests that do not need to kill it."""

import secrets
from collections.abc import Callable, Iterator

import httpx
import pytest

from runtime import ROOT, Runtime

PROBE = ROOT / "tests/workerd/probe"
PROBE_CONFIGS = ("--config", str(PROBE / "wrangler.toml"), "--config", str(PROBE / "wrangler.peer.toml"))

StartRuntime = Callable[..., Runtime]


@pytest.fixture(name="start", scope="session")
def _start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartRuntime]:
    started: list[Runtime] = []

    def start(*arguments: str) -> Runtime:
        runtime = Runtime(tmp_path_factory.mktemp("state"), *arguments)
        started.append(runtime)
        return runtime.start()

    yield start
    for runtime in started:
        if runtime.process.poll() is None:
            runtime.kill()


@pytest.fixture(name="runtime", scope="session")
def _runtime(start: StartRuntime) -> Runtime:
    return start(*PROBE_CONFIGS)


@pytest.fixture(name="probe")
def _probe(runtime: Runtime) -> Iterator[httpx.Client]:
    with runtime.client("probe") as client:
        yield client


@pytest.fixture(name="name")
def _name() -> str:
    """A name that no other test uses."""
    return secrets.token_hex(8)
