"""Two processes on one local state: whoever finds a database locked waits until it is free, and says so if it never is."""

import json
import os
import pty
import sqlite3
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import pytest

from runtime import PATIENCE_S, ROOT, Runtime, until
from workerd.conftest import PROBE_CONFIGS, StartRuntime
from wrangler_process import run_wrangler, wrangler

CONFIG: Final = "tests/workerd/probe/wrangler.toml"
WAITING: Final = "Another process has locked the local state: trying again for 20 s …\n"
GIVEN_UP: Final = (
    "The local state is still locked, by ./scripts/run or another process: try again, or end that process first.\n"
)
SERVER_WAITS: Final = "another process, such as wrangler, has locked the local state: waiting"
KV: Final = ("--binding", "KV")
# What is locked: "writing", as by another writer; "all", as by a process that opens or closes the file; "start", all of the
# file that workerd opens when it starts.
COMMANDS: Final[dict[tuple[str, str], tuple[str, ...]]] = {
    ("kv", "writing"): ("kv", "key", "put", "written", "new", *KV),
    ("kv", "all"): ("kv", "key", "get", "kept", *KV, "--text"),
    ("kv", "start"): ("kv", "key", "delete", "dropped", *KV),
    ("d1", "writing"): ("d1", "execute", "DB", "--command", "INSERT INTO notes VALUES ('written')"),
    ("d1", "all"): ("d1", "execute", "DB", "--json", "--command", "INSERT INTO notes VALUES ('kept') RETURNING text"),
    ("d1", "start"): ("d1", "execute", "DB", "--json", "--command", "SELECT 7 AS seven"),
    ("r2", "writing"): ("r2", "object", "put", "probe-bucket/written", "--file", "LICENSE"),
    ("r2", "all"): ("r2", "object", "get", "probe-bucket/kept", "--pipe"),
}


@pytest.fixture(name="state", scope="module")
def _state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    state = tmp_path_factory.mktemp("state")
    for key in ("kept", "dropped"):
        run_wrangler(state, CONFIG, "kv", "key", "put", key, "old", *KV)
    run_wrangler(state, CONFIG, "d1", "execute", "DB", "--command", "CREATE TABLE notes (text TEXT)")
    run_wrangler(state, CONFIG, "r2", "object", "put", "probe-bucket/kept", "--file", "LICENSE")
    return state


@contextmanager
def lock(state: Path, kind: str, what: str) -> Iterator[None]:
    """Hold the lock of this state's databases of a kind: kv, d1 or r2."""
    files = [file for file in state.glob(f"v3/{kind}/*/*.sqlite") if (file.stem == "metadata") is (what == "start")]
    assert files
    opened = [sqlite3.connect(file, isolation_level=None, timeout=PATIENCE_S) for file in files]
    try:
        for database in opened:
            if what != "writing":
                database.execute("PRAGMA locking_mode = EXCLUSIVE")
            database.execute("BEGIN IMMEDIATE")
            if what != "writing":  # the lock is taken by the first write
                database.execute("CREATE TABLE locked (a)")
        yield
    finally:
        for database in opened:
            database.execute("ROLLBACK")
            database.close()


