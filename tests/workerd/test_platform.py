"""Each part of the platform, used by Python inside the real workerd."""

import concurrent.futures
import time
from typing import Any

import httpx

from runtime import PATIENCE_S, Runtime, until
from wrangler_process import run_wrangler


def ask(probe: httpx.Client, path: str, **query: Any) -> Any:
    reply = probe.get(f"/api/{path}", params=query)
    assert reply.status_code == 200, reply.text
    return reply.json()


def test_variables(probe: httpx.Client):
    """A variable of the config is in the environment."""
    assert ask(probe, "greet") == "hello"


def test_kv(probe: httpx.Client, name: str):
    """KV gives back what was put, and None for what was not."""
    assert ask(probe, "kv", key=name) is None
    assert ask(probe, "kv", key=name, value="kept ✓") == "kept ✓"


def test_d1(probe: httpx.Client, name: str):
    """D1 has the table of the migrations and keeps rows."""
    assert ask(probe, "d1", name=name, size=3) == [{"name": name, "size": 3}]


def test_r2(probe: httpx.Client, name: str):
    """R2 gives back the bytes that were put."""
    assert ask(probe, "r2", key=name) is None
    assert ask(probe, "r2", key=name, value="bytes") == "bytes"


def test_queue(probe: httpx.Client, name: str):
    """A message that asks for a retry comes again, and is done on its second attempt."""
    ask(probe, "queue", key=name, failures=1)
    assert until(lambda: ask(probe, "kv", key=f"{name}/done")) == "2"


def test_dead_letter(probe: httpx.Client, name: str):
    """A message that fails on every attempt ends in the dead letter queue, never done."""
    ask(probe, "queue", key=name, failures=99)
    assert name in until(lambda: ask(probe, "kv", key=f"{name}/dead"))
    assert ask(probe, "kv", key=f"{name}/done") is None


def test_durable_object(probe: httpx.Client, name: str):
    """An object keeps rows in its own SQLite, apart from another object's."""
    ask(probe, "do", object=name, name="a")
    assert ask(probe, "do", object=name, name="b") == {"names": ["a", "b"]}
    assert ask(probe, "do", object=f"{name}-other", name="c") == {"names": ["c"]}


def test_alarm(probe: httpx.Client, name: str):
    """An alarm rings when it is due, not at once."""
    due_ms = int(time.time() * 1000) + 500
    later = f"{name}-later"
    ask(probe, "alarm", object=later, key=later, at_ms=due_ms + 3_600_000)
    ask(probe, "alarm", object=name, key=name, at_ms=due_ms)
    assert until(lambda: ask(probe, "kv", key=name)) == "rang"
    assert time.time() * 1000 >= due_ms
    assert ask(probe, "kv", key=later) is None


def test_workflow(probe: httpx.Client, name: str):
    """A step that fails twice is tried again and succeeds; the steps before it are not repeated."""
    ask(probe, "workflow", id=name, failures=2)
    status = until(lambda: (s := ask(probe, "workflow/status", id=name))["status"] == "complete" and s)
    assert status["output"] == {"first": {"ran": 1}, "flaky": {"ran": 3}, "slow": {"ran": 1}}


def test_hopeless_step(probe: httpx.Client, name: str):
    """A step that fails for good is not tried again, and its error reaches the workflow as it was raised."""
    ask(probe, "workflow", id=name, hopeless=1)
    status = until(lambda: (s := ask(probe, "workflow/status", id=name))["status"] == "complete" and s)
    assert status["output"]["hopeless"] == "never"
    assert ask(probe, "kv", key=f"steps/{name}/hopeless") == "1"


def test_cron(runtime: Runtime, probe: httpx.Client):
    """A cron fired by hand answers when its handler is done, and tells the handler which cron it was."""
    reply = runtime.cron("probe", "*/5 * * * *")
    assert (reply.status_code, reply.text) == (200, "ok\n")
    assert ask(probe, "kv", key="cron") == "*/5 * * * *"


