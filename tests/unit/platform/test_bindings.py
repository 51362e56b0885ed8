"""The probes behind GET /health."""

import asyncio
from types import SimpleNamespace

from fakes.binding import JsError
from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.objects import FakeObjects
from fakes.queues import FakeQueue
from fakes.r2 import FakeR2
from fakes.workflows import FakeWorkflows
from sluice.platform.bindings import PROBES, Binding, probe
from sluice.web.common_routes import Check


class Pinged:
    def __init__(self, name: str) -> None:
        self.name = name

    async def ping(self) -> str:
        return "pong"


class Silent:
    async def get(self, _: str) -> None:
        await asyncio.Event().wait()


class Broken:
    async def get(self, _: str) -> None:
        raise JsError("KV GET failed: 500 Internal Server Error")


def environment() -> SimpleNamespace:
    clock = ManualClock()
    return SimpleNamespace(
        KV=FakeKV(clock),
        DB=FakeD1(),
        BUCKET=FakeR2(clock),
        JOBS=FakeQueue(),
        POINTS=SimpleNamespace(writeDataPoint=print),
        AI=SimpleNamespace(run=print),
        QUEUE=FakeObjects(Pinged),
        FLOW=FakeWorkflows(),
        OTHER=SimpleNamespace(fetch=print),
    )


BINDINGS = (
    Binding("KV", "kv"),
    Binding("DB", "d1"),
    Binding("BUCKET", "r2"),
    Binding("JOBS", "queue"),
    Binding("POINTS", "analytics"),
    Binding("AI", "ai"),
    Binding("QUEUE", "durable-object"),
    Binding("FLOW", "workflow"),
    Binding("OTHER", "service"),
)


async def test_every_kind_answers():
    """Each kind of binding is checked, and all that answer are ok."""
    assert {binding.kind for binding in BINDINGS} == set(PROBES)
    assert await probe(environment(), BINDINGS) == {b.name: Check(b.kind, ok=True) for b in BINDINGS}


async def test_missing_binding_is_named():
    """A missing binding is reported, and the others are still checked."""
    env = environment()
    del env.DB
    checks = await probe(env, BINDINGS)
    assert checks["DB"] == Check("d1", ok=False, error="the binding is missing")
    assert checks["KV"].ok


async def test_another_kind_is_noticed():
    """A binding of another kind is reported."""
    checks = await probe(environment(), [Binding("KV", "d1"), Binding("DB", "queue"), Binding("BUCKET", "workflow")])
    assert checks["KV"].error == "it has no prepare: another kind is bound under this name"
    assert checks["DB"].error == "it has no send: another kind is bound under this name"


async def test_failure_gives_the_reason():
    """An error of the binding is the reported reason."""
    checks = await probe(
        SimpleNamespace(KV=Broken(), FLOW=Broken()), [Binding("KV", "kv"), Binding("FLOW", "workflow")]
    )
    assert checks["KV"] == Check("kv", ok=False, error="KV GET failed: 500 Internal Server Error")
    assert not checks["FLOW"].ok


async def test_silence_is_bounded():
    """A binding that never answers is reported after the timeout."""
    async with asyncio.timeout(240):
        checks = await probe(SimpleNamespace(KV=Silent()), [Binding("KV", "kv")], timeout_s=0)
    assert checks["KV"] == Check("kv", ok=False, error="no answer within 0 s")
