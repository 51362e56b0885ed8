"""A zone whose site's agent goes, comes back, or is missed; and pages that redirect to themselves."""

from typing import Any

from sluice.core.errors import Unavailable
from unit.services.preload.test_page_server import Visits, cache_headers, read_body, start
from unit.services.preload.test_site_calls import new_key, send
from unit.services.preload.world import SITE, OriginReply, World

PATH = "/?sluice_preload_agent=1"
PRESENT = OriginReply(204, (("x-sluice-agent", "1.0.0"),), b"")


async def tell(world: World, **body: Any) -> dict[str, Any]:
    return (await send(world, "set_agent", {"idempotency_key": new_key("agent"), **body})).reply


async def start_with_agent(**config: Any) -> Visits:
    here = await start(**config)
    here.world.origin.scripts[SITE + PATH] = PRESENT
    await tell(here.world, presence_path=PATH)
    return here


async def pass_minutes(here: Visits, count: int) -> None:
    for _ in range(count):
        here.world.clock.advance(60)
        await here.world.zone.tick()
        await here.world.drain()


async def list_alerts(world: World) -> list[str]:
    return (await world.zone.show_status())["alerts"]


async def show(here: Visits, path: str = "/a") -> tuple[str | None, bytes]:
    """Return what a visitor gets once the isolate has heard of everything."""
    here.world.clock.advance(3)
    reply = await here.get(path)
    body = await read_body(reply)
    await here.settle()
    return reply.header("x-cache"), body


async def test_an_agent_that_leaves():
    """After its farewell visitors get every page from the site itself; when it is back, copies are made anew."""
    here = await start_with_agent()
    await here.warm("/a")
    assert await show(here) == ("HIT", b"<html>")
    here.world.origin.default = OriginReply(body=b"edited")
    assert (await tell(here.world, leaves="deactivated"))["away_since"] == here.world.clock.now()
    for _ in range(3):
        assert await show(here) == ("BYPASS", b"edited")
    await here.world.drain()
    assert await here.world.rows("SELECT url FROM cached_pages") == []
    assert await list_alerts(here.world) == ["agent_away"]
    status = await here.world.zone.show_status()
    assert "deactivated" in str(status["agent"]["reason"])
    await tell(here.world, presence_path=PATH)
    await here.world.drain()
    assert await list_alerts(here.world) == []
    assert await show(here) == ("HIT", b"edited")  # the purged page was warmed as soon as the agent was back
    assert [alert["resolved_at"] is None for alert in here.world.webhook] == [True, False]


async def test_nothing_is_warmed_without_the_agent():
    """Pages wait in the queue while the agent is away, also over a restart of the object."""
    here = await start_with_agent()
    await tell(here.world, leaves="failed")
    here.world.origin.requests.clear()
    here.world.restart()
    await here.warm("/b")
    assert here.world.origin.counts == {}
    assert (await here.world.zone.show_status())["queue_depth"] == 1
    await tell(here.world)
    await here.world.drain()
    assert here.world.origin.counts == {"/b": 1}


async def test_farewells_repeat():
    """A farewell that is sent twice, or after another, purges once."""
    here = await start_with_agent()
    body = {"idempotency_key": new_key("agent"), "leaves": "deactivated"}
    assert not (await send(here.world, "set_agent", body)).replayed
    assert (await send(here.world, "set_agent", body)).replayed
    await tell(here.world, leaves="failed")
    await here.world.drain()
    assert len(await here.world.rows("SELECT * FROM purge_log")) == 1


async def test_a_silent_agent_is_missed():
    """A site that answers twice without its agent is passed through; it is back with the first reply that has it."""
    here = await start_with_agent()
    await here.warm("/a")
    here.world.origin.scripts[SITE + PATH] = OriginReply(301, (("location", "/"),))
    await pass_minutes(here, 2)
    assert await list_alerts(here.world) == []
    await pass_minutes(here, 1)
    assert await list_alerts(here.world) == ["agent_away"]
    assert await show(here) == ("BYPASS", b"<html>")
    here.world.origin.scripts[SITE + PATH] = PRESENT
    await pass_minutes(here, 1)
    assert await list_alerts(here.world) == []
    assert await show(here) == ("HIT", b"<html>")


async def test_a_site_that_fails_has_not_lost_its_agent():
    """A site that is down or being updated says nothing about its agent: its copies go on being served."""
    here = await start_with_agent()
    await here.warm("/a")
    for silence in (OriginReply(503), Unavailable("refused"), OriginReply(500)):
        here.world.origin.scripts[SITE + PATH] = silence
        await pass_minutes(here, 4)
    assert await list_alerts(here.world) == []
    assert await show(here) == ("HIT", b"<html>")


async def test_a_site_without_an_agent_is_never_asked():
    """Neither a site without one nor an agent that names no path is asked for."""
    here = await start()
    await tell(here.world)
    await pass_minutes(here, 5)
    assert not any("agent" in path for path in here.world.origin.counts)


async def test_a_visitor_in_a_circle():
    """A page that redirects to itself shows a short page with 508, a stale copy if there is one; the operator hears of it once."""
    here = await start_with_agent(origin_url="http://origin.internal.example")
    circle = OriginReply(301, (("location", f"{SITE}/a"),), b"")
    here.world.origin.scripts["http://origin.internal.example/a"] = circle
    here.world.origin.scripts["http://origin.internal.example" + PATH] = PRESENT
    for _ in range(3):
        reply = await here.get("/a", accept="text/html")
        assert (reply.status, b"leads back to itself" in await read_body(reply)) == (508, True)
        await here.settle()
    assert await list_alerts(here.world) == ["redirect_circle"]
    await here.world.drain()
    [alert] = here.world.webhook
    assert f"{SITE}/a redirects to itself" in alert["message"]
    assert await here.world.rows("SELECT url FROM cached_pages") == []
    await pass_minutes(here, 11)
    assert await list_alerts(here.world) == []


async def test_a_circle_with_a_copy():
    """While a copy may be served because of an error, a visitor sees it instead of the circle."""
    here = await start()
    await here.warm("/a")
    here.world.clock.advance(86_400 + 7200)
    here.world.origin.default = OriginReply(302, (("location", f"{SITE}/a"),), b"")
    reply = await here.get("/a")
    assert (reply.status, cache_headers(reply)[1], await read_body(reply)) == (200, "STALE", b"<html>")
    await here.settle()


async def test_redirects_that_may_lead_somewhere():
    """A redirect to the same address that sets a cookie is passed on, and so is any reply to a form."""
    here = await start()
    here.world.origin.default = OriginReply(302, (("location", f"{SITE}/a"), ("set-cookie", "seen=1")), b"")
    assert (await here.get("/a")).status == 302
    here.world.origin.default = OriginReply(303, (("location", f"{SITE}/a"),), b"")
    assert (await here.get("/a", "POST")).status == 303
    await here.settle()
