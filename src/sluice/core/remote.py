"""Calls between a Worker and a Durable Object: one class declares them, and both sides are made of it.

    class Counter(Protocol):
        async def add(self, order: Order, *, times: int = 1) -> Total: ...

    counter = connect(Counter, send)                     # the caller's side: `await counter.add(order)`
    await answer_calls(Counter)(handlers, name, message) # the object's side

A call travels as JSON text, with what is binary beside it. Data classes and named tuples arrive as what they were; a TypedDict is
JSON already. Old and new code understand each other: a member that the receiver does not know is ignored, and one that the sender
did not know gets its default. An expected error travels back as a value, and is raised again.
"""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import lru_cache
from types import FunctionType, NoneType, UnionType
from typing import (
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from sluice.core.errors import NotFound, SluiceError, Unavailable
from sluice.core.remote_errors import decode_error, encode_error

Calls = TypeVar("Calls")

# JSON text; or a list of it and of the binary values that it refers to.
Message = str | list[str | bytes]
# Carries the name of a call and its arguments to the object, and brings its message back.
Send = Callable[[str, Message], Awaitable[Message]]

_BINARY: Final = "$bytes"
_OTHER_VERSION: Final = "the other side runs another version; try again in a minute"
# Made once: the request of a visitor may wait for a call.
_write: Final = json.JSONEncoder(separators=(",", ":")).encode
_JSON_TYPES: Final = frozenset({str, int, float, bool, NoneType, Any})


def connect(calls: type[Calls], send: Send) -> Calls:
    """Return the caller's side: each method of `calls` sends its call, and returns what the object answers."""
    return cast("Calls", _Proxy(calls, send))


def answer_calls(calls: type[Calls]) -> Callable[[Calls, str, Message], Awaitable[Message]]:
    """Return the object's side: it makes a call that has arrived, and its result or its error is the answer.

    In two steps, because mypy would find a common type for any handlers and any calls that are named together.
    """

    async def answer(handlers: Calls, name: str, message: Message) -> Message:
        try:
            signature = read_signature(cast("Any", calls), name)
            arguments = signature.decode_arguments(message)
            return signature.encode_result(await getattr(handlers, name)(**arguments))
        except SluiceError as error:
            return json.dumps({"error": encode_error(error)})

    return answer


def has_failed(answer: Message) -> bool:
    """Return whether what an object answers is an error, which `connect` will raise."""
    return "error" in _split(answer)[0]


class _Proxy:
    def __init__(self, calls: type, send: Send) -> None:
        self._calls = calls
        self._send = send

    def __getattr__(self, name: str) -> Callable[..., Awaitable[Any]]:
        if name.startswith("_"):  # what Python itself looks for
            raise AttributeError(name)
        signature = read_signature(self._calls, name)

        async def call(*positional: Any, **named: Any) -> Any:
            return signature.decode_result(await self._send(name, signature.encode_arguments(positional, named)))

        return call


class Codec(NamedTuple):
    """How values of a type become JSON and back; binary values stand beside the JSON."""

    encode: Callable[[Any, list[bytes]], Any]
    decode: Callable[[Any, Sequence[bytes]], Any]


# None is a value that is JSON already.
MaybeCodec = Codec | None


class Signature(NamedTuple):
    """The arguments of a call and its result, with their codecs."""

    name: str
    parameters: Mapping[str, MaybeCodec]
    required: frozenset[str]
    result: MaybeCodec

    def encode_arguments(self, positional: Sequence[Any], named: Mapping[str, Any]) -> Message:
        given = {**dict(zip(self.parameters, positional, strict=False)), **named}
        if len(given) != len(positional) + len(named):
            raise TypeError(f"the call {self.name} has too many arguments, or one of them twice")
        binary: list[bytes] = []
        return _join({name: _encode(self.parameters[name], value, binary) for name, value in given.items()}, binary)

    def decode_arguments(self, message: Message) -> dict[str, Any]:
        with _reading(f"the call {self.name}"):
            sent, binary = _split(message)
            _require(self.required - sent.keys(), f"the call {self.name}")
            return {name: _decode(codec, sent[name], binary) for name, codec in self.parameters.items() if name in sent}

    def encode_result(self, result: Any) -> Message:
        binary: list[bytes] = []
        return _join({"result": _encode(self.result, result, binary)}, binary)

    def decode_result(self, message: Message) -> Any:
        with _reading(f"the answer to {self.name}"):
            sent, binary = _split(message)
            if "error" in sent:
                raise decode_error(sent["error"])
            _require({"result"} - sent.keys(), f"the answer to {self.name}")
            return _decode(self.result, sent["result"], binary)


@lru_cache(maxsize=256)
def read_signature(calls: Any, name: str) -> Signature:
    """Return the signature of a call; raise NotFound unless it is a public method that the class declares."""
    function = None if name.startswith("_") else getattr(calls, name, None)
    if not isinstance(function, FunctionType):
        raise NotFound(f"{calls.__name__} has no call {name!r}")
    code, hints = function.__code__, get_type_hints(function)
    names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    without_default = code.co_argcount - 1 - len(function.__defaults__ or ())
    optional = {*names[without_default : code.co_argcount - 1], *(function.__kwdefaults__ or ())}
    parameters = {each: find_codec(hints[each]) for each in names}
    return Signature(name, parameters, frozenset(names) - optional, find_codec(hints["return"]))


@lru_cache(maxsize=256)
def find_codec(hint: Any) -> MaybeCodec:
    """Return the codec of a type; None if its values are JSON. Raise TypeError for what cannot travel."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in _JSON_TYPES or origin is Literal or is_typeddict(hint):
        return None
    if hint is bytes:
        return Codec(_set_aside, lambda value, binary: binary[value[_BINARY]])
    if origin in (Union, UnionType):
        return _find_optional_codec(hint, arguments)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _refuse_unless(arguments[0] in (str, Any), hint)  # JSON has no other keys
        return _find_mapping_codec(find_codec(arguments[1]))
    if isinstance(origin, type) and issubclass(origin, Iterable):
        _refuse_unless(
            origin is not tuple or arguments[1:] == (...,), hint
        )  # the parts of a pair may differ: a named tuple
        return _find_collection_codec(origin, find_codec(arguments[0]))
    if isinstance(hint, type):
        if issubclass(hint, Enum):
            return Codec(lambda value, _: value.value, lambda value, _: hint(value))
        if is_dataclass(hint):
            return _find_record_codec(hint, [each.name for each in fields(hint) if each.init], _list_optional(hint))
        if issubclass(hint, tuple) and hasattr(hint, "_fields"):
            named: Any = hint
            return _find_record_codec(hint, named._fields, frozenset(named._field_defaults))
    _refuse_unless(False, hint)
    return None


def _refuse_unless(can_travel: bool, hint: object) -> None:
    if not can_travel:
        raise TypeError(f"a value of type {hint} cannot travel to a Durable Object")


def _find_optional_codec(hint: object, arguments: Sequence[Any]) -> MaybeCodec:
    codecs = [codec for codec in map(find_codec, arguments) if codec]
    if not codecs:
        return None
    [codec, *others] = codecs
    if others or set(arguments) - {NoneType} != {next(each for each in arguments if find_codec(each))}:
        raise TypeError(f"nothing tells the kinds of {hint} apart on their way to a Durable Object")
    return Codec(
        lambda value, binary: None if value is None else codec.encode(value, binary),
        lambda value, binary: None if value is None else codec.decode(value, binary),
    )


def _find_mapping_codec(values: MaybeCodec) -> MaybeCodec:
    if values is None:
        return None
    return Codec(
        lambda value, binary: {key: values.encode(item, binary) for key, item in value.items()},
        lambda value, binary: {key: values.decode(item, binary) for key, item in value.items()},
    )


def _find_collection_codec(origin: type, items: MaybeCodec) -> MaybeCodec:
    # An abstract Sequence arrives as a list.
    build = origin if origin in (tuple, set, frozenset) else list
    if items is None and build is list:
        return None
    return Codec(
        lambda value, binary: [_encode(items, item, binary) for item in value],
        lambda value, binary: build(_decode(items, item, binary) for item in value),
    )


def _find_record_codec(kind: type, names: Sequence[str], optional: frozenset[str]) -> Codec:
    hints = get_type_hints(kind)
    members = {name: find_codec(hints[name]) for name in names}
    required = frozenset(names) - optional

    def decode(value: Mapping[str, Any], binary: Sequence[bytes]) -> Any:
        _require(required - value.keys(), kind.__name__)
        return kind(**{name: _decode(codec, value[name], binary) for name, codec in members.items() if name in value})

    def encode(value: Any, binary: list[bytes]) -> dict[str, Any]:
        return {name: _encode(codec, getattr(value, name), binary) for name, codec in members.items()}

    return Codec(encode, decode)


def _list_optional(kind: Any) -> frozenset[str]:
    has_default = (each for each in fields(kind) if each.default is not MISSING or each.default_factory is not MISSING)
    return frozenset(each.name for each in has_default)


def _set_aside(value: bytes, binary: list[bytes]) -> dict[str, int]:
    binary.append(value)
    return {_BINARY: len(binary) - 1}


def _encode(codec: MaybeCodec, value: Any, binary: list[bytes]) -> Any:
    return codec.encode(value, binary) if codec else value


def _decode(codec: MaybeCodec, value: Any, binary: Sequence[bytes]) -> Any:
    return codec.decode(value, binary) if codec else value


def _require(missing: Iterable[str], what: str) -> None:
    if names := sorted(missing):
        raise Unavailable(f"{what} came without {', '.join(names)}: {_OTHER_VERSION}")


@contextmanager
def _reading(what: str) -> Iterator[None]:
    """Turn what a message of another shape raises into the error of another version."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unavailable(f"{what} has another shape: {_OTHER_VERSION}") from error


def _join(value: object, binary: list[bytes]) -> Message:
    text = _write(value)
    return [text, *binary] if binary else text


def _split(message: Message) -> tuple[dict[str, Any], Sequence[bytes]]:
    text, binary = (message, ()) if isinstance(message, str) else (message[0], message[1:])
    value: dict[str, Any] = json.loads(text)
    return value, cast("Sequence[bytes]", binary)
