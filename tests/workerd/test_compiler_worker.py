"""adblock-compiler from its entry to its reply: the source files it crosses, and the errors of its objects."""

import shutil
from collections.abc import Iterator

import httpx
import pytest

from runtime import ROOT
from workerd.conftest import StartRuntime
from workerd.origin import local_origin

WORKER = "adblock-compiler"
# What belongs to this Worker: its entry modules, its composition and its service.
OWN = ("compiler_", "sluice/workers/", "sluice/services/")
MAX_OWN_FILES = 21
# With the shared layers (core, web, platform), and with the rate-limit object, which runs in the same interpreter here.
MAX_FILES = 46


@pytest.fixture(name="client", scope="module")
def _client(start: StartRuntime, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """The deployed Worker with its own config, but for the entry."""
    folder = tmp_path_factory.mktemp("worker")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("sluice", "__pycache__"))
    shutil.copy(ROOT / "tests/workerd/compiler/compiler_test_worker.py", folder / "src")
    (folder / "src/fakes").mkdir()
    for name in ("__init__.py", "files_crossed.py"):
        shutil.copy(ROOT / "tests/fakes" / name, folder / "src/fakes")
    shutil.copytree(ROOT / "migrations", folder / "migrations")
    config = (
        (ROOT / "wrangler.toml")
        .read_text()
        .replace('"build/adblock-compiler/python/compiler_worker.py"', '"src/compiler_test_worker.py"', 1)
    )
    (folder / "wrangler.toml").write_text(config)
    runtime = start("--config", str(folder / "wrangler.toml"), "--var", "ALLOW_PRIVATE_HOSTS=127.0.0.1")
    with runtime.client(WORKER) as client:
        yield client


def test_cache_hit(client: httpx.Client):
    """From the entry to the reply, a cache hit of POST /compile crosses at most 21 files of the Worker's own."""
    with local_origin() as origin:
        body = {"configuration": {"name": "T", "sources": [{"source": origin.serve("/list", "||ads.example^\n")}]}}
        replies = [client.post("/compile", json=body) for _ in range(3)]
    assert [reply.headers["x-cache"] for reply in replies] == ["MISS", "HIT", "HIT"]
    crossed = client.post("/compile", json=body, headers={"X-Count-Files": "yes"}).json()
    own = [path for path in crossed if path.startswith(OWN)]
    shared = [path for path in crossed if not path.startswith(OWN)]
    print(f"\nPOST /compile, cache hit: {len(own)} files of its own", *own, sep="\n  ")  # noqa: T201 - its output is the point
    print(f"and {len(shared)} files of the shared layers", *shared, sep="\n  ")  # noqa: T201 - its output is the point
    assert len(own) <= MAX_OWN_FILES
    assert len(crossed) <= MAX_FILES


def compile_named(client: httpx.Client, name: str) -> httpx.Response:
    body = {"configuration": {"name": name, "sources": [{"source": "https://lists.example/a.txt"}]}}
    return client.post("/compile", json=body)


def test_retry_after_survives_the_call_to_the_object(client: httpx.Client):
    """A TooManyRequests of the object reaches the client with its text and its Retry-After."""
    reply = compile_named(client, "busy")
    assert (reply.status_code, reply.headers["retry-after"]) == (429, "42")
    assert reply.json()["error"] == "the source allows no more requests"


def test_fields_survive_the_call_to_the_object(client: httpx.Client):
    """An Invalid of the object reaches the client with every field."""
    reply = compile_named(client, "invalid")
    assert reply.status_code == 400
    assert reply.json()["errors"] == [
        {"path": "name", "reason": "is taken"},
        {"path": "sources[0]", "reason": "is gone"},
    ]
