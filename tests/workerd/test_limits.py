"""What Cloudflare refuses, the local runtime refuses with the same text; what is just within the limit passes."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from runtime import PATIENCE_S, Runtime, until
from workerd.conftest import PROBE, StartRuntime
from workerd.origin import Answer, Origin, local_origin

FETCHES = "Too many subrequests by single Worker invocation."
SERVICES = "Too many API requests by single Worker invocation."
CONFIGS = ("--config", str(PROBE / "wrangler.limits.toml"), "--config", str(PROBE / "wrangler.peer.toml"))


class Caller:
    """Has the Worker make calls; each request has its own connection, because a busy workerd drops idle ones."""

    def __init__(self, runtime: Runtime, origin: Origin) -> None:
        self.runtime = runtime
        self.url = origin.serve("/page", "hello")

    def get(self, path: str, **query: Any) -> httpx.Response:
        reply = httpx.get(f"{self.runtime.url}/{path}", params=query, timeout=PATIENCE_S)
        assert reply.status_code == 200, reply.text
        return reply

    def call(self, name: str, times: int = 1, **query: Any) -> Any:
        return self.get(f"call/{name}", times=times, url=self.url, **query).json()

    def find_outcome(self, key: str) -> Any:
        return until(lambda: self.get("outcome", key=key).json())

    def find_workflow_output(self, key: str) -> Any:
        return until(lambda: self.get("workflow", key=key).json()["output"])

    def find_line(self, text: str) -> str:
        found: str = until(lambda: next((line for line in self.runtime.lines if text in line), None))
        return found


@pytest.fixture(name="origin", scope="module")
def _origin() -> Iterator[Origin]:
    with local_origin() as origin:
        yield origin


@pytest.fixture(name="free", scope="module")
def _free(start: StartRuntime, origin: Origin) -> Caller:
    return Caller(start("--limits", "free", *CONFIGS), origin)


@pytest.fixture(name="paid", scope="module")
def _paid(start: StartRuntime, origin: Origin) -> Caller:
    """The plan that is enforced when nobody chooses."""
    return Caller(start(*CONFIGS), origin)


@pytest.mark.parametrize("name", ["fetch", "sdk_fetch", "cache"])
def test_subrequests_on_the_free_plan(free: Caller, name: str):
    """An invocation may make 50 requests, also to the edge cache; the next one fails."""
    assert free.call(name, 50) == {"done": 50, "error": None}
    assert free.call(name, 51) == {"done": 50, "error": FETCHES}


def test_subrequests_on_the_paid_plan(paid: Caller):
    """An invocation may make 10,000 requests; the next one fails."""
    assert paid.call("cache", 10_001) == {"done": 10_000, "error": FETCHES}


@pytest.mark.parametrize("name", ["kv", "kv_bulk", "r2", "object", "service"])
def test_calls_of_bindings_on_the_free_plan(free: Caller, name: str):
    """An invocation may call bindings 1,000 times; a bulk read of KV is one call."""
    assert free.call(name, 1001) == {"done": 1000, "error": SERVICES}


@pytest.mark.parametrize("name", ["r2", "object", "service"])
def test_calls_of_bindings_on_the_paid_plan(paid: Caller, name: str):
    """On the paid plan the limit of the free plan does not hold."""
    assert paid.call(name, 1001) == {"done": 1001, "error": None}


def test_operations_of_kv_on_the_paid_plan(paid: Caller):
    """KV has its own limit, which is the same on both plans."""
    assert paid.call("kv", 1001) == {"done": 1000, "error": SERVICES}


@pytest.mark.parametrize(("plan", "limit"), [("free", 50), ("paid", 1000)])
def test_queries(request: pytest.FixtureRequest, plan: str, limit: int):
    """An invocation may send D1 so many queries; each statement of a batch is one."""
    caller: Caller = request.getfixturevalue(plan)
    assert caller.call("d1", limit + 1) == {"done": limit, "error": SERVICES}
    assert caller.call("d1_batch", size=limit) == {"done": 1, "error": None}
    assert caller.call("d1_batch", size=limit + 1) == {"done": 0, "error": SERVICES}


def test_a_retry_in_the_same_invocation_cannot_help(free: Caller):
    """The product does not take a reached limit for an outage, which it would try again."""
    outcome = free.call("guarded_fetch", 51)
    assert outcome == {"done": 50, "error": "LimitReached, retryable: False"}


@pytest.mark.parametrize("place", ["alarm", "background", "object", "queue"])
def test_invocations(free: Caller, name: str, place: str):
    """Each event is an invocation of its own, and its background work belongs to it."""
    outcome = free.call("fetch", 51, place=place, key=name)
    assert (outcome if place == "object" else free.find_outcome(name)) == {"done": 50, "error": FETCHES}


def test_a_new_event_tops_up_an_object(free: Caller, origin: Origin, name: str):
    """A call that has used up 30 of its 50 requests has 50 again as soon as somebody else calls the object."""
    gate = threading.Event()
    url = origin.serve(f"/{name}", *[Answer(b"soon")] * 29, Answer(b"late", gate=gate), Answer(b"soon"))
    with ThreadPoolExecutor() as pool:
        first = pool.submit(free.get, "call/fetch", times=60, url=url, place="object", key=name)
        until(lambda: origin.count(f"/{name}") == 30)
        assert free.call("fetch", place="object", key=name) == {"done": 1, "error": None}
        gate.set()
    assert first.result().json() == {"done": 60, "error": None}


def test_cron(free: Caller, name: str):
    """A cron is an invocation."""
    free.call("fetch", 51, place="cron", key=name)
    free.runtime.cron("limits", "0 0 * * *")
    assert free.find_outcome(name) == {"done": 50, "error": FETCHES}


def test_steps(free: Caller, name: str):
    """All steps of a workflow share one invocation."""
    free.call("fetch", 30, place="workflow", key=name)
    assert free.find_workflow_output(name) == [{"done": 30, "error": None}, {"done": 20, "error": FETCHES}]


def test_stream(free: Caller):
    """What a reply still does while it is sent belongs to its request."""
    lines = free.get("call/fetch", times=30, url=free.url, place="stream").text.splitlines()
    outcomes = [json.loads(line.removeprefix("data: ")) for line in lines if line]
    assert outcomes == [{"done": 30, "error": None}, {"done": 20, "error": FETCHES}]


def test_socket(free: Caller):
    """All messages of a WebSocket belong to the request that opened it."""
    query = httpx.QueryParams(times=30, url=free.url, place="socket")
    with connect(f"{free.runtime.url.replace('http', 'ws')}/call/fetch?{query}", open_timeout=PATIENCE_S) as socket:
        outcomes = []
        for text in ("first", "second"):
            socket.send(text)
            outcomes.append(json.loads(socket.recv(PATIENCE_S)))
    assert outcomes == [{"done": 30, "error": None}, {"done": 20, "error": FETCHES}]


def test_connections(paid: Caller, origin: Origin):
    """Six connections may wait for an answer; a seventh is queued, and reported if the six never get one."""
    held = threading.Event()
    url = origin.serve("/held", Answer(b"late", gate=held))
    waiting = threading.Thread(target=paid.get, args=("at-once",), kwargs={"url": url, "times": 7})
    waiting.start()
    assert paid.find_line("a connection waits behind 6 others")
    assert origin.count("/held") == 6
    held.set()
    waiting.join(PATIENCE_S)
    assert origin.count("/held") == 7


@pytest.mark.parametrize("call", ["kv_put", "kv_put_in_turns", "kv_delete"])
def test_one_write_a_second(paid: Caller, name: str, call: str):
    """A write to a key within a second of the last one fails as KV fails, also through another binding of the namespace."""
    outcome = paid.call(call, 100, key=name)
    assert outcome["done"] < 100
    assert outcome["error"] == f"KV {'DELETE' if 'delete' in call else 'PUT'} failed: 429 Too Many Requests"


def test_a_write_after_a_second(paid: Caller, name: str):
    """A write that comes more than a second after the last one passes."""
    assert paid.call("kv_put_slowly", 2, key=name) == {"done": 2, "error": None}


@pytest.mark.parametrize(
    ("call", "sizes", "error"),
    [
        ("kv_key", (512, 513), "KV PUT failed: 414 UTF-8 encoded length of 513 exceeds key length limit of 512."),
        ("kv_value", (25 * 1024**2, 25 * 1024**2 + 1), "KV PUT failed: 413 Value length of 26214401 exceeds limit of"),
        ("kv_metadata", (1024, 1025), "KV PUT failed: 413 Metadata length of 1025 exceeds limit of 1024."),
        ("queue", (128_000, 128_001), "(15000)"),
        ("d1_parameters", (100, 101), "too many SQL variables"),
        ("d1_statement", (100_000, 100_001), "statement too long: SQLITE_TOOBIG"),
        ("sql_parameters", (100, 101), "too many SQL variables"),
        ("sql_statement", (100_000, 100_001), "statement too long: SQLITE_TOOBIG"),
        ("sql_row", (2_000_000, 2_200_000), "string or blob too big: SQLITE_TOOBIG"),
        ("object_value", (2_000_000, 2_200_000), "string or blob too big: SQLITE_TOOBIG"),
    ],
)
def test_sizes(paid: Caller, name: str, call: str, sizes: tuple[int, int], error: str):
    """The largest value passes, and a larger one fails. workerd leaves a little room above the 2 MB of a row."""
    largest, too_large = sizes
    assert paid.call(call, size=largest, key=name) == {"done": 1, "error": None}
    outcome = paid.call(call, size=too_large, key=f"{name}-larger")
    assert outcome["done"] == 0
    assert error in outcome["error"]


def test_batch_of_messages(paid: Caller):
    """A batch has at most 100 messages and 256 KB."""
    assert paid.call("queue_batch", size=2560, messages=100) == {"done": 1, "error": None}
    assert "(15000)" in paid.call("queue_batch", size=10, messages=101)["error"]
    assert paid.call("queue_batch", size=2561, messages=100)["error"] == "Queue sendBatch failed: Payload Too Large"


@pytest.mark.parametrize(
    ("size", "result"),
    [
        (1024**2 - len('""'), 1024**2 - len('""')),
        (1024**2, "Step result output is too large. Maximum allowed size is 1MiB."),
    ],
)
def test_result_of_a_step(paid: Caller, name: str, size: int, result: Any):
    """The result of a step has at most 1 MiB."""
    paid.call("nothing", place="workflow", key=name, size=size)
    output = paid.find_workflow_output(name)[0]
    assert output == result if isinstance(result, int) else str(result) in str(output)


def test_processor_time(free: Caller, name: str):
    """An invocation that uses more than 10 ms of the processor is reported, not stopped, and no tail Worker hears of it."""
    text = f"tail me {name}"
    free.call("loop", place="background", ms=30, key=text)
    assert free.find_outcome(text) == {"done": 1, "error": None}
    assert free.find_line("more than 10 ms of processor time in one invocation")
    kept = until(lambda: free.get("logged", key=text).json())
    assert kept == {"script": "limits", "level": "log", "text": text}


def test_processor_time_on_the_paid_plan(paid: Caller):
    """On the paid plan the same work is not reported."""
    paid.call("loop", ms=30)
    assert not [line for line in paid.runtime.lines if "processor time" in line]


@pytest.mark.parametrize(
    ("name", "counted"),
    [
        ("fetch", {"fetches": 3}),
        ("kv", {"kv_reads": 3}),
        ("kv_bulk", {"kv_reads": 300}),
        ("r2", {"r2_class_b": 3}),
        ("d1", {"d1_queries": 3}),
        ("object", {"object_requests": 3}),
        ("sql_row", {"object_requests": 3, "object_rows_written": 3}),
    ],
)
def test_what_is_billed_is_counted(paid: Caller, name: str, counted: dict[str, int]):
    """Each call is counted as Cloudflare bills it: a bulk read by its keys, an object also by its rows."""

    def read() -> dict[str, int]:
        found: dict[str, int] = paid.get("cdn-cgi/local/operations").json()["limits"]
        return found

    paid.call(name, size=10)  # the first call of an object creates its table
    before = read()
    assert paid.call(name, 3, size=10) == {"done": 3, "error": None}
    after = read()
    grown = {kind: total - before.get(kind, 0) for kind, total in after.items() if total != before.get(kind, 0)}
    assert grown == {"requests": 1, **counted}
