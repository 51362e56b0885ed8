"""Calls to Durable Objects: what travels, what old and new code make of each other, and what a stranger cannot call."""

import json
from copy import copy
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Literal, NamedTuple, Protocol, TypedDict

import pytest

from sluice.core.errors import BadField, Invalid, NotFound, SluiceError, TooManyRequests, Unavailable
from sluice.core.remote import Message, answer_calls, connect, find_codec


class Colour(Enum):
    RED = "red"


class Point(NamedTuple):
    x: int
    y: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    name: str
    points: tuple[Point, ...] = ()
    colour: Colour | None = None
    picture: bytes = b""
    tags: frozenset[str] = frozenset()
    notes: dict[str, Point] = field(default_factory=dict)


class Drawn(TypedDict):
    count: int


class Canvas(Protocol):
    async def draw(self, shape: Shape, *, times: int = 1, mode: Literal["soft", "hard"] = "soft") -> Shape: ...
    async def count(self, first: list[Shape], second: Shape | None = None) -> Drawn: ...
    async def find(self, name: str) -> Shape | None: ...
    async def clear(self) -> None: ...
    async def _hidden(self) -> None: ...


class Painter:
    """The object's side."""

    secret = "a value is no call"

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def draw(self, shape: Shape, *, times: int = 1, mode: Literal["soft", "hard"] = "soft") -> Shape:
        self.seen.append((shape, times, mode))
        return shape

    async def count(self, first: list[Shape], second: Shape | None = None) -> Drawn:
        self.seen.append((first, second))
        return {"count": len(first) + (second is not None)}

    async def find(self, name: str) -> Shape | None:
        if name == "lost":
            raise Invalid("no", [BadField("name", "is lost")])
        if name == "busy":
            raise TooManyRequests("later", retry_after_s=7)
        return None

    async def clear(self) -> None:
        self.seen.clear()

    async def _hidden(self) -> None:
        self.seen.append("hidden")

    async def undeclared(self) -> None:
        self.seen.append("undeclared")


class Wire:
    """Both sides, with what went between them."""

    def __init__(self) -> None:
        self.painter = Painter()
        self.messages: list[Message] = []
        self.canvas = connect(Canvas, self.send)

    async def send(self, name: str, message: Message) -> Message:
        answer = await answer_calls(Canvas)(self.painter, name, message)
        self.messages += [message, answer]
        return answer


SHAPE = Shape(
    name="ü\udc80",
    points=(Point(1), Point(2, 3)),
    colour=Colour.RED,
    picture=b"\0\xff",
    tags=frozenset({"a", "b"}),
    notes={"end": Point(9, 9)},
)


async def test_values_arrive_as_they_were():
    """Data classes, named tuples, bytes, sets and choices are the same on both sides."""
    wire = Wire()
    assert await wire.canvas.draw(SHAPE, times=2, mode="hard") == SHAPE
    assert wire.painter.seen == [(SHAPE, 2, "hard")]
    assert await wire.canvas.count([SHAPE, SHAPE], SHAPE) == {"count": 3}
    assert await wire.canvas.find("x") is None


async def test_bytes_stand_beside_the_text():
    """What is binary does not go through text; a call without any is one text."""
    wire = Wire()
    await wire.canvas.draw(SHAPE)
    await wire.canvas.clear()
    assert [message[1:] for message in wire.messages[:2]] == [[b"\0\xff"], [b"\0\xff"]]
    assert wire.messages[2:] == ["{}", '{"result":null}']


async def test_defaults_of_a_call():
    """An argument that is not given has the receiver's default."""
    wire = Wire()
    await wire.canvas.draw(Shape(name="a"))
    assert wire.painter.seen == [(Shape(name="a"), 1, "soft")]


async def test_newer_sender():
    """Members and arguments that the receiver does not know are ignored."""
    painter = Painter()
    sent = {"shape": {"name": "a", "points": [{"x": 1, "z": 5}], "weight": 3}, "times": 2, "speed": 9}
    await answer_calls(Canvas)(painter, "draw", json.dumps(sent))
    assert painter.seen == [(Shape(name="a", points=(Point(1),)), 2, "soft")]


