"""Strict JSON for request bodies: only text that every parser reads the same way is accepted."""

import json
import math
import re
from typing import Any, Final, NoReturn

from sluice.core.bounded_json import MAX_DEPTH, is_too_deep
from sluice.core.errors import Invalid

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def parse_json(content: bytes) -> Any:
    """Parse a JSON text in UTF-8; raises Invalid with the reason for anything ambiguous."""
    text = _decode_utf8(content)
    if not text.strip():
        raise Invalid("the body is empty; JSON is expected")
    if is_too_deep(text):
        raise Invalid(f"the body is nested more than {MAX_DEPTH} levels deep")
    value = _parse_strictly(text)
    if _SURROGATE_ESCAPE.search(text):
        _check_surrogates(value)
    return value


def _decode_utf8(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"the body is not UTF-8: see byte {error.start}") from None


def _parse_strictly(text: str) -> Any:
    try:
        return json.loads(
            text,
            object_pairs_hook=_build_object,
            parse_float=_parse_float,
            parse_int=_parse_int,
            parse_constant=_refuse_constant,
        )
    except json.JSONDecodeError as error:
        raise Invalid(f"the body is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from None


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for name, member in pairs:
        if name in value:
            raise Invalid(f"the key {_abbreviate(name)} appears twice in one object")
        value[name] = member
    return value


def _parse_float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise Invalid(f"the number {_abbreviate(digits)} is too large")
    return value


def _parse_int(digits: str) -> int:
    try:
        return int(digits)
    except ValueError:  # Python refuses to convert thousands of digits
        raise Invalid(f"the number {_abbreviate(digits)} is too large") from None


def _refuse_constant(name: str) -> NoReturn:
    raise Invalid(f"{name} is not a JSON number")


def _check_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise Invalid("the body contains half of a surrogate pair, which is not a character") from None


def _abbreviate(text: str) -> str:
    return json.dumps(text if len(text) <= 40 else text[:40] + "…")
