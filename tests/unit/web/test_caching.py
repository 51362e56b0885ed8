"""Who may keep a copy: nobody, unless a handler shares its reply."""

import pytest

from sluice.core.errors import NotFound
from sluice.web import App, CachePolicy, Reply, Request, Route, apply_conditions, share_reply
from unit.web.calls import get

NEWS = CachePolicy(60, tags=("news", "page"), stale_s=300)


async def show_shared(_request: Request) -> Reply:
    return share_reply(Reply.text("the same for all"), NEWS)


async def show_checked(request: Request) -> Reply:
    return apply_conditions(request, share_reply(Reply.text("x", headers={"ETag": '"v1"'}), NEWS))


async def show_own(_request: Request) -> Reply:
    return Reply.text("for one", headers={"Cache-Control": "public, max-age=3600"})


async def fail(_request: Request) -> Reply:
    raise NotFound("there is none")


async def break_down(_request: Request) -> Reply:
    raise RuntimeError


HANDLERS = {"shared": show_shared, "checked": show_checked, "own": show_own, "failing": fail, "broken": break_down}
APP = App([Route("GET", f"/{name}", handler) for name, handler in HANDLERS.items()], on_error=lambda *_: None)


async def test_a_shared_reply_says_so():
    """A shared reply states how long it is fresh, how long it may be stale, and its tags."""
    reply = await APP.handle(get("/shared"))
    assert reply.header("Cache-Control") == "public, max-age=60, stale-while-revalidate=300"
    assert reply.header("Cache-Tag") == "news,page"


async def test_a_304_keeps_the_headers_of_the_copy():
    """Not modified means that the copy stays shared, so it says the same as the copy."""
    reply = await APP.handle(get("/checked", headers={"If-None-Match": '"v1"'}))
    assert (reply.status, reply.header("Cache-Tag")) == (304, "news,page")
    assert reply.header("Cache-Control") == "public, max-age=60, stale-while-revalidate=300"


@pytest.mark.parametrize("path", ["/own", "/failing", "/broken", "/nothing"])
async def test_any_other_reply_is_kept_by_nobody(path):
    """A handler that forgets to decide, or fails, gives a reply that no cache keeps."""
    reply = await APP.handle(get(path))
    assert reply.header("Cache-Control") == "private, no-store"
    assert reply.header("Cache-Tag") is None


@pytest.mark.parametrize("tags", [(), ("",), ("two words",), ("a,b",), ("é",), ("x" * 201,), ("t",) * 31])
def test_tags_that_could_not_be_purged_are_refused(tags):
    """A shared reply has at least one tag, and each can be named in a purge."""
    with pytest.raises(ValueError, match="tags"):
        CachePolicy(60, tags=tags)


def test_negative_times_are_refused():
    """A copy cannot be fresh for less than no time."""
    with pytest.raises(ValueError, match="fresh"):
        CachePolicy(-1, tags=("news",))
