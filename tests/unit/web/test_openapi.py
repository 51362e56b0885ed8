"""The document of a route table: what is in it, and what it is made from."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sluice.core.errors import BadField
from sluice.web import Check, apply_conditions, build_health_reply, build_problem
from sluice.web.common_routes import build_document_reply
from sluice.web.openapi.common_docs import COMMON, HEALTH, Health, describe_page
from sluice.web.openapi.docs import Absent, CamelReplyModel, Doc, Media, Param, ReplyDoc, ReplyModel
from sluice.web.openapi.document import build_document
from sluice.web.openapi.problem_replies import Problem
from unit.web.calls import get, parsed


class Colour(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(min_length=1, description="What it is called.")]
    shade: str = ""


class Order(BaseModel):
    """What to paint."""

    colours: list[Colour]


class Wanted(BaseModel):
    limit: Annotated[int, Field(ge=1, description="How many.")] = 50
    kind: Literal["wall", "door"]
    since: Annotated[str, Field(examples=["2026-01-31"])] | None = None
    only: Annotated[list[str] | None, Field(validation_alias="onlyThese")] = None


class Painted(CamelReplyModel):
    order_id: str
    coats_left: int | None
    remark: str | Absent = None


DONE = ReplyDoc("Done.", Painted)


Described = tuple[tuple[str, str], Doc]


def route(method: str, pattern: str, **doc: Any) -> Described:
    return (method, pattern), Doc(**{"summary": "Does it", "replies": {200: DONE}} | doc)


def made(*routes: Described) -> dict[str, Any]:
    return build_document("painter", "1.2.3", dict(routes), about="Paints.")


def operation(*routes: Described) -> dict[str, Any]:
    """The first operation of the document."""
    found: dict[str, Any] = next(iter(next(iter(made(*routes)["paths"].values())).values()))
    return found


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (each for name, each in value.items() if name == "$ref")
        for each in value.values():
            yield from references(each)
    elif isinstance(value, list):
        for each in value:
            yield from references(each)


def test_head():
    """The document names the Worker, its version, what it does and where it is served."""
    told = made()
    assert told["openapi"] == "3.1.0"
    assert told["info"] == {"title": "painter", "version": "1.2.3", "description": "Paints."}
    assert told["servers"] == [{"url": "/"}]


def test_paths():
    """Parameters stand in braces, and methods of one path are together."""
    told = made(route("GET", "/orders/:id/walls/:wall"), route("DELETE", "/orders/:id/walls/:wall"), route("GET", "/"))
    assert {path: sorted(methods) for path, methods in told["paths"].items()} == {
        "/orders/{id}/walls/{wall}": ["delete", "get"],
        "/": ["get"],
    }


def test_one_shape_is_one_path():
    """Routes that differ in a parameter's name only are one path, as they are one resource."""
    described = {"name": Param("The name.", "blue")}
    told = made(route("GET", "/colours/:id"), route("PUT", "/colours/:name", params=described))
    assert list(told["paths"]) == ["/colours/{id}"]
    [parameter] = told["paths"]["/colours/{id}"]["put"]["parameters"]
    assert (parameter["name"], parameter["description"], parameter["example"]) == ("id", "The name.", "blue")


def test_operation_ids():
    """Each operation has a name of its own."""
    table = [route("GET", "/"), route("GET", "/a-b/:id"), route("GET", "/a-b/id"), route("POST", "/a-b/:id")]
    found = [told["operationId"] for methods in made(*table)["paths"].values() for told in methods.values()]
    assert found == ["getRoot", "getABById", "postABById", "getABId"]


def test_choices():
    """A parameter that takes few values lists them."""
    [parameter] = operation(route("GET", "/:kind", params={"kind": Param("", choices=("wall", "door"))}))["parameters"]
    assert parameter["schema"] == {"type": "string", "enum": ["wall", "door"]}


def test_body():
    """The body's schema is that of the model that serves, its parts in the components."""
    told = made(route("POST", "/orders", body=Order, example={"colours": []}))
    body = told["paths"]["/orders"]["post"]["requestBody"]
    assert body["required"]
    assert body["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/Order"}, "example": {"colours": []}}
    }
    assert told["components"]["schemas"]["Order"]["description"] == "What to paint."
    assert told["components"]["schemas"]["Colour"] == {
        "title": "Colour",
        "type": "object",
        "additionalProperties": False,
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "minLength": 1, "description": "What it is called."},
            "shade": {"type": "string"},
        },
    }


def test_optional_body():
    """A body may be left out where the Doc says so."""
    assert not operation(route("POST", "/", body=Order, body_required=False))["requestBody"]["required"]


def test_query():
    """Each field of the query is a parameter under the name it is sent by; one that may be null may be missing."""
    limit, kind, since, only = operation(route("GET", "/", query=Wanted))["parameters"]
    assert limit == {
        "name": "limit",
        "in": "query",
        "required": False,
        "description": "How many.",
        "schema": {"type": "integer", "minimum": 1, "default": 50},
    }
    assert (kind["required"], kind["schema"]) == (True, {"type": "string", "enum": ["wall", "door"]})
    assert (since["required"], since["schema"], since["example"]) == (False, {"type": "string"}, "2026-01-31")
    assert (only["name"], only["schema"]) == ("onlyThese", {"type": "array", "items": {"type": "string"}})


def test_reply():
    """A reply is described as it is written: in camelCase, and a member that may be absent is never null."""
    schema = made(route("GET", "/"))["components"]["schemas"]["Painted"]
    assert schema["required"] == ["orderId", "coatsLeft"]
    assert schema["properties"] == {
        "orderId": {"type": "string"},
        "coatsLeft": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "remark": {"type": "string"},
    }