def test_cron_of_an_unknown_worker(runtime: Runtime):
    """A cron for a Worker that is not there says which are."""
    reply = runtime.cron("prob", "* * * * *")
    assert reply.status_code == 404
    assert "probe, peer" in reply.text


def test_tail(probe: httpx.Client, name: str):
    """What a Worker prints reaches its tail consumer as it was printed, with the script's name."""
    text = f"tail me {name}"
    ask(probe, "log", text=text)
    kept = until(lambda: ask(probe, "kv", key=text))
    assert kept == f'{{"script": "probe", "level": "log", "text": "{text}"}}'


def test_cache(probe: httpx.Client, name: str):
    """The edge cache gives back what was put."""
    assert ask(probe, "cache", key=name) is None
    assert ask(probe, "cache", key=name, value="cached") == "cached"


def test_stream(probe: httpx.Client, name: str):
    """Server-sent events arrive in pieces while the Worker is still working, not all at the end."""
    with probe.stream("GET", "/api/sse", params={"pieces": 4, "key": name}) as reply:
        chunks = reply.iter_text()
        for number in range(4):
            heard = ""
            while not heard.endswith("\n\n"):
                heard += next(chunks)
            assert heard == f"data: {number}\n\n"
            ask(probe, "kv", key=f"{name}/{number}", value="open")
        assert "".join(chunks) == ""


def test_rpc(probe: httpx.Client):
    """One Worker calls a method of another's named entry point."""
    assert ask(probe, "rpc", left=2, right=40) == {"sum": 42}


def test_wait_until(probe: httpx.Client, name: str):
    """Work handed to waitUntil goes on after the reply, and finishes."""
    assert ask(probe, "wait_until", key=name) == "replied"
    assert ask(probe, "kv", key=name) is None
    ask(probe, "kv", key=f"{name}/gate", value="open")
    assert until(lambda: ask(probe, "kv", key=name)) == "finished"


def test_assets(probe: httpx.Client):
    """A static file is served as it is; what has none goes to the Worker."""
    assert "<title>Probe</title>" in probe.get("/").text
    assert probe.get("/nothing-here").text == "no such probe"


def test_host_names(runtime: Runtime):
    """Each Worker answers at its own host name; the bare address is the first one's."""
    assert httpx.get(runtime.url, headers={"Host": "peer.localhost"}, timeout=PATIENCE_S).text == "peer"
    assert "Probe" in httpx.get(runtime.url, timeout=PATIENCE_S).text


def test_failure(runtime: Runtime, probe: httpx.Client):
    """A Python error is a plain 500 to the client and a readable traceback in the log."""
    reply = probe.get("/api/fail")
    assert (reply.status_code, reply.text) == (500, "Internal Server Error\n")
    until(lambda: any("ValueError: a secret detail" in line for line in runtime.lines))
    trace = [entry["message"] for entry in runtime.log() if entry.get("message", "").startswith("  File")]
    assert trace
    assert all('File "src/probe_worker.py", line ' in line for line in trace)


def test_logs_are_named(runtime: Runtime, probe: httpx.Client, name: str):
    """Each line of the log is an object with the name of the Worker that wrote it."""
    ask(probe, "log", text=f"a line {name}")
    until(
        lambda: [
            entry for entry in runtime.log() if entry["worker"] == "probe" and entry.get("message") == f"a line {name}"
        ]
    )


def test_many_at_once(runtime: Runtime):
    """Requests at the same time each get their own answer."""

    def one(number: int) -> Any:
        with runtime.client("probe") as client:
            return ask(client, "rpc", left=number, right=1)["sum"]

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        assert list(pool.map(one, range(100))) == [number + 1 for number in range(100)]


def test_wrangler_sees_the_state(runtime: Runtime, probe: httpx.Client, name: str):
    """The state on disk is wrangler's own: its commands read what a Worker wrote, while it runs."""
    ask(probe, "kv", key=name, value="seen")
    words = ("kv", "key", "get", name, "--binding", "KV", "--text")
    assert run_wrangler(runtime.state, "tests/workerd/probe/wrangler.toml", *words) == "seen\n"
