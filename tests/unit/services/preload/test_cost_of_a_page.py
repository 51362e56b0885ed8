"""What one warmed page costs: SQL statements, and source files that it crosses."""

import sys
from collections.abc import Awaitable

import pytest

from fakes.files_crossed import files_crossed
from sluice.core.preload.request_signing import sign_request
from sluice.services.preload.serving.isolate_memory import IsolateMemory
from sluice.web import App, Headers, Reply, Request
from unit.services.preload.world import KEY, SITE, ZONE, VisitorsOrigin, World

PATH = "/api/v1/preload"
MAX_STATEMENTS = 35
MAX_FILES = 59


class Service:
    """The API, the object and the page server of one zone, as the Worker puts them together."""

    def __init__(self) -> None:
        self.world = World()
        self.deferred: list[Awaitable[None]] = []
        self.app = App(
            self.world.open_service(self.deferred.append).routes,
            on_error=lambda error, _request: pytest.fail(str(error)),
        )

    async def post(self, path: str, number: int) -> Reply:
        """Return a signed POST for one page."""
        key = f"preload-7f6c4a3e-0000-4000-8000-{number:012}"
        content = f'{{"zone_id":"{ZONE}","idempotency_key":"{key}","urls":["{SITE}{path}"]}}'.encode()
        now, nonce = self.world.clock.now(), f"{number:032}"
        signed = sign_request(KEY, "POST", PATH, content, now=now, nonce=nonce)
        headers = Headers({**signed, "Content-Type": "application/json"})

        async def read(_max_bytes: int) -> bytes:
            return content

        return await self.app.handle(Request("POST", f"http://edge-preload.localhost{PATH}", headers, read))

    async def settle(self) -> None:
        while self.deferred:
            await self.deferred.pop(0)

    async def visit(self, path: str) -> Reply:
        world = self.world
        await world.build_reader().read_config(world.zone_config)
        server = world.build_page_server(VisitorsOrigin(world.origin), self.deferred.append, IsolateMemory())
        return await server.handle(Request("GET", SITE + path, Headers({})))

    async def warm_and_visit(self, path: str, number: int) -> Reply:
        assert (await self.post(path, number)).status == 202
        await self.settle()
        await self.world.drain()
        return await self.visit(path)

    def statements(self) -> list[str]:
        return [subject for name, subject in self.world.storage.operations if name == "sql"]


async def start() -> Service:
    """Return a service that has warmed a page already, so that nothing happens for the first time."""
    service = Service()
    await service.world.register()
    reply = await service.warm_and_visit("/first", 1)
    assert reply.header("x-cache") == "HIT"
    await service.settle()
    service.world.clock.advance(30)
    return service


def report(capsys: pytest.CaptureFixture[str], text: str) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n{text}\n")


async def test_statements(capsys: pytest.CaptureFixture[str]):
    """From the signed POST to the settled entry, one page takes at most 35 SQL statements, the mirror's included."""
    service = await start()
    before = len(service.statements())
    assert (await service.post("/a", 2)).status == 202
    await service.settle()
    await service.world.drain()
    statements = service.statements()[before:]
    # The first statement after the entry is settled looks for log lines to send.
    settled = next(at for at, text in enumerate(statements) if "FROM outbox WHERE" in text)
    report(capsys, f"{settled} SQL statements for one warmed page, {len(statements)} with its log and mirror")
    assert settled <= MAX_STATEMENTS
    assert service.world.services.queue.depth == 0
    assert (await service.world.statuses("/a")) == ["warmed"]


async def test_files_crossed(capsys: pytest.CaptureFixture[str]):
    """From the signed POST over the alarm, the log and the mirror to the served reply, a page crosses at most 59 files, those that put the parts together included."""
    service = await start()
    with files_crossed() as files:
        reply = await service.warm_and_visit("/a", 2)
    await service.settle()
    assert (reply.header("x-cache-layer"), reply.header("x-cache")) == ("EDGE", "HIT")
    report(capsys, f"{len(files)} source files for one warmed page")
    assert len(files) <= MAX_FILES
