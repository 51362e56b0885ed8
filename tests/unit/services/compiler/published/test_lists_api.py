"""Published lists over HTTP: who may do what, what is refused, and what an address costs."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from sluice.core.errors import NotFound
from sluice.services.compiler.http.routes import compiler_routes
from sluice.web import App, Headers, Reply, Request
from sluice.web.clients import ReadLimit
from unit.services.compiler.published.list_bench import LOST, TOKEN, ListBench, make_list
from unit.services.compiler.test_routes import SETTINGS

SOURCE = "https://a.example/list.txt?key=secret"
ADMIN = {"authorization": f"Bearer {TOKEN}"}


class Client:
    """Calls the routes of the Worker over the fakes."""

    def __init__(self, bench: ListBench) -> None:
        self.bench = bench

        class Apis:
            lists_api = bench.api
            read_limit = ReadLimit(bench.clock)
            list_addresses = bench.addresses

        self._app = App(compiler_routes(Apis(), SETTINGS), on_error=self._raise)  # type: ignore[arg-type]

    async def __call__(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Reply:
        content = b"" if body is None else json.dumps(body).encode()

        async def read_body(_max_bytes: int) -> bytes:
            return content

        values = {"content-length": str(len(content)), **(headers or {})}
        return await self._app.handle(Request(method, f"https://lists.example{path}", Headers(values), read_body))

    def _raise(self, error: Exception, _request: Request) -> None:
        raise error


def definition(**more: Any) -> dict[str, Any]:
    return {"configuration": {"name": "L", "sources": [{"source": SOURCE}]}, **more}


def read(reply: Reply) -> Any:
    assert isinstance(reply.body, bytes)
    return json.loads(reply.body)


@pytest.fixture(name="client")
def _client() -> Client:
    return Client(ListBench({SOURCE: make_list(20)}))


async def publish(client: Client, name: str = "my-list", **more: Any) -> Reply:
    reply = await client("PUT", f"/lists/{name}", definition(**more), ADMIN)
    await client.bench.run_all()
    return reply


async def test_create_and_replace(client: Client):
    """201 for a new list, 202 for a changed one, each with the id of its build."""
    created, replaced = await publish(client), await publish(client)
    assert (created.status, replaced.status) == (201, 202)
    assert read(created)["buildId"] != read(replaced)["buildId"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", ""), ("DELETE", ""), ("POST", "/rebuild"), ("POST", "/rollback"), ("PUT", "?dryRun=1")],
)
@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"authorization": "Basic b3BlcmF0b3I="}])
async def test_strangers(client: Client, method: str, path: str, headers: dict[str, str]):
    """Without the operator's token nothing is changed, or even fetched."""
    assert (await client(method, f"/lists/my-list{path}", definition(), headers)).status in {401, 403}
    assert client.bench.sites.requests == []


async def test_refused_definitions(client: Client):
    """400 with every bad field."""
    reply = await client("PUT", "/lists/my-list", definition(extra=1, maxShrink=2), ADMIN)
    assert reply.status == 400
    assert {error["path"] for error in read(reply)["errors"]} == {"extra", "maxShrink"}
    assert (await client("PUT", "/lists/patches", definition(), ADMIN)).status == 400


async def test_preview(client: Client):
    """A dry run says what would change and stores nothing."""
    preview = read(await client("PUT", "/lists/my-list?dryRun=1", definition(), ADMIN))
    assert (len(preview["added"]), preview["removed"], preview["sources"][0]["state"]) == (20, [], "ok")
    assert (await client("GET", "/lists/my-list")).status == 404
    assert [stored.key async for stored in client.bench.bucket.objects()] == []
    await publish(client)
    client.bench.sites.answers[SOURCE] = make_list(21)
    preview = read(await client("PUT", "/lists/my-list?dryRun=1", definition(), ADMIN))
    assert (preview["added"], preview["removed"]) == (["||a20.example^"], [])


async def test_facts(client: Client):
    """Everybody may read; no query string of a source is shown anywhere."""
    await publish(client, formats=["hosts"])
    facts = read(await client("GET", "/lists/my-list"))
    assert (facts["version"], facts["state"], facts["ruleCount"], facts["lastBuild"]["outcome"]) == (
        1, "fresh", 20, "published",
    )  # fmt: skip
    assert facts["formats"][1] == {
        "format": "hosts", "url": "https://lists.example/lists/my-list.hosts", "entries": 20, "skipped": 0,
    }  # fmt: skip
    client.bench.sites.answers[SOURCE] = LOST
    await client.bench.rebuild("my-list")
    every = [read(await client("GET", f"/lists{path}")) for path in ("", "/my-list", "/my-list/overlap")]
    every.append(read(await client("GET", "/lists/my-list/why?domain=a1.example")))
    assert "secret" not in json.dumps(every) + await client.bench.text("my-list.txt")