def run_into_lock(state: Path, kind: str, what: str, *words: str) -> tuple[str, str]:
    """Start a command while the state is locked, and free that when the command has been refused; what it prints."""
    with lock(state, kind, what):
        process = subprocess.Popen(
            wrangler(state, CONFIG, *words), cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stderr is not None
        first = process.stderr.readline()
        assert first == WAITING, first + process.stderr.read()
    output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output + errors
    return output, errors


def read_notes(state: Path) -> list[str]:
    (file,) = (each for each in state.glob("v3/d1/*/*.sqlite") if each.stem != "metadata")
    return [text for (text,) in sqlite3.connect(file).execute("SELECT text FROM notes")]


@pytest.mark.parametrize(("kind", "what"), COMMANDS)
def test_a_command_waits(state: Path, kind: str, what: str):
    """A command that was refused is done when the lock has gone, once, and a pipe gets one attempt's output alone."""
    output, errors = run_into_lock(state, kind, what, *COMMANDS[kind, what])
    assert errors == ""
    match kind, what:
        case "kv", "all":
            assert output == "old\n"
        case "kv", _:
            assert output.count("Resource location: local") == 1
            keys = json.loads(run_wrangler(state, CONFIG, "kv", "key", "list", *KV))
            assert ({"name": "written"} in keys) if what == "writing" else ({"name": "dropped"} not in keys)
        case "d1", "writing" | "all":
            assert read_notes(state).count("written" if what == "writing" else "kept") == 1
        case "d1", _:
            assert json.loads(output)[0]["results"] == [{"seven": 7}]
        case "r2", "writing":
            assert output.count("Upload complete.") == 1
        case _:
            assert output == (ROOT / "LICENSE").read_text()


@pytest.mark.parametrize("words", [COMMANDS["kv", "writing"], COMMANDS["d1", "all"]], ids=["kv", "d1"])
def test_a_lock_that_stays(state: Path, words: tuple[str, ...]):
    """After the limit the command ends with a sentence, prints nothing to a pipe, and has changed nothing."""
    before = read_notes(state)
    with lock(state, words[0], "writing"):
        done = subprocess.run(
            wrangler(state, CONFIG, *words), cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False
        )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(WAITING)
    assert done.stderr.endswith(GIVEN_UP)
    assert read_notes(state) == before


def test_another_error_is_told_at_once(state: Path):
    """What is no lock is not tried again."""
    words = wrangler(state, CONFIG, "d1", "execute", "DB", "--command", "SELECT * FROM nowhere")
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 1
    assert "no such table: nowhere" in done.stderr
    assert WAITING not in done.stderr


def test_questions_are_asked(state: Path, tmp_path: Path):
    """On a terminal a command still asks before it deletes, and takes no for an answer."""
    (tmp_path / "keys.json").write_text('["kept"]')
    words = wrangler(state, CONFIG, "kv", "bulk", "delete", str(tmp_path / "keys.json"), *KV)
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "CI"}
    with subprocess.Popen(words, cwd=ROOT, env=environment, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        while b"Are you sure" not in shown:
            shown += os.read(ours, 4096)  # fails when the command has ended
        os.write(ours, b"n\r")
        with suppress(OSError):
            while os.read(ours, 4096):
                pass
        process.wait(PATIENCE_S)
    os.close(ours)
    assert run_wrangler(state, CONFIG, "kv", "key", "get", "kept", *KV, "--text") == "old\n"


def meet(runtime: Runtime, kind: str, what: str, **query: Any) -> Any:
    """Ask the probe while the state is locked, and free that when the probe has been refused; what it answers."""

    def ask() -> Any:
        with runtime.client("probe") as client:
            reply = client.get(f"/api/{kind}", params=query)
        assert reply.status_code == 200, reply.text
        return reply.json()

    before = len(runtime.lines)
    with ThreadPoolExecutor(1) as pool:
        with lock(runtime.state, kind, what):
            answer = pool.submit(ask)
            until(lambda: answer.done() or any(SERVER_WAITS in line for line in runtime.lines[before:]))
            assert not answer.done(), answer.result()
        return answer.result()


def test_a_served_worker_waits(start: StartRuntime):
    """A Worker's operation that was refused is done when the lock has gone; the Worker notices nothing."""
    runtime = start(*PROBE_CONFIGS)
    with runtime.client("probe") as client:  # so that the files are there
        for path in ("/api/kv?key=first&value=1", "/api/d1?name=first&size=1", "/api/r2?key=first&value=1"):
            assert client.get(path).status_code == 200
    assert meet(runtime, "kv", "writing", key="served", value="kept") == "kept"
    assert meet(runtime, "d1", "writing", name="served", size=3) == [{"name": "served", "size": 3}]
    assert meet(runtime, "r2", "writing", key="served", value="kept") == "kept"
    assert runtime.stop() == 0
    assert runtime.start().url  # nothing is open yet, and a file can be locked wholly
    assert meet(runtime, "kv", "all", key="served") == "kept"
    assert meet(runtime, "r2", "all", key="served") == "kept"


@pytest.mark.parametrize(("kind", "what"), [("d1", "writing"), ("d1", "start"), ("kv", "start")])
def test_a_start_waits(state: Path, kind: str, what: str):
    """./scripts/run that finds the state locked starts when the lock has gone."""
    runtime = Runtime(state, *PROBE_CONFIGS)
    with ThreadPoolExecutor(1) as pool:
        with lock(state, kind, what):
            started = pool.submit(runtime.start)
            until(lambda: started.done() or SERVER_WAITS in runtime.lines)
            assert not started.done(), runtime.lines
        started.result()
    try:
        with runtime.client("probe") as client:
            assert client.get("/api/greet").json() == "hello"
    finally:
        runtime.kill()
