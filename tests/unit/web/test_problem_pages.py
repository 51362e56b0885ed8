"""Problems as pages: for browsers alone, with a way back, and nothing of the request becomes markup."""

import re
from html.parser import HTMLParser

import pytest

from sluice.core.errors import BadField, Invalid, TooManyRequests, Unauthorized
from sluice.web import App, Cors, Reply, Request, Route
from unit.web.calls import call, content, get, parsed

CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8"
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
SAFARI = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PROGRAMS = [
    None,
    "*/*",
    "application/json",
    "application/problem+json, text/html;q=0.5",
    "application/json, text/html",
    "text/plain",
    "text/*",
    "text/html;q=0, */*",
    "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2",
    "application/rss+xml, application/xml;q=0.9",
]


async def show(_request: Request) -> Reply:
    return Reply.html("home")


async def refuse(_request: Request) -> Reply:
    raise Unauthorized("send the operator's token")


async def limit(_request: Request) -> Reply:
    raise TooManyRequests("slow down", 7)


async def complain(_request: Request) -> Reply:
    raise Invalid.from_fields([BadField("a<b", "is required"), BadField("c", 'is not "d"')])


async def crash(_request: Request) -> Reply:
    raise RuntimeError("password=hunter2")


ROUTES = [
    Route("GET", "/refuse", refuse),
    Route("GET", "/limit", limit),
    Route("GET", "/complain", complain),
    Route("GET", "/crash", crash),
    Route("POST", "/send", show),
]
HOME = Route("GET", "/", show)


async def handle(request: Request, *, has_home: bool = True) -> Reply:
    cors = Cors(origins=("https://a.example", "https://b.example"))
    return await App([*ROUTES, *([HOME] if has_home else [])], on_error=lambda *_: None, cors=cors).handle(request)


async def open_page(path: str, *, has_home: bool = True) -> tuple[Reply, str]:
    reply = await handle(get(path, {"Accept": CHROMIUM}), has_home=has_home)
    assert reply.header("content-type") == "text/html; charset=utf-8"
    return reply, content(reply).decode()


@pytest.mark.parametrize("accept", [CHROMIUM, FIREFOX, SAFARI, "text/html"])
async def test_a_mistyped_path(accept: str):
    """Somebody in a browser is told what is wrong, in a page of the product with a way back."""
    reply = await handle(get("/mistyped", {"Accept": accept}))
    page = content(reply).decode()
    assert (reply.status, reply.header("vary")) == (404, "Accept, Origin")
    assert (reply.header("cache-control"), reply.header("x-content-type-options")) == ("private, no-store", "nosniff")
    assert "frame-ancestors 'none'" in (reply.header("content-security-policy") or "")
    assert "<title>Not found · Sluice</title>" in page
    assert "Nothing is served at /mistyped." in page
    assert re.findall(r'class="button" href="([^"]+)"', page) == ["/", "/docs"]


@pytest.mark.parametrize("accept", PROGRAMS)
async def test_programs_get_json(accept: str | None):
    """Who does not prefer HTML by name gets the problem as ever; a cache is told what it depends on."""
    reply = await handle(get("/mistyped", {} if accept is None else {"Accept": accept}))
    assert reply.header("content-type") == "application/problem+json"
    assert parsed(reply)["detail"] == "nothing is served at /mistyped"
    assert reply.header("vary") == "Accept, Origin"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
async def test_only_navigations_get_pages(method: str):
    """A request that changes something comes from a program, whatever it accepts."""
    reply = await handle(call(method, "/mistyped", {"Accept": CHROMIUM}))
    assert (reply.status, reply.header("content-type")) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("path", "status", "title", "header"),
    [
        ("/refuse", 401, "Unauthorized", ("www-authenticate", "Bearer")),
        ("/limit", 429, "Too many requests", ("retry-after", "7")),
        ("/send", 405, "Method not allowed", ("allow", "OPTIONS, POST")),
        ("/%zz", 400, "Invalid request", ("x-frame-options", "DENY")),
        ("/crash", 500, "Internal error", ("referrer-policy", "same-origin")),
    ],
)
async def test_every_problem_has_a_page(path: str, status: int, title: str, header: tuple[str, str]):
    """Status and headers are those of the problem, and a defect still reveals nothing."""
    reply, page = await open_page(path)
    assert (reply.status, reply.header(header[0])) == (status, header[1])
    assert f"<h1>{title}</h1>" in page
    assert "hunter2" not in page


async def test_head():
    """HEAD has the headers of the page and no body."""
    full, _ = await open_page("/mistyped")
    head = await handle(call("HEAD", "/mistyped", {"Accept": CHROMIUM}))
    assert (head.status, head.headers, head.body) == (full.status, full.headers, None)


async def test_no_way_to_a_page_that_is_not_there():
    """A Worker without a start page names only its documentation."""
    _, page = await open_page("/", has_home=False)
    assert re.findall(r'class="button" href="([^"]+)"', page) == ["/docs"]


async def test_fields_are_named_as_they_are():
    """What is wrong with a field begins with its name, and is text."""
    _, page = await open_page("/complain")
    assert "<p>a&lt;b is required; c is not &quot;d&quot;.</p>" in page


class Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, _attributes: object) -> None:
        self.found.append(tag)


@pytest.mark.parametrize(
    "path", ["/<script>alert(1)</script>", "/\"onload='x'", "/&lt;b&gt;", "/{title}", "/" + "x" * 9000]
)
async def test_a_path_is_only_text(path: str):
    """Whatever was asked for, the page has the same elements."""
    _, plain = await open_page("/mistyped")
    _, odd = await open_page(path)
    assert Tags(odd).found == Tags(plain).found
