"""Checks values before they go to JavaScript, and converts values that come from there."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from sluice.core.errors import Invalid, TooLarge
from sluice.core.ports import Scalar

# Pyodide turns an int of 2**53 - 1 or more into a BigInt, which no binding accepts.
MAX_INT: Final = 2**53 - 2
MAX_PARAMS: Final = 100  # of one SQL statement

Item = TypeVar("Item")


def to_plain(value: Any) -> Any:
    """Return the value as plain dict, list and bytes: the SDK returns dict subclasses and memory views."""
    if isinstance(value, dict):
        return {key: to_plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    return bytes(value) if isinstance(value, memoryview) else value


def encode_text(text: str, what: str) -> bytes:
    """Return the text as UTF-8; a lone surrogate raises Invalid, because JavaScript would replace it silently."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"{what} contains a lone surrogate, which UTF-8 cannot express: remove it") from None


def check_int(value: int, where: str) -> None:
    """Raise Invalid for a number that would arrive as a BigInt."""
    if abs(value) > MAX_INT:
        raise Invalid(f"{where} is {value}, beyond ±{MAX_INT}; pass it as text")


def check_parameters(params: Sequence[object]) -> list[Scalar]:
    """Return the parameters as SQL values, or raise Invalid; unchecked, a list arrives as "1,2" and True as "true"."""
    if len(params) > MAX_PARAMS:
        raise Invalid(f"a statement has {len(params)} bound parameters; the limit is {MAX_PARAMS}")
    return [_to_scalar(value, f"parameter {place}") for place, value in enumerate(params, 1)]


def measure_json(value: object, what: str, max_bytes: int) -> int:
    """Return the size of a value as JSON; raise Invalid for what is not JSON and TooLarge above the limit."""
    _check_json(value, what)
    size = len(encode_text(json.dumps(value, ensure_ascii=False, separators=(",", ":")), what))
    if size > max_bytes:
        raise TooLarge(f"{what} is {size} bytes as JSON; the limit is {max_bytes}")
    return size


def split_into_chunks(items: list[Item], size: int) -> Iterator[list[Item]]:
    """Yield the items in lists of at most `size`."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


def _to_scalar(value: object, where: str) -> Scalar:
    match value:
        case bool():
            return int(value)
        case int():
            check_int(value, where)
        case str():
            encode_text(value, where)
        case None | float() | bytes():
            pass
        case _:
            raise Invalid(f"{where} is a {type(value).__name__}; SQL accepts text, numbers, bytes and None")
    return value


def _check_json(value: object, where: str) -> None:
    """Raise Invalid for all but JSON's types: the SDK fails on a tuple or bytearray, and a NaN silently becomes null."""
    match value:
        case None | bool() | str():
            return
        case int():
            check_int(value, where)
        case float():
            if value != value or value in (float("inf"), float("-inf")):  # noqa: PLR0124 - only NaN differs from itself
                raise Invalid(f"{where} is {value}, which JSON cannot express")
        case list():
            for index, item in enumerate(value):
                _check_json(item, f"{where}[{index}]")
        case dict():
            for key, item in value.items():
                if not isinstance(key, str):
                    raise Invalid(f"{where} has a key of type {type(key).__name__}; a key must be text")
                _check_json(item, f"{where}.{key}")
        case _:
            raise Invalid(f"{where} is a {type(value).__name__}, which cannot be sent; use JSON's own types")
