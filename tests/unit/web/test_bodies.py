"""Bodies: limits first, then models with every bad field named."""

from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from sluice.core.errors import Invalid, TooLarge, UnsupportedMediaType
from sluice.core.models import parse_model
from sluice.web import Headers, Request, read_bytes, read_json
from unit.web.calls import post


class Adblock(BaseModel):
    kind: Literal["adblock"]
    url: str


class Hosts(BaseModel):
    kind: Literal["hosts"]
    url: str = Field(min_length=3)


class Configuration(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    sources: list[Annotated[Adblock | Hosts, Field(discriminator="kind")]] = []
    ratio: int | bool | None = None
    labels: dict[str, int] = {}
    token: str = Field(default="", alias="apiToken", pattern=r"^[a-z]*$")

    @field_validator("name")
    @classmethod
    def _not_reserved(cls, name: str) -> str:
        if name == "all":
            raise ValueError("is reserved")
        return name

    @model_validator(mode="after")
    def _not_both(self) -> "Configuration":
        if self.sources and self.labels:
            raise ValueError("sources and labels exclude each other")
        return self


async def unread(_max_bytes: int) -> bytes:
    raise AssertionError("the body was read")


@pytest.mark.parametrize(("size", "fits"), [(0, True), (10, True), (11, False), (10_000, False)])
async def test_the_limit_is_exact_and_named(size, fits):
    """A body of just the limit is read; one byte more is TooLarge, and the message names the limit."""
    request = post(b"x" * size)
    if fits:
        assert await read_bytes(request, max_bytes=10) == b"x" * size
    else:
        with pytest.raises(TooLarge, match="limit of 10 bytes"):
            await read_bytes(request, max_bytes=10)


async def test_a_declared_length_is_enough_to_refuse():
    """If Content-Length exceeds the limit, the body is not read."""
    request = Request("POST", "https://a.test/", Headers({"Content-Length": "11"}), unread)
    with pytest.raises(TooLarge):
        await read_bytes(request, max_bytes=10)


@pytest.mark.parametrize("length", ["", "-1", "1, 1", "ten", "٣", "9" * 5000])
async def test_a_length_that_is_no_number_is_refused(length):
    """An unreadable Content-Length is the caller's fault, not ours."""
    with pytest.raises(Invalid, match="Content-Length"):
        await read_bytes(post(b"{}", {"Content-Length": length}), max_bytes=10)


@pytest.mark.parametrize(
    "content_type",
    [None, "", "application/json", "Application/JSON; charset=utf-8", "text/json", "application/merge-patch+json"],
)
async def test_json_types_and_none_are_read(content_type):
    """JSON is read under any JSON content type, or without one."""
    headers = {} if content_type is None else {"Content-Type": content_type}
    assert await read_json(post(b'{"a": 1}', headers), max_bytes=100) == {"a": 1}


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json"]
)
async def test_other_types_are_refused_unread(content_type):
    """Another content type is refused before the body is read, and the message says what to send."""
    request = Request("POST", "https://a.test/", Headers({"Content-Type": content_type}), unread)
    with pytest.raises(UnsupportedMediaType, match="application/json"):
        await read_json(request, max_bytes=100)


async def test_a_body_becomes_a_model():
    """A valid body becomes the model, also by its aliases."""
    body = b'{"name": "mine", "sources": [{"kind": "hosts", "url": "abc"}], "apiToken": "x"}'
    configuration = parse_model(Configuration, await read_json(post(body), max_bytes=1000))
    assert configuration == Configuration(name="mine", sources=[Hosts(kind="hosts", url="abc")], apiToken="x")


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ({}, [("name", "is required")]),
        ({"name": 1}, [("name", "should be a valid string")]),
        ({"name": "all"}, [("name", "is reserved")]),
        ({"name": "a", "nmae": "b"}, [("nmae", "is not a known field")]),
        ({"name": "a", "odd key": 1}, [('["odd key"]', "is not a known field")]),
        ({"name": "a", "sources": {}}, [("sources", "should be a valid list")]),
        ({"name": "a", "sources": [{"kind": "hosts"}]}, [("sources[0].url", "is required")]),
        (
            {"name": "a", "sources": [{"kind": "hosts", "url": "abc"}, {"kind": "hosts", "url": "ab"}]},
            [("sources[1].url", "needs at least 3 characters")],
        ),
        ({"name": "a", "sources": [{"url": "x"}]}, [("sources[0]", "needs 'kind'")]),
        (
            {"name": "a", "sources": [{"kind": "hush"}]},
            [("sources[0]", "needs 'kind' to be one of 'adblock', 'hosts'")],
        ),
        (
            {"name": "a", "labels": {"x": "y"}},
            [("labels.x", "should be a valid integer, unable to parse string as an integer")],
        ),
        ({"name": "a", "apiToken": "HUSH"}, [("apiToken", "String should match pattern '^[a-z]*$'")]),
        (
            {"name": "a", "ratio": []},
            [("ratio", "should be a valid integer"), ("ratio", "should be a valid boolean")],
        ),
        (
            {"name": "a", "sources": [{"kind": "hosts", "url": "abc"}], "labels": {"x": 1}},
            [("", "sources and labels exclude each other")],
        ),
        ([], [("", "should be a valid dictionary or instance of Configuration")]),
    ],
)
def test_each_bad_field_is_named(value, fields):
    """Every invalid field has its path in the body and a plain reason, without its value."""
    with pytest.raises(Invalid) as caught:
        parse_model(Configuration, value)
    assert [(field.field, field.reason) for field in caught.value.fields] == fields
    assert "hush" not in str(caught.value).lower()


def test_the_message_names_the_first_fields():
    """The sentence for people names three fields and counts the rest."""
    with pytest.raises(Invalid) as caught:
        parse_model(Configuration, {"a": 1, "b": 2, "c": 3})
    assert str(caught.value) == "name is required; a is not a known field; b is not a known field; and 1 more"
    assert len(caught.value.fields) == 4
