"""JSON of others, refused where it is nested so deep that reading it would end the interpreter.

In WebAssembly the stack is short, and what runs out of it is not an exception but the end of the isolate.
"""

import json
import re
from typing import Any, Final

MAX_DEPTH: Final = 64

# Possessive, and closed by an optional quote: every character is visited once, even in an unfinished string.
_STRING_OR_BRACKET: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[\[{]|[\]}]', re.DOTALL)
_STEPS: Final = {"[": 1, "{": 1, "]": -1, "}": -1}


def loads(text: str, *, strict: bool = True) -> Any:
    """The value; ValueError for what is no JSON or nested too deep."""
    if text.count("[") + text.count("{") > MAX_DEPTH:
        depth = 0
        for token in _STRING_OR_BRACKET.finditer(text):
            depth += _STEPS.get(token[0], 0)
            if depth > MAX_DEPTH:
                raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return json.loads(text, strict=strict)


def parsed(text: str | None) -> Any:
    """The value of a stored text; one that is no JSON counts as missing."""
    try:
        return None if text is None else loads(text)
    except ValueError:
        return None
