"""The document of a route table: what is in it, and what it is made from."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Literal, NotRequired, TypedDict

import pytest
from pydantic import BaseModel, ConfigDict, Field

from sluice.core.doc import Doc, other_members
from sluice.core.errors import BadField, NotFound
from sluice.web import Check, Reply, Request, Route, apply_conditions, build_health_reply, build_problem
from sluice.web.api_document.document import build_document
from sluice.web.common_routes import add_common_routes, build_document_reply, serve_file, serve_folder, serve_page
from sluice.web.operations import LazyHandler, Media, Operation, ReplyDoc, describe
from sluice.web.parameters import PathParameter, Query, choice, choices, integer, required_text, text
from sluice.web.router import Handler
from unit.web.calls import get, parsed
from unit.web.schema_check import list_mistakes

COUNT = Annotated[int, Doc("How many.", minimum=0)]


class Colour(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, description="What it is called.")]
    shade: str = ""


class Order(BaseModel):
    """What to paint."""

    colours: list[Colour]


class Wall(TypedDict):
    """One wall."""

    number: COUNT
    behind: "NotRequired[Wall]"


class Shade(StrEnum):
    """How dark it is."""

    LIGHT = "light"
    DARK = "dark"


@other_members(allowed=False)
class Wish(TypedDict):
    shade: Shade
    reason: NotRequired[Annotated[str, Doc("Why.", more=(("maxLength", 9),))]]


class Painted(TypedDict):
    orderId: str
    coatsLeft: Annotated[int | None, Doc("Null when it is done.", minimum=0)]
    remark: NotRequired[str]
    kind: Literal["wall", "door"]
    walls: list[Wall]
    byColour: dict[str, COUNT]
    order: Annotated[dict[str, Any], Doc(model=Order)]


WANTED = Query(
    integer("limit", 50, minimum=1, maximum=99, about="How many."),
    choice("kind", ("wall", "door"), about=""),
    choices("onlyThese", ("a", "b"), max_items=2, about=""),
    text("since", max_chars=20, about="", example="2026-01-31"),
    required_text("name", min_chars=1, about=""),
)
DONE = ReplyDoc("Done.", Painted)
ID = PathParameter("id", str, {"type": "string", "pattern": "^[a-z]+$"}, "Its id.", "abc")


def handler(**operation: Any) -> Handler:
    @describe(Operation(**{"name": "paint", "summary": "Does it", "replies": {200: DONE}} | operation))
    async def paint(_request: Request) -> Reply:
        return Reply.empty()

    return paint


def route(method: str, pattern: str, **operation: Any) -> Route:
    return Route(method, pattern, handler(name=f"{method}{pattern}", **operation))


def build(*routes: Route) -> dict[str, Any]:
    return build_document("painter", "1.2.3", routes, about="Paints.")


def first_operation(*routes: Route) -> dict[str, Any]:
    found: dict[str, Any] = next(iter(next(iter(build(*routes)["paths"].values())).values()))
    return found


def list_references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (each for name, each in value.items() if name == "$ref")
        for each in value.values():
            yield from list_references(each)
    elif isinstance(value, list):
        for each in value:
            yield from list_references(each)


def test_head():
    """The document names the Worker, its version, what it does and where it is served."""
    document = build()
    assert document["openapi"] == "3.1.0"
    assert document["info"] == {"title": "painter", "version": "1.2.3", "description": "Paints."}
    assert document["servers"] == [{"url": "/"}]


def test_paths():
    """Parameters stand in braces, and methods of one path are together."""
    own = {"path": (ID, ID._replace(name="wall"))}
    document = build(
        route("GET", "/orders/:id/walls/:wall", **own),
        route("DELETE", "/orders/:id/walls/:wall", **own),
        route("GET", "/"),
    )
    assert {path: sorted(methods) for path, methods in document["paths"].items()} == {
        "/orders/{id}/walls/{wall}": ["delete", "get"],
        "/": ["get"],
    }


def test_one_shape_is_one_path():
    """Routes that differ in a parameter's name only are one path, as they are one resource."""
    named = ID._replace(name="name", about="The name.", example="blue")
    document = build(route("GET", "/colours/:id", path=(ID,)), route("PUT", "/colours/:name", path=(named,)))
    assert list(document["paths"]) == ["/colours/{id}"]
    [parameter] = document["paths"]["/colours/{id}"]["put"]["parameters"]
    assert (parameter["name"], parameter["description"], parameter["example"]) == ("id", "The name.", "blue")