async def test_all_lists_by_name(client: Client):
    """The lists are shown in the order of their names."""
    for name in ("zebra", "ant", "moth"):
        await publish(client, name)
    assert [each["name"] for each in read(await client("GET", "/lists"))["lists"]] == ["ant", "moth", "zebra"]


async def test_why_of_an_international_name(client: Client):
    """A name is found in either spelling, in any case, with a final dot, or in an address."""
    client.bench.sites.answers[SOURCE] = make_list(20) + "||bücher.de^\n".encode()
    await publish(client)
    for domain in ("bücher.de", "BÜCHER.DE.", "xn--bcher-kva.de", "https://shop.Bücher.de:8443/weg?x=1"):
        answer = read(await client("GET", f"/lists/my-list/why?domain={quote(domain)}"))
        assert (answer["verdict"], answer["rule"]) == ("blocked", "||bücher.de^"), domain


async def test_address_costs_one_read(client: Client):
    """A request for an address reads one object, and neither the database nor anything else."""
    await publish(client)
    bench = client.bench
    before = len(bench.d1.operations), len(bench.r2.operations)
    reply = await client("GET", "/lists/my-list.txt?_=12")
    assert reply.status == 200
    assert (len(bench.d1.operations), len(bench.r2.operations)) == (before[0], before[1] + 1)
    assert reply.header("Cache-Tag") == "list-my-list"
    same = await client("GET", "/lists/my-list.txt", headers={"if-none-match": reply.header("ETag") or ""})
    assert (same.status, same.body) == (304, None)
    assert (await client("HEAD", "/lists/my-list.txt")).status == 200
    assert len(bench.r2.operations) == before[1] + 3


async def test_addresses_without_a_list(client: Client):
    """Never built: 503 and Retry-After; no such format or list: 404."""
    client.bench.sites.answers.clear()
    await publish(client)
    reply = await client("GET", "/lists/my-list.txt")
    assert (reply.status, reply.header("Retry-After")) == (503, "120")
    for path in ("/lists/my-list.hosts", "/lists/other.txt", "/lists/my-list.", "/lists/.txt", "/lists/my-list.txt.gz"):
        assert (await client("GET", path)).status == 404


async def test_last_modified_is_never_set_back(client: Client):
    """A rollback is newer than what it replaces."""
    await publish(client)
    client.bench.sites.answers[SOURCE] = make_list(25)
    await client.bench.rebuild("my-list")
    dates = [(await client("GET", "/lists/my-list.txt")).header("Last-Modified")]
    await client("POST", "/lists/my-list/rollback", {"version": 1}, ADMIN)
    await client.bench.run_all()
    dates.append((await client("GET", "/lists/my-list.txt")).header("Last-Modified"))
    assert dates[0] != dates[1]
    assert "! Version: 3" in await client.bench.text("my-list.txt")
    assert (await client("POST", "/lists/my-list/rollback", {"version": 9}, ADMIN)).status == 404
    assert (await client("POST", "/lists/my-list/rollback", {"version": "1"}, ADMIN)).status == 400


async def test_hundred_lists(client: Client):
    """The hundred and first list is refused; one that exists can still be changed."""
    for at in range(100):
        await client.bench.lists.put(f"list-{at}", definition(), "")
    assert (await client("PUT", "/lists/one-more", definition(), ADMIN)).status == 409
    assert (await client("GET", "/lists/one-more.txt")).status == 404
    assert (await client("PUT", "/lists/list-7", definition(), ADMIN)).status == 202


async def test_questions_about_nothing(client: Client):
    """Unknown lists and versions are 404, malformed ones 400."""
    await publish(client)
    for path, status in {
        "/lists/none": 404, "/lists/none/versions": 404, "/lists/none/why?domain=a.example": 404,
        "/lists/my-list/diff?from=1&to=2": 404, "/lists/my-list/diff?from=a&to=1": 400, "/lists/my-list/diff": 400,
        "/lists/my-list/why": 400, "/lists/my-list/why?domain=a%20b": 400, "/lists/my-list/why?domain=https%3A%2F%2F": 400, "/lists/patches/abc/2026.1.1.1-m-1-60.patch": 404, "/lists/none/overlap": 404,
        "/lists/patches/../at/my-list.txt": 404,
    }.items():  # fmt: skip
        assert (await client("GET", path)).status == status, path
    with pytest.raises(NotFound):
        await client.bench.queries.compare_versions("my-list", 1, 5)


async def test_declared_list_before_its_first_build(client: Client):
    """It has its facts, its addresses say "not yet", and formats that it will not have are unknown."""
    client.bench.declared = {"to-come": {**definition(), "formats": ["hosts"]}}
    facts = read(await client("GET", "/lists/to-come"))
    assert (facts["version"], facts["lastBuild"]) == (0, None)
    assert "rebuild" in facts["reason"]
    for path, status in {"to-come.txt": 503, "to-come.hosts": 503, "to-come.rpz": 404, "other": 404}.items():
        assert (await client("GET", f"/lists/{path}")).status == status, path
