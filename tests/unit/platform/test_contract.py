"""Every contract over the fakes; the same cases run over the real bindings in workerd."""

from collections.abc import Callable
from typing import Any

import pytest

from contract import SUITES, run_case
from contract.fetch import Web, upstream
from contract.public_cache import Front
from contract.queues import Queue
from contract.sql import Storage
from fakes.clock import ManualClock
from fakes.d1 import FakeD1
from fakes.kv import FakeKV
from fakes.objects import FakeStorage
from fakes.public_cache import FakePublicCache
from fakes.queues import FakeQueue
from fakes.r2 import FakeR2
from fakes.transport import FakeTransport, Scripted
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.platform.durable_objects import Alarm, Sql, erase_storage
from sluice.platform.public_cache import PublicCache
from sluice.platform.queues import Producer, read_messages
from sluice.platform.storage.d1 import D1
from sluice.platform.storage.kv import KV
from sluice.platform.storage.r2 import R2

CASES = [pytest.param(suite, case, id=f"{suite}-{case}") for suite, cases in SUITES.items() for case in cases]


def kv() -> KV:
    clock = ManualClock()
    return KV(FakeKV(clock), clock)


def queue() -> Queue:
    fake = FakeQueue()

    async def received(mark: str, count: int) -> list[Any]:
        return [message.body for message in read_messages(fake.deliver(count)) if message.body["mark"] == mark]

    return Queue(Producer(fake), received)


def storage() -> Storage:
    fake = FakeStorage()
    return Storage(Sql(fake), Alarm(fake), lambda: erase_storage(fake))


def web() -> Web:
    origin = "http://upstream.test:8080"
    answers = {origin + path: Scripted(*answer) for path, answer in upstream(origin).items()}
    return Web(Fetcher(FakeTransport(answers), AllowedHosts()), origin)


def front() -> Front:
    fake = FakePublicCache()

    async def visit(path: str, *tags: str) -> bool:
        if path in fake.copies:
            return True
        fake.keep(path, *tags)
        return False

    return Front(PublicCache(fake, dict), visit)


SUBJECTS: dict[str, Callable[[], Any]] = {
    "d1": lambda: D1(FakeD1()),
    "fetch": web,
    "kv": kv,
    "public_cache": front,
    "queues": queue,
    "r2": lambda: R2(FakeR2(ManualClock())),
    "sql": storage,
}


@pytest.mark.parametrize(("suite", "case"), CASES)
async def test_contract(suite, case):
    """The adapter over its fake keeps the promise."""
    assert await run_case(suite, case, SUBJECTS[suite]) is None


def test_every_suite_has_cases():
    """No suite is empty, and each is tried here."""
    assert all(SUITES.values())
    assert set(SUITES) == set(SUBJECTS)


async def test_failing_case_is_reported():
    """A case that does not hold comes back as its traceback."""
    report = await run_case("d1", "check_batch_is_atomic", lambda: None)
    assert report is not None
    assert "check_batch_is_atomic" in report