def test_path_parameters_have_their_patterns():
    """What a path takes is in the document."""
    [parameter] = first_operation(route("GET", "/:id", path=(ID,)))["parameters"]
    assert (parameter["in"], parameter["required"]) == ("path", True)
    assert parameter["schema"] == {"type": "string", "pattern": "^[a-z]+$"}


@pytest.mark.parametrize("path", [(), (ID._replace(name="other"),), (ID, ID._replace(name="other"))])
def test_forgotten_path_parameter(path: tuple[PathParameter[str], ...]):
    """A route whose parameters are not those that its handler declares is refused."""
    with pytest.raises(ValueError, match="GET /:id has the parameters"):
        build(route("GET", "/:id", path=path))


def test_forgotten_operation():
    """A route whose handler declares nothing is refused."""

    async def paint(_request: Request) -> Reply:
        return Reply.empty()

    with pytest.raises(NotFound, match="GET /: its handler does not declare an operation"):
        build(Route("GET", "/", paint))


def test_names():
    """An operation has the name that its handler declares; two of one name are refused."""
    assert first_operation(Route("GET", "/", handler()))["operationId"] == "paint"
    with pytest.raises(ValueError, match="two operations are called paint"):
        build(Route("GET", "/", handler()), Route("PUT", "/", handler()))


async def test_handlers_that_are_found_later():
    """A handler that a request looks for is described like any other."""
    found: list[int] = []

    def find() -> Handler:
        found.append(1)
        return handler(name="later")

    late = Route("GET", "/", LazyHandler(find))
    assert found == []
    assert first_operation(late)["operationId"] == "later"
    assert (await late.handler(get("/"))).status == 204


def test_body():
    """The body's schema is that of the model that serves, its parts in the components."""
    document = build(route("POST", "/orders", body=Order, example={"colours": []}))
    body = document["paths"]["/orders"]["post"]["requestBody"]
    assert body["required"]
    assert body["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/Order"}, "example": {"colours": []}}
    }
    assert document["components"]["schemas"]["Order"]["description"] == "What to paint."
    optional = first_operation(route("POST", "/", body=Order, body_required=False))["requestBody"]
    assert not optional["required"]


def test_query():
    """Each parameter of the query has the schema of what it takes."""
    limit, kind, only, since, name = first_operation(route("GET", "/", query=WANTED))["parameters"]
    assert limit == {
        "name": "limit",
        "in": "query",
        "required": False,
        "description": "How many.",
        "schema": {"type": "integer", "minimum": 1, "maximum": 99, "default": 50},
    }
    assert (kind["required"], kind["schema"]) == (False, {"type": "string", "enum": ["wall", "door"]})
    assert only["schema"] == {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "maxItems": 2}
    assert (since["schema"], since["example"]) == ({"type": "string", "maxLength": 20}, "2026-01-31")
    assert (name["required"], name["schema"]) == (True, {"type": "string", "minLength": 1})


def test_reply():
    """A reply is described as it is written: what may be absent is not required, and what may be null says so."""
    document = build(route("GET", "/"))
    schema = document["components"]["schemas"]["Painted"]
    assert schema["required"] == ["orderId", "coatsLeft", "kind", "walls", "byColour", "order"]
    assert schema["properties"]["coatsLeft"] == {
        "anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}],
        "description": "Null when it is done.",
    }
    assert schema["properties"]["remark"] == {"type": "string"}
    assert schema["properties"]["order"] == {"$ref": "#/components/schemas/Order"}
    assert document["components"]["schemas"]["Wall"]["description"] == "One wall."
    good: dict[str, Any] = {
        "orderId": "1",
        "coatsLeft": None,
        "kind": "door",
        "walls": [{"number": 1, "behind": {"number": 2}}],
        "byColour": {"red": 1},
        "order": {"colours": []},
    }
    assert list_mistakes(document, "Painted", good) == []
    wrongs: list[dict[str, Any]] = [
        {"kind": "roof"},
        {"coatsLeft": -1},
        {"walls": [{}]},
        {"byColour": {"red": -1}},
        {"remark": None},
        {"more": 1},
    ]
    for wrong in wrongs:
        assert list_mistakes(document, "Painted", good | wrong), wrong
    assert list_mistakes(document, "Painted", {name: value for name, value in good.items() if name != "orderId"})


