"""Values on their way between Python and JavaScript: checked before they leave, made plain when they arrive."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, TypeVar

from sluice.core.errors import Invalid, TooLarge

# Pyodide turns an int of 2**53 - 1 and beyond into a BigInt, which no binding takes: the limit itself is out too.
MAX_INT: Final = 2**53 - 2

Item = TypeVar("Item")


def to_plain(value: Any) -> Any:
    """The same value of dict, list and bytes only: the SDK gives dict subclasses and memory views."""
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    return bytes(value) if isinstance(value, memoryview) else value


def encode_text(text: str, what: str) -> bytes:
    """UTF-8 of a text; JavaScript would silently replace a lone surrogate, so it is refused."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{what} holds a lone surrogate and cannot be written as UTF-8") from None


def check_int(value: int, where: str) -> None:
    """Refuse a number that would arrive as a BigInt."""
    if abs(value) > MAX_INT:
        raise Invalid(f"{where} is {value}, beyond ±{MAX_INT}; pass it as text")


def measure_json(value: object, what: str, max_bytes: int) -> int:
    """Bytes of a value as JSON; refuses what cannot cross and what is larger than the limit."""
    _check_crossing(value, what)
    size = len(encode_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")), what))
    if size > max_bytes:
        raise TooLarge(f"{what} is {size} bytes as JSON; the limit is {max_bytes}")
    return size


def split_into_chunks(items: list[Item], size: int) -> Iterator[list[Item]]:
    """The items in runs of at most `size`."""
    rest = iter(items)
    while run := list(islice(rest, size)):
        yield run


def _check_crossing(value: object, where: str) -> None:
    """Only JSON's own types cross: a tuple or bytearray raises in the SDK, a NaN silently becomes null."""
    match value:
        case None | bool() | str():
            return
        case int():
            check_int(value, where)
        case float():
            if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - only NaN differs from itself
                raise Invalid(f"{where} is {value}, which JSON cannot hold")
        case list():
            for index, item in enumerate(value):
                _check_crossing(item, f"{where}[{index}]")
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise Invalid(f"{where} has a key of type {type(key).__name__}; only text can be one")
                _check_crossing(item, f"{where}.{key}")
        case _:
            raise Invalid(f"{where} is a {type(value).__name__}, which cannot be sent; use JSON's own types")
