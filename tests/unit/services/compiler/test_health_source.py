"""One check of one source: what makes it healthy, and when the body is not downloaded."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.clock import ManualClock
from fakes.transport import FakeTransport, Scripted
from sluice.core.errors import Unavailable
from sluice.core.net.addresses import AllowedHosts
from sluice.core.net.fetch import Fetcher
from sluice.core.net.transport import TransportRequest
from sluice.services.compiler.health.source_check import (
    CheckedSource,
    HealthSource,
    ListReader,
    SourceCheck,
    SourceValidators,
    is_page_or_json,
    summarize,
)

URL = "https://lists.example/a.txt"
SOURCE = HealthSource(name="A", url=URL, expectedMinRules=2)
BODY = b"! comment\n||a.example^\r\n\n# comment\n  \n||b.example^"
TAGGED = (("etag", '"1"'), ("last-modified", "Mon, 16 Nov 2026 04:00:00 GMT"))
KNOWN = SourceValidators(etag='"1"', last_modified=None, rule_count=5)


class Web:
    """Answers HEAD and GET, each after its delay."""

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
    def methods(self) -> list[str]:
        return [request.method for request in self.transport.requests]


async def test_healthy():
    """Status, time and rules are reported, with the validators of this version."""
    web = Web(Scripted(200, TAGGED, BODY), took_s=1.5)
    health = await web.check(SOURCE, None)
    assert health == CheckedSource(
        name="A",
        url=URL,
        healthy=True,
        status_code=200,
        response_ms=1500,
        rule_count=2,
        etag='"1"',
        last_modified="Mon, 16 Nov 2026 04:00:00 GMT",
    )
    assert web.methods == ["GET"]


@pytest.mark.parametrize("status", [204, 404, 500, 503])
async def test_wrong_status(status: int):
    """Any status but 200 is unhealthy."""
    health = await Web(Scripted(status, (), b"" if status == 204 else BODY)).check(SOURCE, None)
    assert (health.healthy, health.status_code, health.rule_count) == (False, status, 0)
    assert health.error == f"Status {status} instead of 200"


async def test_too_few_rules():
    """A list that lost its rules is unhealthy although it answers."""
    health = await Web(Scripted(200, (), b"||a.example^")).check(SOURCE, None)
    assert (health.healthy, health.rule_count, health.error) == (False, 1, "Low rule count: 1 of at least 2")


async def test_too_slow():
    """A response after half a minute is too late."""
    health = await Web(Scripted(200, (), BODY), took_s=30).check(SOURCE, None)
    assert (health.healthy, health.error) == (False, "Too slow: 30000 ms")


async def test_no_response():
    """A host that does not respond has no status, and the reason is reported."""
    web = Web(Scripted())

    async def down(_request: TransportRequest) -> Scripted:
        raise Unavailable("connection refused")

    web.transport.answers = {URL: down}
    health = await web.check(SOURCE, None)
    assert (health.healthy, health.status_code, health.error) == (False, 0, "connection refused")


async def test_private_address():
    """A source on a private address is not fetched."""
    web = Web(Scripted())
    health = await web.check(HealthSource(name="P", url="http://127.0.0.1/x"), None)
    assert not health.healthy
    assert web.methods == []


async def test_unchanged_source_is_not_downloaded():
    """With the ETag of the last healthy check, HEAD is enough, and the stored rule count is used."""
    web = Web(Scripted(200, TAGGED, BODY))
    health = await web.check(SOURCE, KNOWN)
    assert (health.healthy, health.rule_count) == (True, 5)
    assert web.methods == ["HEAD"]


@pytest.mark.parametrize(
    "validators",
    [
        SourceValidators(etag='"0"', last_modified="Mon, 16 Nov 2026 04:00:00 GMT", rule_count=5),
        SourceValidators(etag=None, last_modified="Mon, 16 Nov 2026 03:00:00 GMT", rule_count=5),
    ],
)
async def test_changed_source(validators: SourceValidators):
    """Another version is downloaded; an equal date does not outweigh another ETag."""
    web = Web(Scripted(200, TAGGED, BODY))
    assert (await web.check(SOURCE, validators)).rule_count == 2
    assert web.methods == ["HEAD", "GET"]


async def test_nothing_to_compare():
    """A source without ETag and date is downloaded at once."""
    web = Web(Scripted(200, (), BODY))
    await web.check(SOURCE, SourceValidators(etag=None, last_modified=None, rule_count=5))
    assert web.methods == ["GET"]


async def test_unchanged_by_date():
    """Without an ETag, the date decides."""
    web = Web(Scripted(200, TAGGED[1:], BODY))
    validators = SourceValidators(etag=None, last_modified="Mon, 16 Nov 2026 04:00:00 GMT", rule_count=5)
    assert (await web.check(SOURCE, validators)).rule_count == 5


async def test_head_refused():
    """A server that refuses HEAD is checked by GET."""
    web = Web(Scripted(200, TAGGED, BODY), head=Scripted(405))
    assert (await web.check(SOURCE, KNOWN)).healthy
    assert web.methods == ["HEAD", "GET"]


async def test_unchanged_with_too_few_rules():
    """The stored rule count is compared with the current expectation."""
    health = await Web(Scripted(200, TAGGED, BODY)).check(SOURCE.model_copy(update={"expectedMinRules": 6}), KNOWN)
    assert health.error == "Low rule count: 5 of at least 6"


@given(
    st.lists(st.sampled_from(["||a^", "! c", "# c", "", "  ", "\t||b^"])),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 9),
)
def test_rule_count(lines: list[str], end: str, size: int):
    """Comments and blank lines do not count, whatever ends a line and wherever the download is cut into chunks."""
    body = end.join(lines).encode()
    reader = ListReader()
    for at in range(0, len(body), size):
        reader.read(body[at : at + size])
    assert reader.rules == sum(line.strip().startswith("||") for line in lines)
    assert reader.head == body


def test_summary():
    """Counts and the average of the response times."""
    results = [
        CheckedSource(
            name="A", url="https://a", healthy=healthy, status_code=200, response_ms=took_ms, rule_count=1
        ).as_json()
        for healthy, took_ms in ((True, 100), (False, 201))
    ]
    assert summarize(results) == {"total": 2, "healthy": 1, "unhealthy": 1, "avgResponseTimeMs": 150}
    assert summarize([]) == {"total": 0, "healthy": 0, "unhealthy": 0, "avgResponseTimeMs": 0}


@pytest.mark.parametrize(
    "body",
    [
        b"<!DOCTYPE html>\n" + b"<p>x</p>\n" * 300,
        b"<div class='a'>\n" + b"  <p>Not here any more</p>\n" * 300 + b"</div>\n",
        b'{"message": "Not Found"}\n' * 300,
    ],
)
def test_page_in_place_of_a_list(body: bytes):
    """Three hundred lines of a page are not three hundred rules."""
    assert is_page_or_json(body)


@pytest.mark.parametrize(
    "body",
    [b"||ads.example^\n" * 300, b"0.0.0.0 a.example\n", b"", b"example.com##.ad > div\nexample.com$$script[tag]\n"],
)
def test_list_is_no_page(body: bytes):
    """Rules of every kind are a list."""
    assert not is_page_or_json(body)