def test_two_replies_of_one_name():
    """A name stands for one type in a document."""
    other = TypedDict("Painted", {"other": str})  # type: ignore[name-match]  # noqa: UP013 - its name is the point
    with pytest.raises(TypeError, match="two replies are called Painted"):
        build(route("GET", "/"), route("PUT", "/", replies={200: ReplyDoc("Other.", other)}))


@pytest.mark.parametrize("hint", [complex, set, Handler])
def test_what_is_no_json(hint: Any):
    """A member that JSON cannot hold is refused."""
    reply = TypedDict("Reply", {"member": hint})  # type: ignore[name-match]  # noqa: UP013
    with pytest.raises(TypeError, match="cannot stand in a reply"):
        build(route("GET", "/", replies={200: ReplyDoc("Reply.", reply)}))


def test_media():
    """A reply may be a choice of media, with headers, or have no body at all."""
    either = ReplyDoc("Either.", (Painted, Media("text/plain", "In words.")), {"X-Cache": "Whether it was kept."})
    replies = first_operation(route("GET", "/", replies={200: either, 304: ReplyDoc("Nothing new.")}))["responses"]
    assert replies["304"] == {"description": "Nothing new."}
    assert replies["200"]["headers"]["X-Cache"]["description"] == "Whether it was kept."
    assert replies["200"]["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/Painted"}},
        "text/plain": {"schema": {"type": "string", "description": "In words."}},
    }
    feed = first_operation(route("GET", "/", replies={200: ReplyDoc("News.", Media("application/feed+json"))}))
    assert feed["responses"]["200"]["content"] == {"application/feed+json": {"schema": {"type": "object"}}}


def list_statuses(**operation: Any) -> list[str]:
    path = "/:id" if operation.get("path") else "/"
    return sorted(first_operation(route("POST", path, **operation))["responses"])


def test_problems():
    """The problems that follow from what an operation takes need not be listed."""
    assert list_statuses() == ["200", "default"]
    assert list_statuses(path=(ID,)) == ["200", "400", "default"]
    assert list_statuses(body=Order) == ["200", "400", "408", "413", "415", "default"]
    assert list_statuses(query=WANTED) == ["200", "400", "default"]
    assert list_statuses(security=("admin",)) == ["200", "401", "403", "503", "default"]
    assert list_statuses(security=("signed",)) == ["200", "401", "default"]
    assert list_statuses(problems=(404, 429)) == ["200", "404", "429", "default"]


def test_own_reply_beats_the_shared_one():
    """A status that the operation answers in its own way is not a problem there."""
    replies = first_operation(route("POST", "/", body=Order, replies={200: DONE, 400: DONE}))["responses"]
    assert replies["400"]["description"] == "Done."


def test_shared_problems():
    """The components contain only the problems that are used; 429 has Retry-After."""
    shared = build(route("GET", "/", problems=(404, 429)))["components"]["responses"]
    assert sorted(shared) == ["Failure", "NotFound", "TooManyRequests"]
    assert "Retry-After" in shared["TooManyRequests"]["headers"]
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    assert all(each["content"] == {"application/problem+json": schema} for each in shared.values())


