"""Lists whose sources exceed a limit: such a limit is hit every time, so it is no outage, and no part of a list is published."""

import asyncio
import json
from itertools import permutations
from types import SimpleNamespace

import pytest

from sluice.core.json_text import JsonObject
from sluice.services.compiler.limits.metered_download import LIMITS
from sluice.services.compiler.published.sources import source_fetcher
from unit.services.compiler.published.list_bench import LOST, Answer, ListBench, make_list, rules_of
from unit.services.compiler.published.test_lists_api import ADMIN, Client, read

NAME = "my-list"
A, B, C, D = (f"https://{letter}.example/list.txt" for letter in "abcd")


def make_large(size: int, prefix: str = "a") -> bytes:
    """Return a few rules, and comments up to this size."""
    rules = make_list(3, prefix)
    return rules + (b"! " + b"x" * 997 + b"\n") * ((size - len(rules)) // 1_000)


def make_short_lines(count: int, prefix: str) -> bytes:
    return b"".join(b"%s%d.io\n" % (prefix.encode(), at) for at in range(count))


def define(*sources: str) -> dict[str, object]:
    return {"configuration": {"name": "L", "sources": [{"source": source} for source in sources]}}


def weigh(*bodies: bytes) -> str:
    return f"{sum(map(len, bodies)):,}"


async def build(bench: ListBench, *sources: str, **more: object) -> tuple[str, str]:
    """Return the outcome of one build, and its reason."""
    build_id = await bench.put(NAME, *sources, **more)
    await bench.run_all()
    row = await bench.builds.find(build_id)
    assert row is not None
    return row["outcome"], row["reason"] or ""


TOO_LARGE: dict[str, tuple[dict[str, Answer], str]] = {
    "bytes": (
        {A: make_large(4_000_000), B: make_large(4_000_000, "b"), C: make_large(4_000_000, "c")},
        f"{weigh(*[make_large(4_000_000)] * 3)} bytes, and the limit is 10,000,000",
    ),
    "lines": (
        {A: make_short_lines(250_000, "a"), B: make_short_lines(250_000, "b")},
        "500,000 lines, and the limit is 400,000",
    ),
    "memory": (
        {
            A: f"||{'a' * 60}\U0001f600.example^\n".encode() * 50_000,
            B: f"||{'b' * 60}\U0001f600.io^\n".encode() * 50_000,
        },
        "bytes of memory as text, and the limit is 30,000,000",
    ),
    "one source": (
        {A: make_list(5), B: make_large(11_000_000)},
        f"Source {B}: it is larger than 10,000,000 bytes, the limit for one source",
    ),
    "lines of one source": (
        {A: make_list(5), B: make_short_lines(400_002, "b")},
        f"Source {B}: it has more than 400,000 lines",
    ),
    "includes": (
        {
            A: make_list(5),
            B: b"||b.example^\n!#include one.txt\n!#include two.txt\n",
            "https://b.example/one.txt": make_large(6_000_000, "x"),
            "https://b.example/two.txt": make_large(6_000_000, "y"),
        },
        f"Source {B}: it is larger than 10,000,000 bytes with what it includes",
    ),
}


@pytest.mark.parametrize("kind", TOO_LARGE)
async def test_first_version(kind: str):
    """The first build fails with the reason, for which there is an alert; no address shows a part of the list."""
    answers, reason = TOO_LARGE[kind]
    bench = ListBench(answers)
    outcome, told = await build(bench, *(url for url in (A, B, C) if url in answers))
    assert outcome == "failed"
    assert reason in told
    known = await bench.lists.load(NAME)
    assert (known.version, known.state, known.reason) == (0, "failed", told)
    assert [json.loads(alert)["reason"] for alert in bench.sites.alerts] == [told]
    with pytest.raises(AssertionError, match="never built"):
        await bench.text(f"{NAME}.txt")
    assert await bench.database.all("select * from published_copies") == []


@pytest.mark.parametrize("kind", TOO_LARGE)
async def test_put_and_dry_run(kind: str):
    """Both are refused with what a build would say, and nothing is stored."""
    answers, reason = TOO_LARGE[kind]
    client = Client(ListBench(answers))
    body = define(*(url for url in (A, B, C) if url in answers))
    for query in ("", "?dryRun=1"):
        reply = await client("PUT", f"/lists/{NAME}{query}", body, ADMIN)
        assert (reply.status, reply.header("Content-Type")) == (413, "application/problem+json")
        assert reason in read(reply)["detail"]
    assert (await client("GET", f"/lists/{NAME}")).status == 404
    assert client.bench.engine.instances == {}


async def test_order_of_arrival():
    """Whichever source comes first, what is told is the same, and as little is published."""
    answers: dict[str, Answer] = {
        A: make_large(7_000_000),
        B: make_large(5_000_000, "b"),
        C: make_large(2_000_000, "c"),
    }
    told = set()
    for order in permutations((A, B, C)):
        bench = ListBench(answers)
        bench.sites.held_back = {url: 12 * at for at, url in enumerate(order)}
        told.add(await build(bench, A, B, C))
    [(outcome, reason)] = told
    assert outcome == "failed"
    assert weigh(*(body for body in answers.values() if isinstance(body, bytes))) in reason


async def test_grown():
    """A list that has grown beyond the limit stays as it is served, and says why; when it fits again, it is built."""
    bench = ListBench({A: make_large(4_000_000), B: make_large(4_000_000, "b")})
    assert (await build(bench, A, B))[0] == "published"
    served = await bench.text(f"{NAME}.txt")
    bench.sites.answers[B] = make_large(7_000_000, "c")
    for _ in range(2):
        assert await bench.rebuild(NAME) == "failed"
        known = await bench.lists.load(NAME)
        assert (known.version, known.state) == (1, "failed")
        assert "all sources together have 10,9" in (known.reason or "")
        assert await bench.text(f"{NAME}.txt") == served
    bench.sites.answers[B] = make_large(5_000_000, "c")
    assert await bench.rebuild(NAME) == "published"
    assert [json.loads(alert)["type"] for alert in bench.sites.alerts] == ["list-degraded", "list-recovered"]
    assert rules_of(await bench.text(f"{NAME}.txt")) == rules_of((make_list(3) + make_list(3, "c")).decode())


async def test_grown_source_with_a_copy():
    """One source that is beyond its own limit has gone bad: its last good copy is taken, so that the others stay fresh."""
    bench = ListBench({A: make_list(5), B: make_list(5, "b")})
    assert (await build(bench, A, B))[0] == "published"
    bench.sites.answers |= {A: make_list(6), B: make_large(12_000_000)}
    assert await bench.rebuild(NAME) == "published"
    known = await bench.lists.load(NAME)
    assert (known.state, [source["state"] for source in known.sources]) == ("degraded", ["ok", "last-good"])
    assert "larger than 10,000,000 bytes" in (known.sources[1]["reason"] or "")
    assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 11


async def test_copies_count():
    """A copy that stands in for its source counts as much as the source did."""
    bench = ListBench({A: make_large(4_000_000), B: make_large(4_000_000, "b")})
    assert (await build(bench, A, B))[0] == "published"
    bench.sites.answers |= {A: LOST, B: make_large(7_000_000, "b")}
    assert await bench.rebuild(NAME) == "failed"
    assert "all sources together have 10,9" in ((await bench.lists.load(NAME)).reason or "")


async def test_expired_copy():
    """Without its copy, which was kept for 30 days, a source over its limit fails the build, and what is served stays."""
    bench = ListBench({A: make_list(5), B: make_list(5, "b")})
    await build(bench, A, B)
    bench.sites.answers[B] = make_large(12_000_000)
    bench.clock.advance(31 * 24 * 3600)
    assert await bench.rebuild(NAME) == "failed"
    assert len(rules_of(await bench.text(f"{NAME}.txt"))) == 10


async def test_bad_source_beside_large_ones():
    """A source that sends too much fills the room of the others only for a while: they are read again, and nothing is lost."""
    bench = ListBench(
        {A: make_large(5_000_000), B: make_large(4_000_000, "b"), C: make_list(3, "c"), D: make_list(1, "d")}
    )
    assert (await build(bench, A, B, C, D))[0] == "published"
    bench.sites.answers |= {A: make_large(5_500_000), B: make_large(4_200_000, "b"), C: make_large(9_999_000, "x") * 2}
    bench.sites.requests.clear()
    assert await bench.rebuild(NAME) == "published"
    known = await bench.lists.load(NAME)
    assert [source["state"] for source in known.sources] == ["ok", "ok", "last-good", "ok"]
    assert len(bench.sites.requests) > 4
    assert rules_of(await bench.text(f"{NAME}.txt"))[-1] == "||d0.example^"


async def test_mirror_of_a_large_source():
    """A mirror that fits is taken; one that is too large as well is the same as none."""
    bench = ListBench({A: make_list(5), B: make_large(12_000_000), C: make_list(4, "c")})
    assert (await build(bench, A, B, mirrors={B: [C]}))[0] == "published"
    bench.sites.answers |= {B: (404, b""), C: make_large(12_000_000)}
    await bench.operator.delete(NAME)
    outcome, reason = await build(bench, A, B, mirrors={B: [C]})
    assert (outcome, "it is larger than" in reason) == ("failed", True)


async def test_shared_includes_count_once():
    """What several sources include is in memory once, and so it counts once."""
    include, shared = b"||own.example^\n!#include shared.txt\n", "https://h.example/shared.txt"
    sources = [f"https://h.example/{at}.txt" for at in range(3)]
    bench = ListBench({**dict.fromkeys(sources, include), shared: make_large(4_000_000)})
    assert (await build(bench, *sources))[0] == "published"


async def test_pattern_file():
    """A file of exclusions over the limit is no reason to leave the exclusions out."""
    bench = ListBench({A: make_list(5), B: make_large(11_000_000)})
    configuration: JsonObject = {"name": "L", "sources": [{"source": A}], "exclusions_sources": [B]}
    build_id = (
        await bench.operator.put(NAME, {"configuration": configuration}, "https://lists.example", bench.ticket())
    )[1]
    await bench.run_all()
    row = await bench.builds.find(build_id)
    assert row is not None
    assert (row["outcome"], f"Source {B}: it is larger than" in row["reason"]) == ("failed", True)


async def test_put_while_sources_are_away():
    """What cannot be read now has no size: the list is accepted after one try of each, and the build says what it finds."""
    client = Client(ListBench({A: LOST, B: (503, b""), C: make_list(3)}))
    assert (await client("PUT", f"/lists/{NAME}", define(A, B, C), ADMIN)).status == 201
    assert [url for url, _ in client.bench.sites.requests] == [A, B, C]
    await client.bench.run_all()
    assert (await client.bench.lists.load(NAME)).state == "degraded"


async def test_put_does_not_wait_for_slow_sources(monkeypatch: pytest.MonkeyPatch):
    """The check ends after a while with what it has seen by then, which may be enough to refuse."""
    ends: list[asyncio.Task[None]] = []

    def open_deadline(_seconds: float) -> asyncio.Timeout:
        """End after many turns of the loop, in which every source but the slow one has come."""
        deadline = asyncio.timeout(None)

        async def end() -> None:
            for _ in range(1_000):
                await asyncio.sleep(0)
            deadline.reschedule(0)

        ends.append(asyncio.ensure_future(end()))
        return deadline

    monkeypatch.setattr(source_fetcher, "asyncio", SimpleNamespace(timeout=open_deadline, gather=asyncio.gather))
    client = Client(ListBench({A: make_large(6_000_000), B: make_list(3), C: make_large(6_000_000, "c")}))
    client.bench.sites.held_back[B] = 10**9
    assert (await client("PUT", f"/lists/{NAME}", define(A, B), ADMIN)).status == 201
    assert (await client("PUT", f"/lists/{NAME}", define(A, B, C), ADMIN)).status == 413
    assert len(ends) == 2


async def test_changed_definition_is_refused():
    """A list that is served keeps its definition when the new one is too large."""
    client = Client(ListBench({A: make_list(5), B: make_large(6_000_000), C: make_large(6_000_000, "c")}))
    assert (await client("PUT", f"/lists/{NAME}", define(A), ADMIN)).status == 201
    assert (await client("PUT", f"/lists/{NAME}", define(A, B, C), ADMIN)).status == 413
    known = await client.bench.lists.load(NAME)
    assert [source.source for source in known.definition.configuration.sources] == [A]


async def test_as_large_as_allowed():
    """Sources of exactly the limit are built."""
    first = make_large(6_000_000)
    second = make_list(3, "b")
    second += b"!" + b"x" * (LIMITS.total_bytes - len(first) - len(second) - 2) + b"\n"
    bench = ListBench({A: first, B: second})
    assert (await build(bench, A, B))[0] == "published"
    bench.sites.answers[B] = second + b"\n"
    assert await bench.rebuild(NAME) == "failed"
