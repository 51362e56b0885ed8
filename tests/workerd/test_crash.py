"""Killed in the middle of writes and started again on the same state, the runtime has lost nothing that was answered."""

import contextlib
import os
import shutil
import signal
import subprocess
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from runtime import PATIENCE_S, Runtime, until
from workerd.conftest import PROBE, PROBE_CONFIGS, StartRuntime


def ask(runtime: Runtime, path: str, **query: Any) -> Any:
    with runtime.client("probe") as client:
        return client.get(f"/api/{path}", params=query).raise_for_status().json()


def write_until_killed(runtime: Runtime, answered: list[int]) -> None:
    """Write one row after another to every store; a number is noted once all four have answered."""
    with contextlib.suppress(httpx.HTTPError):
        for number in range(100_000):
            ask(runtime, "kv", key=f"k{number}", value=str(number))
            ask(runtime, "d1", name=f"k{number}", size=number)
            ask(runtime, "r2", key=f"k{number}", value=str(number))
            ask(runtime, "do", object="crash", name=f"k{number:06d}")
            answered.append(number)


def test_kill_in_the_middle_of_writes(start: StartRuntime):
    """Every answered row of KV, D1, R2 and a Durable Object is there; an alarm rings; a workflow goes on where it was."""
    runtime = start(*PROBE_CONFIGS)
    ask(runtime, "workflow", id="long", held=1)
    until(lambda: ask(runtime, "kv", key="steps/long/slow") == "1")
    answered: list[int] = []
    writer = threading.Thread(target=write_until_killed, args=(runtime, answered))
    writer.start()
    until(lambda: len(answered) >= 20)
    ask(runtime, "alarm", object="ringer", key="alarm-after-crash", at_ms=int(time.time() * 1000) + 5_000)
    runtime.kill()
    writer.join()

    runtime.start()
    for number in answered:
        assert ask(runtime, "kv", key=f"k{number}") == str(number)
        assert ask(runtime, "r2", key=f"k{number}") == str(number)
        assert ask(runtime, "d1", name=f"k{number}", size=0) == [{"name": f"k{number}", "size": number}]
    assert {f"k{number:06d}" for number in answered} <= set(ask(runtime, "do", object="crash", name="z")["names"])
    assert until(lambda: ask(runtime, "kv", key="alarm-after-crash")) == "rang"
    status = until(lambda: (s := ask(runtime, "workflow/status", id="long"))["status"] == "complete" and s)
    assert status["output"] == {"first": {"ran": 1}, "flaky": {"ran": 1}, "slow": {"ran": 2}}


def workerd_of(runtime: Runtime) -> int:
    children = subprocess.run(
        ["pgrep", "-P", str(runtime.process.pid), "workerd"], capture_output=True, text=True, check=True
    )
    return int(children.stdout.split()[0])


def test_workerd_alone_is_killed(start: StartRuntime):
    """When only workerd dies, the runtime starts it again by itself, and the state is there."""
    runtime = start(*PROBE_CONFIGS)
    ask(runtime, "kv", key="before", value="kept")
    os.kill(workerd_of(runtime), signal.SIGKILL)

    def answer() -> Any:
        with contextlib.suppress(httpx.HTTPError):
            return ask(runtime, "kv", key="before")

    assert until(answer) == "kept"


def is_gone(process_id: int) -> bool:
    return subprocess.run(["ps", "-p", str(process_id)], capture_output=True, check=False).returncode == 1


def test_stops_cleanly(start: StartRuntime):
    """SIGINT and SIGTERM end the runtime with exit code 0 and leave no workerd behind."""
    for how in (signal.SIGINT, signal.SIGTERM):
        runtime = start(*PROBE_CONFIGS)
        workerd = workerd_of(runtime)
        assert runtime.stop(how) == 0
        until(partial(is_gone, workerd))


def test_edits_are_picked_up(tmp_path: Path):
    """An edit of a source file restarts the Workers; one that breaks them is told, and the next mends it."""
    shutil.copytree(PROBE, tmp_path / "probe")
    config = str(tmp_path / "probe/wrangler.peer.toml")
    source = tmp_path / "probe/src/peer_worker.py"
    runtime = Runtime(tmp_path / "state", "--config", config, watch=True).start()
    try:
        before = source.read_text()
        source.write_text("def (\n")
        until(lambda: any("SyntaxError" in line for line in runtime.lines))
        source.write_text(before.replace('Response("peer")', 'Response("edited")'))
        until(lambda: "Restarted after an edit" in runtime.lines)
        assert httpx.get(runtime.url, timeout=PATIENCE_S).text == "edited"
    finally:
        runtime.kill()