def test_media():
    """A reply may be a choice of media, with headers, or have no body at all."""
    either = ReplyDoc("Either.", (Painted, Media("text/plain", "In words.")), {"X-Cache": "Whether it was kept."})
    told = operation(route("GET", "/", replies={200: either, 304: ReplyDoc("Nothing new.")}))["responses"]
    assert told["304"] == {"description": "Nothing new."}
    assert told["200"]["headers"]["X-Cache"]["description"] == "Whether it was kept."
    assert told["200"]["content"] == {
        "application/json": {"schema": {"$ref": "#/components/schemas/Painted"}},
        "text/plain": {"schema": {"type": "string", "description": "In words."}},
    }
    feed = operation(route("GET", "/", replies={200: ReplyDoc("News.", Media("application/feed+json"))}))["responses"]
    assert feed["200"]["content"] == {"application/feed+json": {"schema": {"type": "object"}}}


def test_one_model_both_ways():
    """A model whose input and output differ has a schema for each."""
    echo = made(route("POST", "/", body=Wanted, replies={200: ReplyDoc("The same.", Wanted)}))
    there = echo["paths"]["/"]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    back = echo["paths"]["/"]["post"]["responses"]["200"]["content"]["application/json"]["schema"]["$ref"]
    schemas = echo["components"]["schemas"]
    assert "onlyThese" in schemas[there.rpartition("/")[2]]["properties"]
    assert "only" in schemas[back.rpartition("/")[2]]["properties"]


def statuses(**doc: Any) -> list[str]:
    return sorted(operation(route("POST", "/", **doc))["responses"])


def test_problems_follow():
    """The input of an operation determines its problems."""
    assert statuses() == ["200", "default"]
    assert statuses(body=Order) == ["200", "400", "413", "415", "default"]
    assert statuses(query=Wanted) == ["200", "400", "default"]
    assert statuses(security=("admin",)) == ["200", "401", "403", "default"]
    assert statuses(security=("signed",)) == ["200", "401", "default"]
    assert statuses(problems=(404, 429)) == ["200", "404", "429", "default"]


def test_own_reply_beats_the_shared_one():
    """A status that the operation answers in its own way is not a problem there."""
    told = operation(route("POST", "/", body=Order, replies={200: DONE, 400: DONE}))["responses"]
    assert told["400"]["description"] == "Done."


def test_shared_problems():
    """The components contain only the problems that are used; 429 has Retry-After."""
    shared = made(route("GET", "/", problems=(404, 429)))["components"]["responses"]
    assert sorted(shared) == ["Failure", "NotFound", "TooManyRequests"]
    assert "Retry-After" in shared["TooManyRequests"]["headers"]
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    assert all(each["content"] == {"application/problem+json": schema} for each in shared.values())


def test_security():
    """The ways in are alternatives, and each scheme that is used is explained."""
    told = made(route("GET", "/", security=("admin", "signed")), route("GET", "/open"))
    signed: dict[str, list[str]] = {"signature": [], "timestamp": [], "nonce": []}
    assert told["paths"]["/"]["get"]["security"] == [{"admin": []}, signed]
    assert "security" not in told["paths"]["/open"]["get"]
    assert sorted(told["components"]["securitySchemes"]) == ["admin", "nonce", "signature", "timestamp"]
    assert made(route("GET", "/"))["components"]["securitySchemes"] == {}


def test_tags():
    """Tags are listed once, in the order in which they first appear; what every Worker has comes last."""
    told = made(
        (("GET", "/health"), HEALTH),
        route("GET", "/b", tag="B"),
        route("GET", "/a", tag="A"),
        route("PUT", "/b", tag="B"),
        route("GET", "/"),
    )
    assert told["tags"] == [{"name": "B"}, {"name": "A"}, {"name": "Service"}]
    assert told["paths"]["/a"]["get"]["tags"] == ["A"]


def test_references_lead_somewhere():
    """Every reference resolves within the document."""
    told = made(
        route("POST", "/", body=Order, query=Wanted, problems=(404, 409, 412, 426, 429, 502, 503, 504)),
        *COMMON.items(),
        (("GET", "/"), describe_page("A page")),
    )
    found = set(references(told))
    assert len(found) > 10
    for reference in found:
        _, components, kind, name = reference.split("/")
        assert name in told[components][kind]


def test_reply_is_conditional():
    """The document has an ETag, and a current copy gets 304."""
    reply = build_document_reply(b'{"openapi":"3.1.0"}')
    assert parsed(reply) == {"openapi": "3.1.0"}
    assert (reply.header("Content-Type"), reply.header("Cache-Control")) == ("application/json", "public, max-age=60")
    again = apply_conditions(get("/openapi.json", {"If-None-Match": reply.header("etag") or ""}), reply)
    assert (again.status, again.body) == (304, None)


def fits(model: type[ReplyModel], value: Any) -> bool:
    return bool(model.model_validate(value).model_dump(by_alias=True, exclude_unset=True) == value)


def test_problems_are_as_described():
    """Real problem replies match the model of problems."""
    assert fits(Problem, parsed(build_problem(404, "Not found", "there is none", instance="/x")))
    fields = [BadField("sources[2].url", "is required")]
    assert fits(Problem, parsed(build_problem(400, "Invalid", "no", instance="/x", fields=fields)))


def test_health_is_as_described():
    """Real health replies match their model."""
    checks = {"A": Check("kv", ok=True, detail="3"), "B": Check("d1", ok=False, error="is not bound")}
    assert fits(Health, parsed(build_health_reply("painter", "1", checks)))
