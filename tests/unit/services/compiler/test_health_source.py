"""One check of one source: what makes it healthy, and when the body is spared."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from fakes.transport import FakeTransport, Scripted
from sluice.core.errors import Unavailable
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.net.transport import TransportRequest
from sluice.services.compiler.health.source import (
    HealthSource,
    SourceCheck,
    SourceHealth,
    Validators,
    count_rules,
    summarize,
)

URL = "https://lists.example/a.txt"
SOURCE = HealthSource(name="A", url=URL, expectedMinRules=2)
BODY = b"! comment\n||a.example^\r\n\n# comment\n  \n||b.example^"
TAGGED = (("etag", '"1"'), ("last-modified", "Mon, 16 Nov 2026 04:00:00 GMT"))
KNOWN = Validators(etag='"1"', last_modified=None, rule_count=5)


class Web:
    """Answers HEAD and GET, each after its time."""

    def __init__(self, get: Scripted, head: Scripted | None = None, *, took_s: float = 0.0) -> None:
        self.clock = ManualClock()
        self._get, self._head, self._took_s = get, head or Scripted(get.status, get.headers), took_s
        self.transport = FakeTransport({URL: self._answer})
        fetcher = Fetcher(self.transport, AllowedHosts.parse(""))
        self.check = SourceCheck(fetch=fetcher.fetch, clock=self.clock)

    async def _answer(self, request: TransportRequest) -> Scripted:
        assert ("user-agent", "AdblockCompiler-HealthCheck/1.0") in request.headers
        self.clock.advance(self._took_s)
        return self._head if request.method == "HEAD" else self._get

    @property
    def asked(self) -> list[str]:
        return [request.method for request in self.transport.requests]


async def test_healthy():
    """Status, time and rules are told, with what identifies this version."""
    web = Web(Scripted(200, TAGGED, BODY), took_s=1.5)
    found = await web.check(SOURCE, None)
    assert found == SourceHealth(
        name="A",
        url=URL,
        healthy=True,
        status_code=200,
        response_ms=1500,
        rule_count=2,
        etag='"1"',
        last_modified="Mon, 16 Nov 2026 04:00:00 GMT",
    )
    assert web.asked == ["GET"]


@pytest.mark.parametrize("status", [204, 404, 500, 503])
async def test_wrong_status(status: int):
    """Anything but 200 is unhealthy and says so."""
    found = await Web(Scripted(status, (), b"" if status == 204 else BODY)).check(SOURCE, None)
    assert (found.healthy, found.status_code, found.rule_count) == (False, status, 0)
    assert found.error == f"Status {status} instead of 200"


async def test_too_few_rules():
    """A list that lost its rules is unhealthy although it answers."""
    found = await Web(Scripted(200, (), b"||a.example^")).check(SOURCE, None)
    assert (found.healthy, found.rule_count, found.error) == (False, 1, "Low rule count: 1 of at least 2")


async def test_too_slow():
    """An answer after half a minute comes too late."""
    found = await Web(Scripted(200, (), BODY), took_s=30).check(SOURCE, None)
    assert (found.healthy, found.error) == (False, "Too slow: 30000 ms")


async def test_no_answer():
    """A host that is not there has no status, and the reason is told."""
    web = Web(Scripted())

    async def down(_request: TransportRequest) -> Scripted:
        raise Unavailable("connection refused")

    web.transport.answers = {URL: down}
    found = await web.check(SOURCE, None)
    assert (found.healthy, found.status_code, found.error) == (False, 0, "connection refused")


async def test_private_address():
    """A source on a private address is not fetched."""
    web = Web(Scripted())
    found = await web.check(HealthSource(name="P", url="http://127.0.0.1/x"), None)
    assert not found.healthy
    assert web.asked == []


async def test_unchanged_spares_the_body():
    """The same ETag as when it was last well: the head is enough, and the count is the known one."""
    web = Web(Scripted(200, TAGGED, BODY))
    found = await web.check(SOURCE, KNOWN)
    assert (found.healthy, found.rule_count) == (True, 5)
    assert web.asked == ["HEAD"]


@pytest.mark.parametrize(
    "known",
    [
        Validators(etag='"0"', last_modified="Mon, 16 Nov 2026 04:00:00 GMT", rule_count=5),
        Validators(etag=None, last_modified="Mon, 16 Nov 2026 03:00:00 GMT", rule_count=5),
    ],
)
async def test_changed(known: Validators):
    """Another version is read; a date that stayed does not help against another ETag."""
    web = Web(Scripted(200, TAGGED, BODY))
    assert (await web.check(SOURCE, known)).rule_count == 2
    assert web.asked == ["HEAD", "GET"]


async def test_nothing_to_compare():
    """A source that tells neither tag nor date is read at once."""
    web = Web(Scripted(200, (), BODY))
    await web.check(SOURCE, Validators(etag=None, last_modified=None, rule_count=5))
    assert web.asked == ["GET"]


async def test_unchanged_by_date():
    """Where there is no ETag, the date decides."""
    web = Web(Scripted(200, TAGGED[1:], BODY))
    known = Validators(etag=None, last_modified="Mon, 16 Nov 2026 04:00:00 GMT", rule_count=5)
    assert (await web.check(SOURCE, known)).rule_count == 5


async def test_head_refused():
    """A server that does not know HEAD is asked by GET."""
    web = Web(Scripted(200, TAGGED, BODY), head=Scripted(405))
    assert (await web.check(SOURCE, KNOWN)).healthy
    assert web.asked == ["HEAD", "GET"]


async def test_unchanged_but_expected_to_hold_more():
    """The known count is held to what is expected now."""
    found = await Web(Scripted(200, TAGGED, BODY)).check(SOURCE.model_copy(update={"expectedMinRules": 6}), KNOWN)
    assert found.error == "Low rule count: 5 of at least 6"


@given(st.lists(st.sampled_from(["||a^", "! c", "# c", "", "  ", "\t||b^"])), st.sampled_from(["\n", "\r\n"]))
def test_rules_are_lines_that_say_something(lines: list[str], end: str):
    """Comments and blank lines do not count, whatever ends the lines."""
    expected = sum(line.strip().startswith("||") for line in lines)
    assert count_rules(end.join(lines).encode()) == expected


def test_summary():
    """Counts and the average of the response times."""
    results = [{"healthy": True, "responseTimeMs": 100}, {"healthy": False, "responseTimeMs": 201}]
    assert summarize(results) == {"total": 2, "healthy": 1, "unhealthy": 1, "avgResponseTimeMs": 150}
    assert summarize([]) == {"total": 0, "healthy": 0, "unhealthy": 0, "avgResponseTimeMs": 0}
