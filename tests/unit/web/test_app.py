"""The App: every request gets a reply, and every failure becomes a problem."""

from collections.abc import AsyncIterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.core.errors import ConfigError, Forbidden, TooManyRequests
from sluice.web import App, Cors, Passthrough, Reply, Request, Route
from unit.web.calls import call, content, finished, get, parsed

RESPONSE = object()


async def echo(request: Request) -> Reply:
    return Reply.json({"method": request.method, "params": dict(request.params)}, headers={"ETag": '"1"'})


async def forbid(_request: Request) -> Reply:
    raise Forbidden("this zone is not yours")


async def misconfigure(_request: Request) -> Reply:
    raise ConfigError("the binding QUEUE is missing")


async def limit(_request: Request) -> Reply:
    raise TooManyRequests("slow down", 7)


async def crash(_request: Request) -> Reply:
    raise RuntimeError("password=hunter2")


async def forget(_request: Request) -> Reply:
    return None  # type: ignore[return-value]


async def drip(_request: Request) -> Reply:
    async def chunks() -> AsyncIterator[bytes]:
        yield b"drop"

    return Reply.stream(chunks(), content_type="text/plain")


async def hand_on(_request: Request) -> Reply:
    return Reply.passthrough(RESPONSE)


ROUTES = [
    Route("GET", "/echo/:id", echo),
    Route("PUT", "/echo/:id", echo),
    Route("GET", "/forbid", forbid),
    Route("GET", "/misconfigure", misconfigure),
    Route("GET", "/limit", limit),
    Route("GET", "/crash", crash),
    Route("GET", "/forget", forget),
    Route("GET", "/drip", drip),
    Route("GET", "/native", hand_on),
]


def app(*, cors: Cors | None = None, heard: list[object] | None = None) -> App:
    def on_error(error: Exception, request: Request) -> None:
        if heard is not None:
            heard.append((type(error), request.path))

    return App(ROUTES, on_error=on_error, cors=cors)


async def test_a_handler_sees_its_params():
    """The matched handler gets the request together with its decoded path parameters."""
    reply = await app().handle(get("/echo/a%20b"))
    assert parsed(reply) == {"method": "GET", "params": {"id": "a b"}}


@pytest.mark.parametrize("path", ["/echo/1", "/forbid", "/nowhere", "/crash"])
async def test_every_reply_forbids_sniffing_and_tells_its_length(path):
    """Every reply has the default headers, whatever its status."""
    reply = await app().handle(get(path))
    assert reply.header("x-content-type-options") == "nosniff"
    assert reply.header("content-length") == str(len(content(reply)))


@pytest.mark.parametrize(
    ("path", "status", "detail"),
    [
        ("/forbid", 403, "this zone is not yours"),
        ("/misconfigure", 500, "the binding QUEUE is missing"),
        ("/limit", 429, "slow down"),
        ("/nowhere", 404, "nothing is served at /nowhere"),
        ("/echo/1/", 404, "nothing is served at /echo/1/"),
        ("/%zz", 400, "the path contains a % that does not start an encoded character: write it as %25"),
    ],
)
async def test_expected_errors_become_problems(path, status, detail):
    """An expected error becomes a reply with its own status and is not logged."""
    heard: list[object] = []
    reply = await app(heard=heard).handle(get(path))
    assert (reply.status, parsed(reply)["detail"], parsed(reply)["instance"]) == (status, detail, path)
    assert heard == []


@pytest.mark.parametrize(("path", "kind"), [("/crash", RuntimeError), ("/forget", AttributeError)])
async def test_unexpected_errors_leak_nothing(path, kind):
    """A defect is logged and becomes a plain 500."""
    heard: list[object] = []
    reply = await app(heard=heard).handle(get(path))
    assert heard == [(kind, path)]
    assert reply.status == 500
    assert parsed(reply) == {
        "type": "about:blank",
        "title": "Internal error",
        "status": 500,
        "detail": "the request could not be handled",
        "instance": path,
        "success": False,
        "error": "the request could not be handled",
    }


async def test_a_failing_log_does_not_cost_the_reply():
    """If the log fails too, the caller still gets the 500."""

    def broken(error: Exception, _request: Request) -> None:
        raise error

    reply = await App(ROUTES, on_error=broken).handle(get("/crash"))
    assert reply.status == 500


async def test_a_known_path_with_another_method_is_405():
    """405 lists the allowed methods in the header and in the detail."""
    reply = await app().handle(call("DELETE", "/echo/1"))
    assert (reply.status, reply.header("allow")) == (405, "GET, HEAD, OPTIONS, PUT")
    assert parsed(reply)["detail"] == "DELETE is not allowed here; allowed: GET, HEAD, OPTIONS, PUT"


@pytest.mark.parametrize("path", ["/forbid", "/nowhere", "/drip"])
async def test_head_is_get_without_the_body(path):
    """HEAD has the status and all headers of GET, including Content-Length, and no body."""
    full, head = await app().handle(get(path)), await app().handle(call("HEAD", path))
    assert (head.status, head.headers, head.body) == (full.status, full.headers, None)


async def test_head_keeps_a_passed_through_response():
    """A response of the platform carries the headers, so HEAD passes it on unchanged."""
    reply = await app().handle(call("HEAD", "/native"))
    assert reply.body == Passthrough(RESPONSE)


async def test_options_answers_for_every_path():
    """OPTIONS lists the allowed methods and has no body."""
    reply = await app().handle(call("OPTIONS", "/echo/1"))
    assert (reply.status, reply.body, reply.header("allow")) == (204, None, "GET, HEAD, OPTIONS, PUT")
    assert reply.header("access-control-allow-methods") is None


async def test_a_route_may_answer_head_and_options_itself():
    """Explicit routes override the implied HEAD and OPTIONS."""
    own = App(
        [Route("GET", "/", forbid), Route("HEAD", "/", echo), Route("OPTIONS", "/", echo)],
        on_error=lambda _error, _request: None,
    )
    assert (await own.handle(call("HEAD"))).status == 200
    assert parsed(await own.handle(call("OPTIONS")))["method"] == "OPTIONS"


async def test_preflight_and_errors_carry_cors():
    """A page gets its permission in the preflight and may read errors too."""
    shared = app(cors=Cors(origins=("https://page.test",)))
    asking = {"Origin": "https://page.test", "Access-Control-Request-Method": "PUT"}
    preflight = await shared.handle(call("OPTIONS", "/echo/1", asking))
    assert preflight.status == 204
    assert preflight.header("access-control-allow-origin") == "https://page.test"
    assert preflight.header("access-control-allow-methods") == "GET, HEAD, OPTIONS, PUT"
    failed = await shared.handle(get("/crash", {"Origin": "https://page.test"}))
    assert failed.header("access-control-allow-origin") == "https://page.test"


@given(st.text(), st.text(), st.text())
def test_any_request_gets_a_reply(method, path, query):
    """Every method and URL gets a reply with a status."""
    reply = finished(app(cors=Cors(origins=("*",))).handle(call(method, f"/{path}?{query}")))
    assert 200 <= reply.status <= 500
