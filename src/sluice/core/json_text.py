"""JSON text: written in one way; read strictly from callers, and leniently but safely from elsewhere.

The stack of WebAssembly is short, and overflowing it does not raise an exception: it ends the isolate. So every reader
checks the nesting first.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from sluice.core.errors import Invalid

# What a JSON text says.
JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]
JsonObject = Mapping[str, JsonValue]

# Far above any real document; Python's own limit is about 1,000 frames, and less inside WebAssembly.
MAX_DEPTH: Final = 64

# Possessive, and closed by an optional quote: every character is visited once, even in an unfinished string.
_STRING_OR_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}
_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")

# They move the cursor, colour or clear a terminal, or turn the direction of what is read after them. A tab does no harm.
_CONTROLS: Final = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def escape_controls(text: str, *, keep: str = "") -> str:
    r"""Return the text as a terminal may show it: a control character becomes its `\uXXXX` escape, which means the same inside JSON."""
    return _CONTROLS.sub(lambda found: found[0] if found[0] in keep else f"\\u{ord(found[0]):04x}", text)


def encode_json(value: object) -> str:
    """Encode as compact JSON text; raise ValueError for NaN, Infinity and cycles."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def encode_utf8(text: str) -> bytes:
    r"""Encode as UTF-8 without failing: a lone surrogate becomes its `\udXXX` escape, which means the same inside JSON."""
    return text.encode("utf-8", "backslashreplace")


def is_too_deep(text: str) -> bool:
    """Return whether arrays and objects are nested more than MAX_DEPTH levels deep; brackets in strings do not count."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return False
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        depth += _STEPS.get(token[0], 0)
        if depth > MAX_DEPTH:
            return True
    return False


def parse_bounded_json(text: str, *, strict: bool = True) -> Any:
    """Parse a JSON text; raise ValueError if it is not JSON or nested too deep.

    Without `strict`, strings may contain control characters.
    """
    if is_too_deep(text):
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return json.loads(text, strict=strict)


def parse_stored_json(text: str | None) -> Any:
    """Parse a stored text; return None if there is none or it is not JSON."""
    try:
        return None if text is None else parse_bounded_json(text)
    except ValueError:
        return None


def parse_json(content: bytes) -> Any:
    """Parse a request body; raise Invalid with the reason unless every parser would read the text the same way."""
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