async def test_older_sender():
    """Members that the sender did not know get their defaults; one without a default is an error that a retry may mend."""
    painter = Painter()
    await answer_calls(Canvas)(painter, "draw", '{"shape": {"name": "a"}}')
    assert painter.seen == [(Shape(name="a"), 1, "soft")]

    async def send(name: str, _message: Message) -> Message:
        return await answer_calls(Canvas)(painter, name, '{"shape": {"points": []}}')

    with pytest.raises(Unavailable, match="Shape came without name"):
        await connect(Canvas, send).draw(SHAPE)


async def test_missing_argument():
    """A call that lacks an argument is not made."""
    painter = Painter()
    answer = await answer_calls(Canvas)(painter, "draw", '{"times": 2}')
    assert "the call draw came without shape" in str(answer)
    assert painter.seen == []


@pytest.mark.parametrize(("name", "error"), [("lost", Invalid), ("busy", TooManyRequests)])
async def test_errors_are_values(name: str, error: type[SluiceError]):
    """An expected error is raised again as what it was."""
    with pytest.raises(error) as caught:
        await Wire().canvas.find(name)
    assert getattr(caught.value, "retry_after_s", 7) == 7
    assert getattr(caught.value, "fields", (BadField("name", "is lost"),)) == (BadField("name", "is lost"),)


@pytest.mark.parametrize("name", ["_hidden", "__init__", "__class__", "undeclared", "secret", "nothing", ""])
async def test_only_declared_calls(name: str):
    """Nothing but the public methods of the declaration can be called, whatever else the object has."""
    painter = Painter()
    answer = await answer_calls(Canvas)(painter, name, "{}")
    assert "has no call" in str(answer)
    assert painter.seen == []


async def test_misspelt_call():
    """A call that is not declared fails at the caller, before anything is sent."""
    wire = Wire()
    with pytest.raises(NotFound, match="Canvas has no call 'paint'"):
        await wire.canvas.paint()  # type: ignore[attr-defined]
    assert wire.messages == []


@pytest.mark.parametrize(
    "message",
    ['{"shape": null}', '{"shape": [1]}', '{"shape": {"name": "a", "colour": "green"}}', "[]", "{", ["{}", b""]],
)
async def test_another_shape(message: Message):
    """A message of a shape that the receiver does not know is refused with an error that a retry may mend."""
    painter = Painter()
    answer = await answer_calls(Canvas)(painter, "draw", message)
    assert "the other side runs another version" in str(answer)
    assert painter.seen == []

    async def send(_name: str, _message: Message) -> Message:
        return message

    with pytest.raises(Unavailable, match="another version"):
        await connect(Canvas, send).draw(SHAPE)


async def test_wrong_arguments():
    """What mypy would refuse is not sent: too many arguments, one of them twice, handlers of other calls."""
    wire = Wire()
    untyped: Any = wire.canvas
    for arguments, named in [(("x", "y"), {}), (("x",), {"name": "y"})]:
        with pytest.raises(TypeError, match="the call find"):
            await untyped.find(*arguments, **named)
    assert wire.messages == []
    answer_calls(Canvas)(wire, "find", "{}").close()  # type: ignore[arg-type, attr-defined]


def test_the_proxy_is_an_ordinary_object():
    """What Python itself looks for is not taken for a call."""
    canvas = Wire().canvas
    assert not hasattr(canvas, "__len__")
    assert copy(canvas) is not canvas


@pytest.mark.parametrize(
    "hint", [str | Shape, Shape | Point, complex, list[complex], object, dict[int, Shape], tuple[int, Shape]]
)
def test_what_cannot_travel(hint: object):
    """A type that cannot be told apart on the other side is refused when the call is declared, not when it is made."""
    with pytest.raises(TypeError, match="to a Durable Object"):
        find_codec(hint)