def test_security():
    """The ways in are alternatives, and each scheme that is used is explained."""
    document = build(route("GET", "/", security=("admin", "signed")), route("GET", "/open"))
    signed: dict[str, list[str]] = {"signature": [], "timestamp": [], "nonce": []}
    assert document["paths"]["/"]["get"]["security"] == [{"admin": []}, signed]
    assert "security" not in document["paths"]["/open"]["get"]
    assert sorted(document["components"]["securitySchemes"]) == ["admin", "nonce", "signature", "timestamp"]
    assert build(route("GET", "/"))["components"]["securitySchemes"] == {}


class NoFiles:
    async def fetch(self, _path: str) -> Reply | None:
        return None

    async def read(self, path: str) -> bytes:
        raise NotFound(path)


def list_all_routes(*routes: Route) -> list[Route]:
    async def check() -> dict[str, Check]:
        return {}

    async def read() -> bytes:
        return b""

    return add_common_routes(
        routes,
        name="painter",
        version="1",
        check_bindings=check,
        read_document=read,
        limit_reads=lambda handler: handler,
    )


def test_tags():
    """Tags are listed once, in the order in which they first appear; what every Worker has comes last."""
    table = [route("GET", "/b", tag="B"), route("GET", "/a", tag="A"), route("PUT", "/b", tag="B"), route("GET", "/")]
    document = build(*list_all_routes(*table))
    assert document["tags"] == [{"name": "B"}, {"name": "A"}, {"name": "Service"}]
    assert document["paths"]["/a"]["get"]["tags"] == ["A"]


def test_references_lead_somewhere():
    """Every reference resolves within the document."""
    files = NoFiles()
    document = build(
        *list_all_routes(
            route("POST", "/", body=Order, query=WANTED, problems=(404, 409, 412, 426, 429, 502, 503, 504)),
            Route("GET", "/", serve_page(files, "page", "A page")),
            Route("GET", "/:file", serve_file(files)),
            Route("GET", "/:folder/:file", serve_folder(files)),
        )
    )
    found = set(list_references(document))
    assert len(found) > 10
    for reference in found:
        _, components, kind, name = reference.split("/")
        assert name in document[components][kind]


def test_reply_is_conditional():
    """The document has an ETag, and a current copy gets 304."""
    reply = build_document_reply(b'{"openapi":"3.1.0"}')
    assert parsed(reply) == {"openapi": "3.1.0"}
    assert (reply.header("Content-Type"), reply.header("Cache-Control")) == ("application/json", "public, max-age=60")
    again = apply_conditions(get("/openapi.json", {"If-None-Match": reply.header("etag") or ""}), reply)
    assert (again.status, again.body) == (304, None)


def test_problems_are_as_described():
    """Real problem replies match the type of problems."""
    document = build(route("GET", "/"))
    fields = [BadField("sources[2].url", "is required")]
    for reply in (
        build_problem(404, "Not found", "there is none", instance="/x"),
        build_problem(400, "Invalid", "no", instance="/x", fields=fields),
    ):
        assert list_mistakes(document, "Problem", parsed(reply)) == []


def test_health_is_as_described():
    """Real health replies match their type."""
    checks = {"A": Check("kv", ok=True, detail="3"), "B": Check("d1", ok=False, error="is not bound")}
    reply = parsed(build_health_reply("painter", "1", checks))
    assert list_mistakes(build(*list_all_routes()), "Health", reply) == []


def test_body_of_a_worker_without_pydantic():
    """It is a typed dictionary, which says whether there may be other members; its choices have a name of their own."""
    document = build(route("POST", "/", body=Wish, example={"shade": "dark"}))
    content = document["paths"]["/"]["post"]["requestBody"]["content"]["application/json"]
    assert content == {"schema": {"$ref": "#/components/schemas/Wish"}, "example": {"shade": "dark"}}
    assert document["components"]["schemas"]["Wish"] == {
        "title": "Wish",
        "type": "object",
        "properties": {
            "shade": {"$ref": "#/components/schemas/Shade"},
            "reason": {"type": "string", "maxLength": 9, "description": "Why."},
        },
        "required": ["shade"],
        "additionalProperties": False,
    }
    assert document["components"]["schemas"]["Shade"] == {
        "title": "Shade",
        "description": "How dark it is.",
        "type": "string",
        "enum": ["light", "dark"],
    }
