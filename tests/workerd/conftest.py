"""One runtime with the probe and its peer for all tests that do not need to kill it."""

import secrets
from collections.abc import Callable, Iterator

import httpx
import pytest

from runtime import ROOT, Runtime
from workerd.preload_site import KEY, TOKEN

PROBE = ROOT / "tests/workerd/probe"
PROBE_CONFIGS = ("--config", str(PROBE / "wrangler.toml"), "--config", str(PROBE / "wrangler.peer.toml"))

StartRuntime = Callable[..., Runtime]


def run_starter(folders: pytest.TempPathFactory) -> Iterator[StartRuntime]:
    """Yield what starts a runtime with a state of its own, and end all that it has started."""
    started: list[Runtime] = []

    def start(*arguments: str) -> Runtime:
        runtime = Runtime(folders.mktemp("state"), *arguments)
        started.append(runtime)
        return runtime.start()

    yield start
    for runtime in started:
        if runtime.process.poll() is None:
            runtime.kill()


@pytest.fixture(name="start", scope="module")
def _start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartRuntime]:
    """Starts runtimes that end with the test module: each takes more than half a gigabyte."""
    yield from run_starter(tmp_path_factory)


@pytest.fixture(name="start_shared", scope="session")
def _start_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartRuntime]:
    """Starts runtimes that several test modules use."""
    yield from run_starter(tmp_path_factory)


@pytest.fixture(name="preload", scope="session")
def _preload(start_shared: StartRuntime) -> Runtime:
    """edge-preload with a clock that the tests move; each test has a zone of its own."""
    config = str(ROOT / "tests/workerd/preload/wrangler.toml")
    variables = ["ALLOW_PRIVATE_HOSTS=127.0.0.1", f"ADMIN_TOKEN={TOKEN}", f"SIGNING_KEY={KEY}"]
    routes = [f"--route=site{number}.test=edge-preload" for number in range(20)]
    routes.append("--route=*.proxy.test=edge-preload")
    return start_shared("--config", config, *routes, *(f"--var={each}" for each in variables))


@pytest.fixture(name="runtime", scope="session")
def _runtime(start_shared: StartRuntime) -> Runtime:
    return start_shared(*PROBE_CONFIGS)


@pytest.fixture(name="probe")
def _probe(runtime: Runtime) -> Iterator[httpx.Client]:
    with runtime.client("probe") as client:
        yield client


@pytest.fixture(name="name")
def _name() -> str:
    """A name that no other test uses."""
    return secrets.token_hex(8)
