"""JSON text from outside: what is accepted means one thing only, and reading it cannot exhaust the stack."""

import json
import math
import re
from typing import Any, NoReturn

from sluice.core.errors import Invalid

# Far above any configuration; Python's own limit is about 1,000 frames, and less inside WebAssembly.
MAX_DEPTH = 64

# Possessive, and closed by an optional quote: every character is visited once, even in an unfinished string.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(content: bytes) -> Any:
    """The value of a JSON text in UTF-8; anything unclear in it raises Invalid with the reason."""
    text = _decoded(content)
    if not text.strip():
        raise Invalid("the body is empty; JSON is expected")
    _check_depth(text)
    value = _loaded(text)
    if _SURROGATE_ESCAPE.search(text):
        _check_characters(value)
    return value


def _decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"the body is not UTF-8: see byte {error.start}") from None


def _check_depth(text: str) -> None:
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        depth += _STEPS.get(token[0], 0)
        if depth > MAX_DEPTH:
            raise Invalid(f"the body is nested more than {MAX_DEPTH} levels deep")


def _loaded(text: str) -> Any:
    try:
        return json.loads(
            text, object_pairs_hook=_object, parse_float=_finite_float, parse_int=_int, parse_constant=_refuse_constant
        )
    except json.JSONDecodeError as error:
        raise Invalid(f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, member in pairs:
        if name in value:
            raise Invalid(f"the key {_short(name)} appears twice in one object")
        value[name] = member
    return value


def _finite_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Invalid(f"the number {_short(digits)} is too large")
    return value


def _int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python refuses thousands of digits
        raise Invalid(f"the number {_short(digits)} is too large") from None


def _refuse_constant(name: str) -> NoReturn:
    raise Invalid(f"{name} is not a JSON number")


def _check_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Invalid("the body holds half of a surrogate pair, which is no character") from None


def _short(text: str) -> str:
    return json.dumps(text if len(text) <= 40 else text[:40] + "…")
